/**
 * Consent without a person: `--answers FILE`, `--deny-all`, `--deny-warned` and `--allow-rest`. What no rule covers
 * is denied.
 *
 * What it says counts as the user's word. See docs/cli.md for the format.
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
import {
  ConfigReader,
  type Located,
  type ObjectReader,
  type Problem,
  quoted,
} from './reading/config-reader.ts';
import { suggestion } from './reading/nearest.ts';
import { parseJsonFile } from './reading/text-file.ts';

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
  const tree = parseJsonFile(file, text, 'use fewer and broader rules');
  if (!tree.ok) return failed([tree.fault]);
  const reader = new ConfigReader(file, text);
  const rules = reader.root(tree.value).list('an array of rules', (item) => readRule(item, installed));
  return reader.hasErrors ? failed(reader.diagnostics) : ok(rules);
}

type Installed = readonly string[] | null;

function readRule(at: Located, installed: Installed): AnswerRule | null {
  const object = at.object();
  if (object === null) return null;
  const chooseAt = object.get('choose');
  const decisionAt = object.get('decision');
  const match = object.read('match', (inner) => readMatch(inner, installed)) ?? {};
  const decision = object.read('decision', readDecision);
  const fill = object.read('fill', readFill) ?? NO_FILL;
  object.finish();
  if (chooseAt === null ? decisionAt === null : decision === 'deny') return at.reportStart(NO_ANSWER);
  if (chooseAt !== null || decision === 'deny') object.get('fill')?.report(USELESS_FILL);
  if (chooseAt !== null) return readChoice(chooseAt, match, installed, decision ?? 'once');
  if (decision === null) return null;
  const outlives = decision === 'permanent' || typeof decision === 'object';
  if (outlives && match.scope !== undefined && SESSION_AT_MOST.has(match.scope)) {
    decisionAt?.report({
      code: 'ANS002',
      message: `permission for \`${match.scope}\` never outlives its session`,
      help: 'use `once` or `session`',
    });
  }
  if (match.scope === 'delegation' && decision !== 'deny') return at.reportStart(UNREAD);
  return { kind: 'decision', match, decision, ...(fill.size === 0 ? {} : { fill }) };
}

const NO_ANSWER: Problem = {
  code: 'ANS001',
  message: 'a rule has a `decision`, or a `choose` and for how long',
  help: 'write `"decision": "deny"` or `"choose": "APP"`',
};

const UNREAD: Problem = {
  code: 'ANS007',
  message: 'a rule cannot allow what a text asks for: a person has to read it',
  help: 'write `"decision": "deny"`, or leave the rule out',
};

const USELESS_FILL: Problem = {
  code: 'ANS006',
  message: 'only a rule that allows may have `fill`',
  help: 'leave it out, or write `"decision": "once"`',
};

/** A word, or `{"until": "2h"}`. Spans begin with the answer, so only their form is looked at here. */
function readDecision(at: Located): AnswerDecision | null {
  if (at.node.kind !== 'object') return readWord(at, DECISIONS, 'a decision');
  const object = at.object();
  const untilAt = object?.get('until') ?? null;
  object?.finish();
  if (untilAt === null) return at.report({ code: 'ANS004', message: 'no time is named', help: END_HELP });
  const until = untilAt.checked((text) =>
    parseEnd(text, Number.NEGATIVE_INFINITY).ok
      ? null
      : { code: 'ANS004', message: `${quoted(text)} is no time`, help: END_HELP },
  );
  return until === null ? null : { until };
}

const END_HELP = 'write `{"until": "2h"}`, with `90m`, `2h`, `3d`, `1w`, `today` or `2026-12-01T10:00Z`';

function readChoice(
  at: Located,
  match: AnswerMatch,
  installed: Installed,
  decision: AnswerDecision,
): AnswerRule | null {
  const { scope, ...rest } = match;
  if ((scope !== undefined && scope !== 'app-selection') || Object.keys(rest).length > 0)
    return at.report({
      code: 'ANS003',
      message: '`choose` answers which app serves a query, and nothing else can be matched there',
      help: 'match `{"scope": "app-selection"}` or nothing',
    });
  if (at.node.kind === 'null') return { kind: 'choice', choose: null, decision };
  const app = readApp(at, installed);
  return app === null ? null : { kind: 'choice', choose: id(app), decision };
}

