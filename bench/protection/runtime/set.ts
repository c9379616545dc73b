/**
 * The sets of pairs that are played: those of the repository, those that `--data` has, or a file of somebody else's.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readLabelFile } from '@cordon/config/labels';
import {
  type Fault,
  failed,
  fault,
  type Json,
  ok,
  parseJson,
  type Result,
  type ToolLabelEntry,
} from '@cordon/core';
import { dataFile, readData, textIn } from '../../data.ts';
import type { BenchRequest, DataFile } from '../../evaluation/suite.ts';
import { Catalogue } from './pairs/catalogue.ts';
import { type Pair, readPair } from './pairs/pair.ts';
import type { Kind } from './record.ts';

export interface PairSet {
  /** Its row in the tables. */
  readonly row: string;
  readonly pairs: readonly NamedPair[];
  /** Whether some of its attacks are played with their texts rewritten, too. */
  readonly isAdapted: boolean;
  /** The row of its thefts from the memory of the system; null: they are not played. */
  readonly memoryRow: string | null;
  readonly catalogue: Catalogue;
  /** By suite; none are said of one that is missing. */
  readonly labels: ReadonlyMap<string, readonly ToolLabelEntry[]>;
}

export interface NamedPair {
  readonly pair: Pair;
  readonly kind: Kind;
}

export interface ReadSets {
  readonly sets: readonly PairSet[];
  readonly data: readonly DataFile[];
  readonly notices: readonly string[];
}

/** Larger than the limits of a line of the protocol, since these files are the user's own. */
const DOCUMENT_LIMITS = { length: 64 * 1024 * 1024, depth: 100, elements: 5_000_000 };

export async function readSets(request: BenchRequest): Promise<Result<ReadSets, Fault>> {
  return request.pairs === null ? ownSets(request) : foreignSets(request, request.pairs);
}

interface OwnSet {
  readonly row: string;
  readonly folder: string;
  readonly files: readonly string[];
  /** Describes the tools. */
  readonly tools: string;
}

const OWN_SETS: readonly OwnSet[] = [
  {
    row: 'AgentDojo',
    folder: 'scripted/agentdojo',
    files: ['obedient_attack.jsonl', 'obedient_benign.jsonl', 'obedient_direct.jsonl'],
    tools: 'suites.json',
  },
  ...['base', 'enhanced'].map((setting) => ({
    row: `InjecAgent, ${setting}`,
    folder: 'scripted/injecagent',
    files: [`cases_dh_${setting}.jsonl`, `cases_ds_${setting}.jsonl`],
    tools: 'tools_jsonschema.json',
  })),
];

/** The row whose attacks are rewritten, too. */
const ADAPTED = 'AgentDojo';
/** Sets whose thefts are played from the memory of the system, too, and the row of those. */
const REMEMBERED: ReadonlyMap<string, string> = new Map([
  ['InjecAgent, base', 'InjecAgent, system memory'],
  ['InjecAgent, enhanced', 'InjecAgent, system memory, enhanced'],
]);
const LABEL_FOLDER = join(import.meta.dirname, '..', 'labels');

/** What is missing is left out and told. */
function ownSets({ data: folder, labels }: BenchRequest): Result<ReadSets, Fault> {
  const files = new Map<string, DataFile>();
  const notices = new Set<string>();
  const text = (name: string): string | null => {
    const read = readData(name, folder);
    if (read.ok) files.set(name, read.value.file);
    else notices.add(`${read.fault.message}${read.fault.help === undefined ? '' : `: ${read.fault.help}`}`);
    return read.ok ? read.value.text : null;
  };
  const sets: PairSet[] = [];
  for (const own of OWN_SETS) {
    const texts = own.files.map((name) => text(`${own.folder}/${name}`));
    const { pairs } = readLines(texts.flatMap((read) => read?.split('\n') ?? []));
    if (pairs.length === 0) continue;
    const set = setOf(own.row, pairs, [text(`${own.folder}/${own.tools}`)], labels ?? LABEL_FOLDER);
    if (!set.ok) return set;
    sets.push(set.value);
  }
  return ok({ sets, data: [...files.values()], notices: [...notices] });
}

