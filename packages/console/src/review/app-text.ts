/**
 * What an app is and says of itself as texts that a person can read and compare: one for command and manifest, one
 * for its instructions, one for each tool.
 *
 * The user agrees to what is shown by it.
 */
import { canonicalJson, isJsonObject, type Json } from '@cordon/core';
import {
  type AppDescription,
  type DescribedTool,
  INSTRUCTIONS_LENGTH,
  type LeftOut,
  type Reviewed,
} from '@cordon/hub';
import { type DiffLine, diffLines } from '../text/text-diff.ts';

export interface AppPart {
  /** In our own words, and the name of a tool, which is plain. */
  readonly title: string;
  readonly text: string;
}

export interface PartDifference {
  readonly title: string;
  readonly kind: 'new' | 'gone' | 'changed';
  readonly lines: readonly DiffLine[];
}

/** Everything, in the order in which it is shown. `before`: the earlier configuration, if this is compared with one. */
export function appParts(
  configured: Json,
  description: AppDescription,
  before: Json = null,
): readonly AppPart[] {
  return [
    { title: CONFIGURED, text: pretty(withoutDigests(configured, before)) },
    ...instructionsPart(description),
    ...description.tools.map((tool) => ({ title: toolTitle(tool.name), text: toolText(tool) })),
    ...leftOutPart(description),
  ];
}

/** One part, or none. */
export function instructionsPart({ instructions }: AppDescription): readonly AppPart[] {
  return instructions === '' ? [] : [{ title: 'instructions', text: instructions }];
}

/** One part, or none. */
export function leftOutPart({ leftOut = [] }: AppDescription): readonly AppPart[] {
  return leftOut.length === 0
    ? []
    : [{ title: 'left out by Cordon', text: leftOut.map(leftOutText).join('\n') }];
}

/** Words of an app that have no effect, and why. */
export function leftOutText(left: LeftOut): string {
  switch (left.kind) {
    case 'tool':
      return `the tool ${JSON.stringify(left.name)}: its name is not 1 to 128 letters, digits or _ . / : -; nobody can call it`;
    case 'instructions':
      return `the last ${left.characters} characters of its instructions: no model reads more than ${INSTRUCTIONS_LENGTH}`;
  }
}

const CONFIGURED = 'command and manifest';

export function toolTitle(name: string): string {
  return `tool ${name}`;
}

/** The configuration keeps these as digests, because they may be secrets; a digest tells a reader nothing. */
const WITH_SECRETS: readonly string[] = ['env', 'headers'];
const DIGEST = /^sha256:[0-9a-f]{64}$/;

function withoutDigests(configured: Json, before: Json): Json {
  if (!isJsonObject(configured)) return configured;
  return Object.fromEntries(
    Object.entries(configured).map(([key, value]) => {
      const was = isJsonObject(before) ? before[key] : undefined;
      return [key, WITH_SECRETS.includes(key) ? withoutValues(value, was) : value];
    }),
  );
}

function withoutValues(values: Json, before: Json | undefined): Json {
  if (!isJsonObject(values)) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value !== 'string' || !DIGEST.test(value)) return [name, value];
      const was = isJsonObject(before) ? before[name] : undefined;
      const isOther = was !== undefined && was !== value;
      return [name, isOther ? '(a value of its own, another than before)' : '(a value of its own)'];
    }),
  );
}

function toolText({ title, description, input, output, annotations }: DescribedTool): string {
  return [
    ...(title === null ? [] : [`title: ${title}`]),
    ...(description === null ? ['it says nothing of itself'] : [description]),
    `input: ${pretty(input)}`,
    ...(output === null ? [] : [`output: ${pretty(output)}`]),
    ...(annotations === null ? [] : [`annotations: ${pretty(annotations)}`]),
  ].join('\n');
}

/** With the gutter, and the mark of a difference, in a terminal of 80. */
const MOST_COLUMNS = 73;

/** JSON with keys in one order, so that a difference is one of meaning; what fits on a line is on one. */
function pretty(value: Json, indent = '', before = indent.length): string {
  const flat = canonicalJson(value);
  if (before + flat.length <= MOST_COLUMNS || typeof value !== 'object' || value === null) return flat;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((item) => `${inner}${pretty(item, inner)}`)
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([key, item]) => {
          const name = `${inner}${JSON.stringify(key)}: `;
          return `${name}${pretty(item, inner, name.length)}`;
        });
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

/** From what was agreed to, part by part. */
export function reviewDifferences(
  before: Pick<Reviewed, 'configured' | 'description'>,
  after: Pick<Reviewed, 'configured' | 'description'>,
): readonly PartDifference[] {
  return partDifferences(
    appParts(before.configured, before.description),
    appParts(after.configured, after.description, before.configured),
  );
}

/** Part by part; empty where nothing differs. */
function partDifferences(before: readonly AppPart[], after: readonly AppPart[]): readonly PartDifference[] {
  const old = new Map(before.map(({ title, text }) => [title, text]));
  const now = new Map(after.map(({ title, text }) => [title, text]));
  const gone = before
    .filter(({ title }) => !now.has(title))
    .map(({ title, text }): PartDifference => ({ title, kind: 'gone', lines: whole('removed', text) }));
  const differing = after.flatMap(({ title, text }): readonly PartDifference[] => {
    const was = old.get(title);
    if (was === text) return [];
    if (was === undefined) return [{ title, kind: 'new', lines: whole('added', text) }];
    return [{ title, kind: 'changed', lines: diffLines(was, text) }];
  });
  return [...gone, ...differing];
}

function whole(kind: 'removed' | 'added', text: string): readonly DiffLine[] {
  return text.split('\n').map((line) => ({ kind, text: line }));
}
