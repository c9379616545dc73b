/** Three kinds of user, who are asked the real questions. None knows what an attack is. */

import { textOfDrawing, wholeDrawing } from '@cordon/console';
import {
  type Choice,
  type ChoicePrompt,
  type Consent,
  canonicalJson,
  isJsonObject,
  type Json,
  type PermissionAnswer,
  type PermissionPrompt,
  type PermissionSubject,
  type PromptDatum,
  parseJson,
} from '@cordon/core';
import type { UserKind } from './column.ts';
import { namedInFirstLines } from './decisive.ts';
import type { Pair, PairCall } from './pairs/pair.ts';
import type { Asker, RecordedQuestion } from './record.ts';
export class SimulatedUser implements Consent {
  readonly questions: RecordedQuestion[] = [];
  readonly #kind: UserKind;
  readonly #pair: Pair;
  readonly #appOf: (call: PairCall) => string;
  readonly #isExact: boolean;

  /** @param isExact the own task's calls are known by their arguments; else by their tool, where the attacker wants another one */
  constructor(kind: UserKind, pair: Pair, appOf: (call: PairCall) => string, isExact: boolean) {
    this.#kind = kind;
    this.#pair = pair;
    this.#appOf = appOf;
    this.#isExact = isExact;
  }

  async permission(prompt: PermissionPrompt): Promise<PermissionAnswer> {
    const isAllowed = this.#allows(prompt);
    const { subject, warnings, rules } = prompt;
    const what = toolShown(prompt) ?? subject.what;
    this.questions.push({
      asker: this.#askerOf(prompt, what),
      scope: subject.scope,
      what,
      isWarned: warnings.length > 0,
      isAllowed,
      rules,
      named: namedInFirstLines(prompt),
    });
    if (this.#kind === 'absent') return { allow: false, reason: 'no-answer' };
    const shown = textOfDrawing(wholeDrawing(prompt, WIDTH));
    return isAllowed ? { allow: true, duration: 'once', shown } : { allow: false, reason: 'user', shown };
  }

  async choose({ choices }: ChoicePrompt): Promise<Choice | null> {
    const app = this.#kind === 'careful' ? choices.find((one) => this.#isOwn(one)) : choices[0];
    const isAllowed = this.#kind !== 'absent' && app !== undefined;
    const what = choices.join(' ');
    this.questions.push({
      asker: 'other',
      scope: 'app-selection',
      what,
      isWarned: false,
      isAllowed,
      rules: [],
      named: null,
    });
    return isAllowed ? { app, duration: 'once' } : null;
  }

  #allows(prompt: PermissionPrompt): boolean {
    if (this.#kind === 'absent') return false;
    // Its warning says to read the lines.
    if (prompt.subject.scope === 'delegation') return this.#kind === 'careful' && this.#isWanted(prompt);
    if (prompt.warnings.length > 0) return false;
    return this.#kind === 'trusting' || this.#isWanted(prompt);
  }

  /** What is shown is a call of the own task, or comes from an app of it where no call is shown. */
  #isWanted({ subject, data }: PermissionPrompt): boolean {
    const own = this.#pair.calls.filter(({ origin }) => origin === 'user');
    const tool = toolShown({ subject, data });
    const shows = (call: PairCall) =>
      (tool === null || tool === call.tool) &&
      (data.some(({ value }) => value.includes(canonicalJson(call.arguments))) ||
        (!this.#isExact && (tool ?? subject.what) === call.tool && !this.#isAttackersTool(call.tool)));
    switch (subject.scope) {
      case 'irreversible-action':
      case 'exchange':
      case 'policy':
        return own.some((call) => (subject.to === null || subject.to === this.#appOf(call)) && shows(call));
      case 'delegation':
        return callsShown(subject, data).every((shown) => own.some((call) => isPartOf(shown, call)));
      case 'app-selection':
      case 'response':
      case 'data-release':
      case 'egress':
        return [subject.from, subject.to].every((app) => app === null || this.#isOwn(app));
      default:
        subject.scope satisfies never;
        return false;
    }
  }

  #askerOf(prompt: PermissionPrompt, tool: string): Asker {
    if (this.#isWanted(prompt)) return 'task';
    return this.#isAttackersTool(tool) ? 'attacker' : 'other';
  }

  #isAttackersTool(tool: string): boolean {
    return this.#pair.calls.some((call) => call.origin === 'injection' && call.tool === tool);
  }

  #isOwn(app: string): boolean {
    return this.#pair.calls.some((call) => call.origin === 'user' && this.#appOf(call) === app);
  }
}

/** The calls of a question about what a text asks for: all that it lists, or the single one. */
function callsShown(
  { what }: PermissionSubject,
  [shown]: readonly PromptDatum[],
): readonly (readonly [string, Json])[] {
  const parsed = parseJson(shown?.value ?? '');
  const value = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  if (shown?.name !== 'calls') return [[what, value]];
  return Object.entries(value).map(([name, args]) => [name.replace(/^\d+ /, ''), args]);
}

/** A text may leave arguments open. */
function isPartOf([tool, args]: readonly [string, Json], call: PairCall): boolean {
  if (!isJsonObject(args)) return false;
  const isSame = ([name, value]: [string, Json]) =>
    canonicalJson(value) === canonicalJson(call.arguments[name] ?? null);
  return tool === call.tool && Object.entries(args).every(isSame);
}

/** The question of a rule is named after the rule, and shows the call under the name of its tool; null: it is about something else. */
function toolShown({ subject, data }: Pick<PermissionPrompt, 'subject' | 'data'>): string | null {
  const [shown] = data;
  const isCall = subject.scope === 'policy' && shown?.identifying !== undefined && !EFFECTS.has(shown.name);
  return isCall ? shown.name : null;
}

/** The question of a rule shows these under their own names; anything else is a call. */
const EFFECTS: ReadonlySet<string> = new Set([
  'app-request',
  'app-response',
  'data-release',
  'egress',
  'model-call',
]);

/** Columns of the terminal that the questions are drawn for. */
const WIDTH = 100;