/** `{"birth-date": "1990-12-31"}`: kinds of data, each with a value that fits. */
function readFill(at: Located): ReadonlyMap<DataKind, string> {
  const object = at.object();
  const fill = new Map<DataKind, string>();
  for (const kind of DATA_KINDS) {
    const value = object?.read(kind, (inner) => inner.checked((text) => misfitProblem(kind, text))) ?? null;
    if (value !== null) fill.set(kind, value);
  }
  object?.finish();
  return fill;
}

function misfitProblem(kind: DataKind, text: string): Problem | null {
  const misfit = misfitOfData(kind, text);
  return misfit === null ? null : { code: 'ANS006', message: misfit, help: 'write it as the example has it' };
}

function readMatch(at: Located, installed: Installed): AnswerMatch {
  const object = at.object();
  if (object === null) return {};
  const said = <K extends keyof AnswerMatch>(key: K, value: AnswerMatch[K] | null): AnswerMatch =>
    value === null ? {} : { [key]: value };
  const match: AnswerMatch = {
    ...said(
      'scope',
      object.read('scope', (inner) => readWord(inner, PERMISSION_SCOPES, 'a scope')),
    ),
    ...readSide(object, 'from', installed),
    ...readSide(object, 'to', installed),
    ...said('what', object.string('what')),
    ...said('rule', object.string('rule')),
    ...said('expected', object.boolean('expected')),
    ...said('warned', object.boolean('warned')),
    ...said('new', object.boolean('new')),
  };
  object.finish();
  return match;
}

function readSide(object: ObjectReader, key: 'from' | 'to', installed: Installed): AnswerMatch {
  const at = object.get(key);
  if (at?.node.kind === 'null') return { [key]: null };
  const app = at === null ? null : readApp(at, installed);
  return app === null ? {} : { [key]: app };
}

function readApp(at: Located, installed: Installed): string | null {
  return at.checked((name) => {
    if (!NAME_PATTERN.test(name)) {
      const help = 'use the key of the app in `cordon.json`';
      return { code: 'CFG008', message: `${quoted(name)} is no name of an app`, help };
    }
    if (installed === null || installed.includes(name)) return null;
    return {
      code: 'ANS005',
      message: `there is no app ${quoted(name)}, so the rule would never match`,
      help: suggestion(name, installed, '`cordon apps` lists the apps that are installed'),
    };
  });
}

function readWord<W extends string>(at: Located, words: readonly W[], what: string): W | null {
  return at.word(words, (text) => ({
    code: 'ANS004',
    message: `${quoted(text)} is not ${what}`,
    help: suggestion(text, words, `use one of ${words.join(', ')}`),
  }));
}

/** Answers by the first rule that matches; what none matches is left to `rest`. */
export class AnswersConsent implements Consent {
  readonly #rules: readonly AnswerRule[];
  readonly #now: () => number;
  readonly #rest: Consent;

  constructor(rules: readonly AnswerRule[], now: () => number, rest: Consent = NOBODY) {
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
    // Attack: an attacker's line stands among what a text asks for, and nobody has read it.
    if (prompt.subject.scope === 'delegation') return this.#rest.permission(prompt, signal);
    const answer = allowed(longestTerm(rule.decision, prompt.durations, this.#now()));
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

function allowed(term: GrantTerm | null): PermissionAnswer {
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
  const rest = options.waiting ?? asking ?? NOBODY;
  if (!options.denyWarned && !options.allowRest) return rest;
  return byWarning(options.denyWarned ? REFUSING : rest, options.allowRest ? ALLOWING : rest);
}

/** Warned prompts go one way, the others the other way. */
function byWarning(warned: Consent, others: Consent): Consent {
  return {
    permission: (prompt, signal) => (prompt.warnings.length > 0 ? warned : others).permission(prompt, signal),
    choose: (prompt, signal) => others.choose(prompt, signal),
  };
}

/** The user said no beforehand. */
const REFUSING = saysNo('user');

/** No person can be asked. */
export const NOBODY = saysNo('no-answer');

function saysNo(reason: 'user' | 'no-answer'): Consent {
  return Object.freeze({
    permission: async () => ({ allow: false, reason }) as const,
    choose: async () => null,
  });
}

/** Gives the least of what is offered: a script that says yes to all gives no lasting grants. */
const ALLOWING: Consent = Object.freeze({
  permission: async ({ durations }: PermissionPrompt, signal: AbortSignal) =>
    allowed(signal.aborted ? null : shortestTerm(durations)),
  choose: async ({ choices: [first], installs }: ChoicePrompt, signal: AbortSignal) =>
    signal.aborted || first === undefined || installs === true
      ? null
      : ({ app: first, duration: 'once' } as const),
});