/** A file of pairs; `suites.json` or `tools_jsonschema.json` beside it describe the tools, if they are there. */
async function foreignSets({ labels }: BenchRequest, path: string): Promise<Result<ReadSets, Fault>> {
  const text = readText(path);
  if (text === null) return failed(fault('usage', `${path} cannot be read`));
  const { pairs, problems } = readLines(text.split('\n'));
  if (pairs.length === 0) {
    const help =
      'each line is a JSON object: `messages` and `call_origin`, a recorded trace, or `user_instruction` and `calls`';
    return failed(
      fault('usage', `${path} holds no pair${problems[0] === undefined ? '' : `: ${problems[0]}`}`, help),
    );
  }
  const documents = ['suites.json', 'tools_jsonschema.json'].flatMap((name) =>
    [name, `${name}.br`].map((one) => readText(join(dirname(path), one))),
  );
  const told = problems.slice(0, MOST_PROBLEMS).map((problem) => `${basename(path)}, ${problem}`);
  const more = problems.length - told.length;
  const set = setOf(basename(path), pairs, documents, labels);
  if (!set.ok) return set;
  return ok({
    sets: [set.value],
    data: [await dataFile(path, basename(path))],
    notices: [
      ...told,
      ...(more > 0 ? [`${more} more lines of ${basename(path)} cannot be read`] : []),
      ...(problems.length > 0
        ? [`${problems.length} lines were left out, ${pairs.length} are evaluated`]
        : []),
    ],
  });
}

const MOST_PROBLEMS = 20;

function setOf(
  row: string,
  pairs: readonly Pair[],
  texts: readonly (string | null)[],
  labelPath: string | null,
): Result<PairSet, Fault> {
  const documents = texts.flatMap((text): Json[] => {
    const parsed = text === null ? null : parseJson(text, DOCUMENT_LIMITS);
    return parsed?.ok ? [parsed.value] : [];
  });
  const labels = labelsOf(pairs, labelPath);
  if (!labels.ok) return labels;
  const named = pairs.map((pair) => ({ pair, kind: kindOf(pair) }));
  const catalogue = new Catalogue(pairs, documents);
  const memoryRow = REMEMBERED.get(row) ?? null;
  return ok({
    row,
    pairs: named,
    isAdapted: row === ADAPTED,
    memoryRow,
    catalogue,
    labels: labels.value,
  });
}

function kindOf({ attack, isDirect }: Pair): Kind {
  if (attack !== '') return 'attack';
  return isDirect ? 'direct' : 'benign';
}

function readLines(lines: readonly string[]): {
  readonly pairs: readonly Pair[];
  /** `line 7: …`, of each line that is none. */
  readonly problems: readonly string[];
} {
  const pairs: Pair[] = [];
  const problems: string[] = [];
  const taken = new Set<string>();
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const read = readPair(line);
    if (!read.ok) problems.push(`line ${index + 1}: ${read.fault}`);
    else {
      // Two of one name are two pairs.
      const { id } = read.value;
      pairs.push(id === '' || taken.has(id) ? { ...read.value, id: `${id}#${index + 1}` } : read.value);
      taken.add(id);
    }
  }
  return { pairs, problems };
}

/** Null: it is not there, too large, or cannot be decompressed. */
function readText(path: string): string | null {
  if (!existsSync(path)) return null;
  try {
    return textIn(path, readFileSync(path));
  } catch {
    return null;
  }
}

/**
 * What is said of the tools of each suite: by one file for all of them, or by a folder with one file for each. A suite of
 * which nothing is said has the strict defaults; so have all where no path is given.
 */
function labelsOf(
  pairs: readonly Pair[],
  path: string | null,
): Result<ReadonlyMap<string, readonly ToolLabelEntry[]>, Fault> {
  const suites = new Map(path === null ? [] : pairs.map(({ suite }) => [suite, labelFile(path, suite)]));
  const entries = new Map<string, readonly ToolLabelEntry[]>();
  for (const [suite, file] of suites) {
    if (!existsSync(file)) continue;
    const read = readLabelFile(file);
    if (!read.ok) return failed(fault('usage', `${file}: ${read.fault[0]?.message ?? 'it cannot be read'}`));
    entries.set(suite, read.value);
  }
  return ok(entries);
}

function labelFile(path: string, suite: string): string {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true;
  return isFile ? path : join(path, `${suite.split(' ')[0]}.labels.json`);
}

/** By the digest of their names: a sample is the same at each time, and has a bit of everything. */
export function inSampleOrder<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  return items.toSorted((a, b) => (digest(nameOf(a)) < digest(nameOf(b)) ? -1 : 1));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
