/**
 * Consent without a person: `--answers FILE`, `--deny-all`, `--deny-warned` and `--allow-rest`. What no rule covers
 * is denied.
 *
 * Ring 0: what it says counts as the user's word. See docs/cli.md for the format.
 */
import {
  type AppId,
  type Choice,
  type ChoicePrompt,
  type Consent,
  DATA_KINDS,
  type DataKind,
  type Diagnostic,
  failed,
  type GrantDuration,
  type GrantTerm,
  id,
  misfitOfData,
  NAME_PATTERN,
  ok,
  PERMISSION_SCOPES,
  type PermissionAnswer,
  type PermissionPrompt,
  type PermissionScope,
  type PromptEdit,
  type Result,
} from '@cordon/core';
import { parseEnd } from './grant-term.ts';
import { ConfigReader, type Located, type ObjectReader, quoted } from './reading/config-reader.ts';
import { LineMap, parseJsonText } from './reading/json-text.ts';
import { suggestion } from './reading/nearest.ts';

/** A key that is absent matches everything; `null` matches the absence of an app. */
export interface AnswerMatch {
  readonly scope?: PermissionScope;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly what?: string;
  readonly rule?: string;
  readonly expected?: boolean;
  /** Whether the prompt carries a warning. */
  readonly warned?: boolean;
  /** Whether a recipient gets data that it was never permitted to get from this source. */
  readonly new?: boolean;
}

/** Until a time that was written down, or for a span from the answer on. */
export interface UntilDecision {
  /** As `parseEnd` reads it. */
  readonly until: string;
}

export type AnswerDecision = Exclude<GrantDuration, 'until'> | UntilDecision | 'deny';

export type AnswerRule =
  | {
      readonly kind: 'decision';
      readonly match: AnswerMatch;
      readonly decision: AnswerDecision;
      /** What is in the fields of a form that are empty; absent: nothing. */
      readonly fill?: ReadonlyMap<DataKind, string>;
    }
  /** Null: none of the apps. */
  | { readonly kind: 'choice'; readonly choose: AppId | null; readonly decision: AnswerDecision };

const DECISIONS = ['once', 'session', 'permanent', 'deny'] as const;
const SESSION_AT_MOST: ReadonlySet<PermissionScope> = new Set(['irreversible-action', 'policy']);

/**
 * Parses an answers file; failure holds every problem. `installed`: ids of the apps there are; a rule for another
 * one would never match, which is a slip. Null: not known here. Never throws.
 */
export function parseAnswers(
  file: string,
  text: string,
  installed: readonly string[] | null = null,
): Result<readonly AnswerRule[], readonly Diagnostic[]> {
  const tree = parseJsonText(text);
  if (!tree.ok) return failed([unreadable(file, text, tree.fault)]);
  const reader = new ConfigReader(file, text);
  const items = reader.items({ node: tree.value, path: '' }, 'an array of rules');
  const rules = items.map((item) => readRule(reader, item, installed));
  if (reader.hasErrors) return failed(reader.diagnostics);
  return ok(rules.filter((rule) => rule !== null));
}

type Installed = readonly string[] | null;
type TextFault = Extract<ReturnType<typeof parseJsonText>, { ok: false }>['fault'];

function unreadable(file: string, text: string, fault: TextFault): Diagnostic {
  const frame = { severity: 'error', file, message: fault.message } as const;
  if (fault.kind === 'limit') return { code: 'CFG002', ...frame, help: 'use fewer and broader rules' };
  const help = 'the file must be JSON; comments and trailing commas are accepted';
  return { code: 'CFG003', ...frame, range: new LineMap(text).range(fault.span), help };
}

