/**
 * The app's memory on disk: one JSON file in the app's private folder, which the host names in the environment
 * variable STATE. One process owns a file; the lock is that the host starts an app once.
 */
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { checkValue } from './check.ts';
import { isJsonObject } from './json.ts';
import { closedObjectSchema, type FromSchema, type ObjectSchema, schemaProblems } from './schema.ts';

export interface State<T> {
  /** What the disk holds now. */
  readonly read: () => T;
  /** Reads, changes, writes; returns what was written. Calls cannot interleave, `change` being synchronous. */
  readonly update: (change: (current: T) => T) => T;
}

export interface StateOptions<S extends ObjectSchema> {
  /** The file's name inside the folder, e.g. `rides.json`. */
  readonly file: string;
  /** What the file holds: checked when it is read and before it is written. */
  readonly schema: S;
  /** Written at the first start; also fills in top-level keys that an older file does not have. */
  readonly initial: FromSchema<S>;
  /** Instead of the folder that STATE names. */
  readonly folder?: string;
}

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const LARGEST_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Opens the state, writing `initial` if there is no file. A write is a new file, flushed to the disk and renamed over
 * the old one: after a crash the file is the old or the new one, whole.
 *
 * Throws if STATE is missing, the file cannot be used, or it holds something else than `schema` admits (it is then
 * left as it is); `read` and `update` throw likewise.
 */
export function openState<const S extends ObjectSchema>(options: StateOptions<S>): State<FromSchema<S>> {
  const folder = options.folder ?? process.env.STATE ?? '';
  if (folder === '') throw new Error('the environment variable STATE must name the folder for the state');
  if (!FILE_NAME.test(options.file)) throw new TypeError(`not a plain file name: ${options.file}`);
  const problems = schemaProblems(options.schema, 'schema');
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  const schema = closedObjectSchema(options.schema);
  const path = join(folder, options.file);

  const decode = (value: unknown): FromSchema<S> => {
    const checked = checkValue<ObjectSchema>(schema, value);
    if (checked.ok) return checked.value as FromSchema<S>;
    throw new Error(`${path} does not hold what it should: ${checked.problems.join('; ')}`);
  };
  const write = (value: unknown): FromSchema<S> => {
    const text = JSON.stringify(decode(value), null, 2);
    if (Buffer.byteLength(text) > LARGEST_FILE_BYTES) throw new Error(`${path} would become too large`);
    replaceFile(folder, options.file, text);
    return decode(JSON.parse(text));
  };
  const read = (): FromSchema<S> => {
    const text = readText(path);
    if (text === null) return write(options.initial);
    const value: unknown = JSON.parse(text);
    return decode(isJsonObject(value) ? { ...toObject(options.initial), ...value } : value);
  };

  mkdirSync(folder, { recursive: true });
  read();
  return Object.freeze({ read, update: (change) => write(change(read())) } satisfies State<FromSchema<S>>);
}

function toObject(value: unknown): object {
  return isJsonObject(value) ? value : {};
}

/** Null if there is no such file. */
function readText(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  if (found.size > LARGEST_FILE_BYTES) throw new Error(`${path} is too large`);
  return readFileSync(path, 'utf8');
}

/** Never half written. What the disk had not taken up when the power failed may be the old state. */
function replaceFile(folder: string, file: string, text: string): void {
  const path = join(folder, file);
  const temporary = join(folder, `.${file}.${process.pid}.tmp`);
  // One may be left of a process that died; O_EXCL then follows no link that something else put there.
  rmIfThere(temporary);
  // O_SYNC and not `fsync`, which Node's permission model refuses whatever is granted.
  const { O_WRONLY, O_CREAT, O_EXCL, O_SYNC } = constants;
  const opened = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_SYNC, 0o600);
  try {
    writeFileSync(opened, text);
  } finally {
    closeSync(opened);
  }
  renameSync(temporary, path);
}

function rmIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
