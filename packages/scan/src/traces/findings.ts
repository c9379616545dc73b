/**
 * What an analysis found, as lines of JSON and for people.
 *
 * See docs/cli.md for the shape of the lines.
 */

import type { Style } from '@cordon/console/text';
import type { Policy } from '@cordon/policy';
import type { Analysis, UndecidedAssignment, Violation } from '@cordon/policy-tools';
import { type Drawing, type Marks, safeJson } from '@cordon/print';
import { EventSummaries } from './event-summary.ts';
import type { TraceInput } from './trace-input.ts';
import { parseRange, valueAt } from './trace-path.ts';
/**
 * The analysis of one trace as one line of JSON, in pieces, because a trace can have more violations than a text has
 * room for. A rule that asks or warns says so in `effect`, behind the keys that every violation has.
 */
export function* analysisLine(trace: string, { errors, undecided }: Analysis): Generator<string> {
  yield `{"trace":${safeJson(trace)},"errors":[`;
  yield* separated(errors, ({ rule, effect, message, args, kwargs, ranges, events }) => ({
    ...{ rule, message, args, kwargs, ranges, events },
    ...(effect === 'raise' ? {} : { effect }),
  }));
  yield '],"undecided":[';
  yield* separated(undecided, ({ rule, line, events, reason }) => ({ rule, line, events, reason }));
  yield ']}\n';
}

function* separated<T>(items: readonly T[], shapeOf: (item: T) => object): Generator<string> {
  for (const [index, item] of items.entries()) yield `${index === 0 ? '' : ','}${safeJson(shapeOf(item))}`;
}

/** What a line tells of a trace; `raise` is not told. */
export interface ToldFindings {
  readonly errors: readonly (Omit<Violation, 'effect'> & Partial<Pick<Violation, 'effect'>>)[];
  readonly undecided: readonly UndecidedAssignment[];
}

/** Reads what `analysisLine` has written behind the name of the trace. */
export function toldFindings(body: string): ToldFindings {
  return JSON.parse(`{${body}`);
}

/** For people: of each kind so many, and how many more there are. */
const MOST_SHOWN = 25;
const MOST_RANGES = 8;
const MOST_LINES = 6;
/** What is longer has no room for a text beside it. */
const MOST_HANGING = 32;

interface EffectWords {
  readonly mark: keyof Marks;
  readonly words: string;
  readonly style: Style;
}

/** How findings of a rule are marked, in every report. */
export const EFFECTS: Readonly<Record<Violation['effect'], EffectWords>> = {
  raise: { mark: 'bad', words: '', style: 'bad' },
  ask: { mark: 'question', words: 'asks: ', style: 'warn' },
  warn: { mark: 'warning', words: 'warns: ', style: 'warn' },
};

/** Draws what was found in one trace; nothing where nothing was. */
export class FindingsRenderer {
  readonly #drawing: Drawing;
  /** Place of each rule's text by its id. */
  readonly #files: ReadonlyMap<string, Policy['rules'][number]>;

  constructor(drawing: Drawing, policy: Policy) {
    this.#drawing = drawing;
    this.#files = new Map(policy.rules.map((rule) => [rule.id, rule]));
  }

  render(trace: TraceInput, { errors, undecided }: Analysis): void {
    if (errors.length + undecided.length === 0) return;
    const summaries = new EventSummaries(trace.events);
    const { screen } = this.#drawing;
    this.#drawing.say('', trace.name === '-' ? 'standard input' : trace.name, 'bold');
    for (const violation of errors.slice(0, MOST_SHOWN)) this.#violation(trace, violation, summaries);
    this.#rest(errors.length, 'violations');
    for (const assignment of undecided.slice(0, MOST_SHOWN)) this.#undecided(assignment, summaries);
    this.#rest(undecided.length, 'undecided assignments');
    screen.line();
  }

  #violation(trace: TraceInput, violation: Violation, summaries: EventSummaries): void {
    const { mark, words, style } = EFFECTS[violation.effect];
    const { marks } = this.#drawing;
    this.#drawing.say(
      `  ${marks[mark]} `,
      `${violation.rule}: ${words}${violation.message}`,
      style,
      MOST_LINES,
    );
    this.#events(violation.events, summaries);
    const bound = new Set(Object.values(violation.events));
    const ranges = violation.ranges.filter((range) => !bound.has(range));
    for (const range of ranges.slice(0, MOST_RANGES)) renderRange(this.#drawing, trace, range);
    if (ranges.length > MOST_RANGES) {
      this.#drawing.say('      ', `and ${ranges.length - MOST_RANGES} more ranges`, 'dim');
    }
  }

  #undecided({ rule, line, events, reason }: UndecidedAssignment, summaries: EventSummaries): void {
    const { marks } = this.#drawing;
    const source = this.#files.get(rule)?.source;
    this.#drawing.say(`  ${marks.undecided} `, `${rule}: undecided, because ${reason}`, 'warn', MOST_LINES);
    if (source !== undefined) {
      this.#drawing.say('      ', `${source.file}:${line}: ${lineOf(source.text, line)}`, 'dim', MOST_LINES);
    }
    this.#events(events, summaries);
  }

  #events(events: Readonly<Record<string, string>>, summaries: EventSummaries): void {
    for (const [variable, reference] of Object.entries(events)) {
      const bound = this.#drawing.visible(`${variable} = ${reference}`);
      const isShort = bound.length <= MOST_HANGING;
      this.#drawing.say(
        isShort ? `      ${bound}  ` : '      ',
        isShort ? summaries.of(reference) : bound,
        'plain',
        3,
      );
      if (!isShort) this.#drawing.say('        ', summaries.of(reference), 'plain', 3);
    }
  }

  #rest(count: number, what: string): void {
    if (count <= MOST_SHOWN) return;
    this.#drawing.say('  ', `and ${count - MOST_SHOWN} more ${what}; \`--json\` has all`, 'dim');
  }
}

/** A range by its path; where it is about characters, with the line that they stand in, underlined. */
export function renderRange(drawing: Drawing, trace: TraceInput, range: string): void {
  const { path, characters } = parseRange(range);
  drawing.say('      ', range, 'dim', 2);
  const value = characters === null ? undefined : valueAt(trace.document, path);
  if (characters === null || typeof value !== 'string') return;
  drawing.excerpt(6, value, characters.start, characters.end);
}

/** A line of a text, from 1, without the spaces around it. */
export function lineOf(text: string, line: number): string {
  return (text.split('\n', line)[line - 1] ?? '').trim();
}
