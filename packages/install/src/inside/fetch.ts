/**
 * Runs inside the sandbox of an install step: lets the package manager fetch into a private folder that exists only
 * there, and then writes what came out to standard output. Its reader believes none of it.
 *
 * Imports Node only: it is Cordon's only file in that sandbox.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';

interface Plan {
  /** Programs to run one after the other, each with its arguments. */
  readonly steps: readonly (readonly string[])[];
  /** The folder whose files are the result. */
  readonly tree: string;
  /** Paths in it that are not. */
  readonly without: readonly string[];
  /** Files about the result. */
  readonly reports: readonly string[];
  /** Where a program says more of its requests than to people; null: nowhere. */
  readonly log: string | null;
}

const MOST_REFUSALS = 3;

const plan: Plan = JSON.parse(process.argv[2] ?? '{}');
/** Credentials of the registry, as variables of the package manager. */
const secrets: Readonly<Record<string, string>> = JSON.parse(readFileSync(0, 'utf8'));

for (const [program = '', ...args] of plan.steps) {
  // What it says is for people: standard output carries the result and nothing else.
  const env = { ...process.env, ...secrets };
  const { status, signal, error } = spawnSync(program, args, { env, stdio: ['ignore', 2, 2] });
  if (error !== undefined) process.stderr.write(`${error.message}\n`);
  if (status === 0) continue;
  for (const line of refusalsIn(plan.log)) process.stderr.write(`${line}\n`);
  process.exit(signal === null ? (status ?? 1) : 1);
}
for (const path of plan.reports) if (existsSync(path)) await send('report', path);
await sendFolder(plan.tree, 'tree');
await write(Buffer.from([0, 0, 0, 0]));

/** What a registry refused: `401 Client Error: Unauthorized for url: …`. */
function refusalsIn(log: string | null): readonly string[] {
  if (log === null || !existsSync(log)) return [];
  return (
    readFileSync(log, 'utf8')
      .match(/\b40[13] Client Error.{0,200}/g)
      ?.slice(0, MOST_REFUSALS) ?? []
  );
}

async function sendFolder(folder: string, name: string): Promise<void> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (plan.without.some((left) => path === `${plan.tree}/${left}`)) continue;
    if (entry.isDirectory()) await sendFolder(path, `${name}/${entry.name}`);
    else if (entry.isFile()) await send(`${name}/${entry.name}`, path);
    else fail(`\`${path}\` is a link or no file`);
  }
}

function fail(why: string): never {
  process.stderr.write(`cordon: ${why}\n`);
  process.exit(3);
}

/** The length of the header in four bytes, the header in JSON, the content. */
async function send(name: string, path: string): Promise<void> {
  const { size, mode } = statSync(path);
  const header = Buffer.from(JSON.stringify({ path: name, size, executable: (mode & 0o111) !== 0 }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  await write(Buffer.concat([length, header]));
  if (size === 0) return;
  for await (const chunk of createReadStream(path, { end: size - 1 })) await write(chunk);
}

function write(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve()));
}