function readRule(reader: ConfigReader, at: Located, installed: Installed): AnswerRule | null {
  const object = reader.object(at);
  if (object === null) return null;
  const matchAt = object.get('match');
  const decisionAt = object.get('decision');
  const chooseAt = object.get('choose');
  const fillAt = object.get('fill');
  object.finish();
  const match = matchAt === null ? {} : readMatch(reader, matchAt, installed);
  const decision = decisionAt === null ? null : readDecision(reader, decisionAt);
  const fill = fillAt === null ? NO_FILL : readFill(reader, fillAt);
  const isContradiction = chooseAt !== null && decision === 'deny';
  if (isContradiction || (decisionAt === null && chooseAt === null)) {
    reader.report(
      at.path,
      { start: at.node.span.start, end: at.node.span.start + 1 },
      {
        code: 'ANS001',
        message: 'a rule has a `decision`, or a `choose` and for how long',
        help: `write \`"decision": "deny"\` or \`"choose": "APP"\``,
      },
    );
    return null;
  }
  if (fillAt !== null && (chooseAt !== null || decision === 'deny'))
    reader.reportAt(fillAt, {
      code: 'ANS006',
      message: 'only a rule that allows may have `fill`',
      help: 'leave it out, or write `"decision": "once"`',
    });
  if (chooseAt !== null) return readChoice(reader, chooseAt, match, installed, decision ?? 'once');
  if (decisionAt === null || decision === null) return null;
  const outlives = decision === 'permanent' || typeof decision === 'object';
  if (outlives && match.scope !== undefined && SESSION_AT_MOST.has(match.scope)) {
    reader.reportAt(decisionAt, {
      code: 'ANS002',
      message: `permission for \`${match.scope}\` never outlives its session`,
      help: 'use `once` or `session`',
    });
  }
  return { kind: 'decision', match, decision, ...(fill.size === 0 ? {} : { fill }) };
}

/** A word, or `{"until": "2h"}`. Spans begin with the answer, so only their form is looked at here. */
function readDecision(reader: ConfigReader, at: Located): AnswerDecision | null {
  if (at.node.kind !== 'object') return readWord(reader, at, DECISIONS, 'a decision');
  const object = reader.object(at);
  const untilAt = object?.get('until') ?? null;
  object?.finish();
  const until = untilAt === null ? null : reader.string(untilAt);
  if (untilAt === null || until === null) {
    if (untilAt === null)
      reader.reportAt(at, { code: 'ANS004', message: 'no time is named', help: END_HELP });
    return null;
  }
  const end = parseEnd(until, Number.NEGATIVE_INFINITY);
  if (end.ok) return { until };
  reader.reportAt(untilAt, { code: 'ANS004', message: `${quoted(until)} is no time`, help: END_HELP });
  return null;
}

const END_HELP = 'write `{"until": "2h"}`, with `90m`, `2h`, `3d`, `1w`, `today` or `2026-12-01T10:00Z`';

function readChoice(
  reader: ConfigReader,
  at: Located,
  match: AnswerMatch,
  installed: Installed,
  decision: AnswerDecision,
): AnswerRule | null {
  const { scope, ...rest } = match;
  if ((scope !== undefined && scope !== 'app-selection') || Object.keys(rest).length > 0) {
    reader.reportAt(at, {
      code: 'ANS003',
      message: '`choose` answers which app serves a query, and nothing else can be matched there',
      help: 'match `{"scope": "app-selection"}` or nothing',
    });
    return null;
  }
  if (at.node.kind === 'null') return { kind: 'choice', choose: null, decision };
  const app = readApp(reader, at, installed);
  return app === null ? null : { kind: 'choice', choose: id(app), decision };
}

/** `{"birth-date": "1990-12-31"}`: kinds of data, each with a value that fits. */
function readFill(reader: ConfigReader, at: Located): ReadonlyMap<DataKind, string> {
  const object = reader.object(at);
  const fill = new Map<DataKind, string>();
  for (const kind of object === null ? [] : DATA_KINDS) {
    const valueAt = object?.get(kind) ?? null;
    const value = valueAt === null ? null : reader.string(valueAt);
    if (valueAt === null || value === null) continue;
    const misfit = misfitOfData(kind, value);
    if (misfit === null) fill.set(kind, value);
    else
      reader.reportAt(valueAt, { code: 'ANS006', message: misfit, help: 'write it as the example has it' });
  }
  object?.finish();
  return fill;
}

function readMatch(reader: ConfigReader, at: Located, installed: Installed): AnswerMatch {
  const object = reader.object(at);
  if (object === null) return {};
  const scopeAt = object.get('scope');
  const scope = scopeAt === null ? null : readWord(reader, scopeAt, PERMISSION_SCOPES, 'a scope');
  const match: AnswerMatch = {
    ...(scope === null ? {} : { scope }),
    ...readSide(reader, object, 'from', installed),
    ...readSide(reader, object, 'to', installed),
    ...readText(reader, object, 'what'),
    ...readText(reader, object, 'rule'),
    ...readFlag(reader, object, 'expected'),
    ...readFlag(reader, object, 'warned'),
    ...readFlag(reader, object, 'new'),
  };
  object.finish();
  return match;
}

