/**
 * What a reviewer has to know of an app, as values: what it may do, and its tools by what can be undone, each in one line. The
 * terminal draws it and `--json` prints it, so both say the same.
 *
 * Attack: an app's words look like a label or a heading of Cordon. So each value is either Cordon's or the app's, and whoever
 * shows it keeps them apart.
 */
import { canonicalJson, type InstalledApp, isJsonObject, type Label } from '@cordon/core';
import {
  type AppDescription,
  type AppTool,
  appTools,
  calledLabels,
  type DescribedTool,
  isIrreversible,
  outputLabel,
  type Review,
  toldBy,
} from '@cordon/hub';

/** What a call does, as the hub treats it: whether it asks first. */
export type Effect = 'irreversible' | 'undoable' | 'reads';

/** What the user's files say in favour of a tool. `asks less`: no question if the query names everybody whom it tells, and all that it says. Without them, its arguments reach others, and its output is private and untrusted. */
export const LABELS = ['asks less', 'stays here', 'trusted', 'public'] as const;
export type GoodLabel = (typeof LABELS)[number];

export interface ToolLine {
  /** Of the app; without blanks. */
  readonly name: string;
  readonly effect: Effect;
  /** The app itself says that it destroys something. */
  readonly destroys: boolean;
  readonly labels: readonly GoodLabel[];
  /** Of the app: what the tool does. Empty: it says nothing. */
  readonly words: string;
}

/** A tool that was not there, is no longer there, or says something else. */
export interface ToolChange {
  readonly kind: 'new' | 'gone' | 'changed';
  readonly tool: ToolLine;
  /** Its effect before, if that was another one. */
  readonly before: Effect | null;
}

/** Cordon's word for it, and what the configuration says. */
export interface Right {
  readonly name: string;
  readonly value: string;
}

export interface Overview {
  /** Where the app comes from, in Cordon's words. */
  readonly source: string;
  readonly rights: readonly Right[];
  /** The most dangerous first. */
  readonly tools: readonly ToolLine[];
  /** Null: the app is new. */
  readonly changes: readonly ToolChange[] | null;
}

export function overviewOf({ app, description, before }: Review): Overview {
  const tools = toolLines(app, description);
  return {
    source: sourceOf(app),
    rights: rightsOf(app),
    tools,
    changes: before === null ? null : toolChanges(app, before.description, description),
  };
}

/** From one description to another, under the manifest of today. */
export function toolChanges(
  app: InstalledApp,
  before: AppDescription,
  after: AppDescription,
): readonly ToolChange[] {
  const [old, now] = [said(before), said(after)];
  const were = new Map(toolLines(app, before).map((line) => [line.name, line]));
  const are = toolLines(app, after);
  const names = new Set(are.map(({ name }) => name));
  const changes = are.flatMap((tool): readonly ToolChange[] => {
    const was = were.get(tool.name);
    if (was === undefined) return [{ kind: 'new', tool, before: null }];
    if (old.get(tool.name) === now.get(tool.name)) return [];
    return [{ kind: 'changed', tool, before: was.effect === tool.effect ? null : was.effect }];
  });
  const gone = [...were.values()].filter(({ name }) => !names.has(name));
  return [...changes, ...gone.map((tool): ToolChange => ({ kind: 'gone', tool, before: null }))].sort(
    (a, b) => ORDER.indexOf(a.tool.effect) - ORDER.indexOf(b.tool.effect),
  );
}

function said({ tools }: AppDescription): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, canonicalJson({ ...tool })]));
}

const ORDER: readonly Effect[] = ['irreversible', 'undoable', 'reads'];

function toolLines(app: InstalledApp, description: AppDescription): readonly ToolLine[] {
  const all = appTools(description);
  const ranks = new Map(all.map((tool) => [tool.name, rankOf(tool)]));
  const rank = ({ name }: ToolLine) => ranks.get(name) ?? 0;
  const lines = all.map((tool, index): ToolLine => {
    const labels = calledLabels(app.manifest, tool);
    const effect = isIrreversible(app.manifest, tool)
      ? 'irreversible'
      : labels.readOnly || tool.readOnlyHint
        ? 'reads'
        : 'undoable';
    return {
      name: tool.name,
      effect,
      destroys: tool.destructiveHint,
      labels: [
        ...(effect === 'irreversible' && toldBy(app.manifest, tool) !== null ? (['asks less'] as const) : []),
        ...goodLabels(labels.mayLeave ?? labels.outward, outputLabel(app, tool.name, NOTHING)),
      ],
      words: wordsOf(description.tools[index]),
    };
  });
  return lines.sort(
    (a, b) =>
      ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect) || rank(a) - rank(b) || (a.name < b.name ? -1 : 1),
  );
}

/** Names of arguments that say whom a call reaches. */
const REACHES =
  /^(?:to|b?cc|recipients?|receiver|payee|iban|participants|attendees|guests|members?|channel(?:_id)?|share_?with|url|webhook)$/i;

/** The lower, the earlier in its group: what destroys, what reaches others, anything else, what only looks by its words. */
function rankOf({ destructiveHint, looksByWords, input }: AppTool): number {
  if (destructiveHint) return 0;
  if (looksByWords) return 3;
  const names = isJsonObject(input.properties) ? Object.keys(input.properties) : [];
  return names.some((name) => REACHES.test(name)) ? 1 : 2;
}

const NOTHING: Label = { integrity: 'trusted', confidentiality: 'public' };

function goodLabels(mayLeave: boolean, output: Label): readonly GoodLabel[] {
  return [
    ...(mayLeave ? [] : (['stays here'] as const)),
    ...(output.integrity === 'trusted' ? (['trusted'] as const) : []),
    ...(output.confidentiality === 'public' ? (['public'] as const) : []),
  ];
}

/** Characters of a description that a line may need. */
const MOST_WORDS = 2_000;

/** Each run of blanks becomes one space, so that none pushes what follows out of the line. */
function wordsOf(tool: DescribedTool | undefined): string {
  const words = (tool?.description ?? tool?.title ?? '').replace(/[ \t\r\n]+/g, ' ').trim();
  return words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS).trimEnd()}…` : words;
}

export function sourceOf({ source }: InstalledApp): string {
  switch (source.kind) {
    case 'command':
      return `runs ${[source.command, ...source.args].join(' ')}`;
    case 'url':
      return `is at ${source.url}`;
    case 'instructions':
      return 'is a text';
    default:
      source satisfies never;
      return '';
  }
}

function rightsOf({ source, manifest }: InstalledApp): readonly Right[] {
  const { network, credentials, files, node, unixSockets } = manifest;
  const uses = credentials.map(({ name, hosts }) => `${name} (at ${hosts.join(', ')})`);
  const right = (name: string, values: readonly string[]): readonly Right[] =>
    values.length === 0 ? [] : [{ name, value: values.join(', ') }];
  return [
    ...(source.kind === 'command' ? right('gets', Object.keys(source.env)) : []),
    ...(source.kind === 'url' ? right('headers', Object.keys(source.headers)) : []),
    ...(source.kind === 'command' ? right('hosts', network.length === 0 ? ['none'] : network) : []),
    ...right('secrets', uses),
    ...right('reads', files.read),
    ...right('writes', files.write),
    ...right('allows', [...node, ...(unixSockets === true ? ['Unix sockets'] : [])]),
  ];
}