function readSide(
  reader: ConfigReader,
  object: ObjectReader,
  key: 'from' | 'to',
  installed: Installed,
): AnswerMatch {
  const at = object.get(key);
  if (at === null) return {};
  if (at.node.kind === 'null') return { [key]: null };
  const app = readApp(reader, at, installed);
  return app === null ? {} : { [key]: app };
}

function readApp(reader: ConfigReader, at: Located, installed: Installed): string | null {
  const name = reader.string(at);
  if (name === null) return null;
  if (!NAME_PATTERN.test(name)) {
    const help = 'use the key of the app in `cordon.json`';
    reader.reportAt(at, { code: 'CFG008', message: `${quoted(name)} is no name of an app`, help });
    return null;
  }
  if (installed === null || installed.includes(name)) return name;
  reader.reportAt(at, {
    code: 'ANS005',
    message: `there is no app ${quoted(name)}, so the rule would never match`,
    help: suggestion(name, installed, '`cordon apps` lists the apps that are installed'),
  });
  return null;
}

function readText(reader: ConfigReader, object: ObjectReader, key: 'what' | 'rule'): AnswerMatch {
  const at = object.get(key);
  const text = at === null ? null : reader.string(at);
  return text === null ? {} : { [key]: text };
}

function readFlag(
  reader: ConfigReader,
  object: ObjectReader,
  key: 'expected' | 'warned' | 'new',
): AnswerMatch {
  const at = object.get(key);
  const flag = at === null ? null : reader.boolean(at);
  return flag === null ? {} : { [key]: flag };
}

function readWord<W extends string>(
  reader: ConfigReader,
  at: Located,
  words: readonly W[],
  what: string,
): W | null {
  const text = reader.string(at);
  if (text === null) return null;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  reader.reportAt(at, {
    code: 'ANS004',
    message: `${quoted(text)} is not ${what}`,
    help: suggestion(text, words, `use one of ${words.join(', ')}`),
  });
  return null;
}

/** Answers by the first rule that matches; what none matches is left to `rest`. */
export class AnswersConsent implements Consent {
  readonly #rules: readonly AnswerRule[];
  readonly #now: () => number;
  readonly #rest: Consent;

  constructor(rules: readonly AnswerRule[], now: () => number, rest: Consent = ABSENT) {
    this.#rules = rules;
    this.#now = now;
    this.#rest = rest;
  }

  async permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const rule = this.#rules.find(
      (candidate) => candidate.kind === 'decision' && covers(candidate.match, prompt),
    );
    if (signal.aborted) return { allow: false, reason: 'no-answer' };
    if (rule?.kind !== 'decision') return this.#rest.permission(prompt, signal);
    if (rule.decision === 'deny') return { allow: false, reason: 'user' };
    const answer = allowFor(rule.decision, prompt.durations, this.#now());
    const edits = editsOf(prompt, rule.fill ?? NO_FILL);
    return answer.allow && edits.length > 0 ? { ...answer, edits } : answer;
  }

  /** A rule whose app is not offered does not match. */
  async choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<Choice | null> {
    if (signal.aborted) return null;
    // A rule was written about apps that are installed: nothing is fetched for it.
    if (prompt.installs === true) return this.#rest.choose(prompt, signal);
    for (const rule of this.#rules) {
      if (rule.kind !== 'choice' || rule.decision === 'deny') continue;
      if (rule.choose === null) return null;
      if (!prompt.choices.includes(rule.choose)) continue;
      const term = longestTerm(rule.decision, ALL_DURATIONS, this.#now());
      return term === null ? null : { app: rule.choose, ...term };
    }
    return this.#rest.choose(prompt, signal);
  }
}

const NO_FILL: ReadonlyMap<DataKind, string> = new Map();

/** What the user stated counts before what the file says. */
function editsOf({ data }: PermissionPrompt, fill: ReadonlyMap<DataKind, string>): readonly PromptEdit[] {
  return data.flatMap(({ name, value, field }) => {
    const typed = field === undefined || value !== '' ? undefined : fill.get(field);
    return typed === undefined ? [] : [{ name, value: typed }];
  });
}

function covers(match: AnswerMatch, prompt: PermissionPrompt): boolean {
  const { subject } = prompt;
  return (
    (match.scope === undefined || match.scope === subject.scope) &&
    (match.from === undefined || match.from === subject.from) &&
    (match.to === undefined || match.to === subject.to) &&
    (match.what === undefined || match.what === subject.what) &&
    (match.rule === undefined || prompt.rules.includes(match.rule)) &&
    (match.expected === undefined || match.expected === prompt.expected) &&
    (match.warned === undefined || match.warned === prompt.warnings.length > 0) &&
    (match.new === undefined || match.new === prompt.newRecipients.length > 0)
  );
}

const ALL_DURATIONS: readonly GrantDuration[] = ['once', 'session', 'until', 'permanent'];

function allowFor(
  decision: Exclude<AnswerDecision, 'deny'>,
  durations: readonly GrantDuration[],
  now: number,
): PermissionAnswer {
  const term = longestTerm(decision, durations, now);
  return term === null ? { allow: false, reason: 'no-answer' } : { allow: true, ...term };
}

/**
 * As long as the rule says, or shorter where that is not offered; never longer. A session may outlast the hour that a rule
 * names, so what cannot be permitted until a time is permitted once. Null: the time is over.
 */
function longestTerm(
  decision: Exclude<AnswerDecision, 'deny'>,
  durations: readonly GrantDuration[],
  now: number,
): GrantTerm | null {
  if (typeof decision === 'object') {
    const end = parseEnd(decision.until, now);
    if (!end.ok) return null;
    return durations.includes('until') ? { duration: 'until', until: end.value } : shortestTerm(durations);
  }
  if (decision === 'permanent' && durations.includes('permanent')) return { duration: 'permanent' };
  if (decision !== 'once' && durations.includes('session')) return { duration: 'session' };
  return shortestTerm(durations);
}

function shortestTerm(durations: readonly GrantDuration[]): GrantTerm | null {
  return durations.includes('once') ? { duration: 'once' } : null;
}

export interface AnswerOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly rules: readonly AnswerRule[] | null;
  readonly denyAll: boolean;
  readonly denyWarned: boolean;
  readonly allowRest: boolean;
  /** Who is asked what no rule covers. */
  readonly waiting?: Consent;
}

/**
 * The consent that the options ask for. `asking` is the terminal, or null if there is none.
 *
 * - `denyAll`: no to everything.
 * - `rules`: the file decides; what it does not cover is denied, whatever the other options say.
 * - `denyWarned`: prompts with a warning are denied, the rest is asked.
 * - `allowRest`: prompts without a warning are allowed once, a choice takes the first app, the rest is asked; with
 *   `denyWarned` nothing is left to ask.
 */
export function consentFrom(options: AnswerOptions, asking: Consent | null): Consent {
  if (options.denyAll) return REFUSING;
  if (options.rules !== null) return new AnswersConsent(options.rules, options.now, options.waiting);
  const rest = options.waiting ?? asking ?? ABSENT;
  if (!options.denyWarned && !options.allowRest) return rest;
  return new WarnedConsent(options.denyWarned ? REFUSING : rest, options.allowRest ? ALLOWING : rest);
}

/** Warned prompts go one way, the others the other way. */
class WarnedConsent implements Consent {
  readonly #warned: Consent;
  readonly #others: Consent;

  constructor(warned: Consent, others: Consent) {
    this.#warned = warned;
    this.#others = others;
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    return (prompt.warnings.length > 0 ? this.#warned : this.#others).permission(prompt, signal);
  }

  choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<Choice | null> {
    return this.#others.choose(prompt, signal);
  }
}

/** The user said no beforehand. */
const REFUSING: Consent = Object.freeze({
  permission: async () => ({ allow: false, reason: 'user' }) as const,
  choose: async () => null,
});

/** No person can be asked. */
const ABSENT: Consent = Object.freeze({
  permission: async () => ({ allow: false, reason: 'no-answer' }) as const,
  choose: async () => null,
});

const ALLOWING: Consent = Object.freeze({
  permission: async (prompt: PermissionPrompt, signal: AbortSignal) =>
    signal.aborted ? ({ allow: false, reason: 'no-answer' } as const) : allowShortest(prompt),
  choose: async ({ choices: [first], installs }: ChoicePrompt, signal: AbortSignal) =>
    signal.aborted || first === undefined || installs === true
      ? null
      : ({ app: first, duration: 'once' } as const),
});

/** Least of what is offered: a script that says yes to all gives no lasting grants. */
function allowShortest(prompt: PermissionPrompt): PermissionAnswer {
  const term = shortestTerm(prompt.durations);
  return term === null ? { allow: false, reason: 'no-answer' } : { allow: true, ...term };
}
