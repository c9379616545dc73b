/**
 * Why the policy did not allow something, drawn: the rule with what became of each of its lines, the steps that led
 * to it from source to sink, the characters that it is about, and the smallest change. All of it was recorded by the
 * evaluation that decided; nothing is computed here.
 */

import type { Style } from '@cordon/console/text';
import type { Policy } from '@cordon/policy';
import type { PolicyDecision, PolicyReason } from '@cordon/policy-tools';
import type { Drawing, Marks } from '@cordon/print';
import { renderRange, type TraceInput } from '@cordon/scan/traces';

type Explanation = PolicyReason['explanation'];
type Line = Explanation['lines'][number];
type Step = Explanation['steps'][number];

const MOST_STEPS = 30;
const MOST_RANGES = 8;
const MOST_WRAPPED = 4;

/** One decision about events of a trace. */
export interface Decided {
  /** Path of the event. */
  readonly event: string;
  readonly summary: string;
  readonly decision: PolicyDecision;
}

export class ExplanationRenderer {
  readonly #drawing: Drawing;
  readonly #files: ReadonlyMap<string, string>;

  constructor(drawing: Drawing, policy: Policy) {
    this.#drawing = drawing;
    this.#files = new Map(policy.rules.map(({ id, source }) => [id, source.file]));
  }

  render(trace: TraceInput, { event, summary, decision }: Decided): void {
    const drawing = this.#drawing;
    const { words, style } = VERDICTS[decision.verdict];
    const name = trace.name === '-' ? 'standard input' : trace.name;
    drawing.say('', `${name}, event ${event}: ${words}`, style);
    if (summary !== '') drawing.say('  ', summary, 'plain', MOST_WRAPPED);
    for (const reason of decision.reasons) this.#reason(trace, reason, 'it would be allowed if');
    for (const warning of decision.warnings) this.#reason(trace, warning, 'there would be no warning if');
    drawing.screen.line();
  }

  /** `without` continues with the smallest change: "`x` did not hold". */
  #reason(trace: TraceInput, reason: PolicyReason, without: string): void {
    const drawing = this.#drawing;
    const { mark, style } = EFFECTS[reason.effect];
    drawing.screen.line();
    drawing.say(`  ${drawing.marks[mark]} `, `${reason.rule}: ${reason.message}`, style, MOST_WRAPPED);
    drawing.say('    ', `${this.#files.get(reason.rule) ?? ''}:${reason.line}`, 'dim', 2);
    const { lines, steps, change } = reason.explanation;
    const width = Math.max(0, ...lines.map(({ line }) => String(line).length));
    for (const line of lines) this.#line(line, width);
    if (steps.length > 0) {
      drawing.say('    ', 'how it came about', 'bold');
      this.#steps(steps);
    }
    const ranges = reason.ranges.filter((range) => range.includes(':'));
    if (ranges.length > 0) {
      drawing.say('    ', 'what it is about', 'bold');
      for (const range of ranges.slice(0, MOST_RANGES)) renderRange(drawing, trace, range);
    }
    drawing.say('    ', without, 'bold');
    drawing.say('      ', change.text);
  }

  /** `4 │ (a: ToolOutput) -> (b: ToolCall)`, and below it what made it hold, where there is something to say. */
  #line({ line, text, value, note }: Line, width: number): void {
    const drawing = this.#drawing;
    const { gutter, good, undecided } = drawing.marks;
    const mark = value === 'true' ? good : undecided;
    const style = value === 'true' ? 'plain' : 'warn';
    drawing.say(`    ${String(line).padStart(width)} ${gutter} ${mark} `, text, style, MOST_WRAPPED);
    if (note !== '') drawing.say(`    ${' '.repeat(width)} ${gutter}     `, note, 'dim', MOST_WRAPPED);
  }

  /** From top to bottom, as it happened. */
  #steps(steps: readonly Step[]): void {
    const drawing = this.#drawing;
    const { marks } = drawing;
    const shown = steps.length > MOST_STEPS ? [...steps.slice(0, MOST_STEPS - 1), ...steps.slice(-1)] : steps;
    for (const [index, step] of shown.entries()) {
      if (index > 0) drawing.say('      ', index === shown.length - 1 ? marks.down : marks.gutter, 'dim');
      if (index === shown.length - 1 && shown.length < steps.length) {
        drawing.say(`      ${marks.gutter} `, `${steps.length - shown.length} steps more`, 'dim');
      }
      const { mark, style } = ROLES[step.role];
      const bound = step.variable === null ? '' : `${step.variable} = `;
      const role = step.role === 'other' ? '' : `${step.role}: `;
      drawing.say(
        `      ${marks[mark]} `,
        `${role}${bound}${step.event}  ${step.summary}`,
        style,
        MOST_WRAPPED,
      );
    }
  }
}

const VERDICTS: Readonly<
  Record<PolicyDecision['verdict'], { readonly words: string; readonly style: Style }>
> = {
  allow: { words: 'allowed', style: 'good' },
  ask: { words: 'would be asked', style: 'warn' },
  deny: { words: 'denied', style: 'bad' },
};

interface Look {
  readonly mark: keyof Marks;
  readonly style: Style;
}

const EFFECTS: Readonly<Record<PolicyReason['effect'], Look>> = {
  raise: { mark: 'bad', style: 'bad' },
  ask: { mark: 'question', style: 'warn' },
  warn: { mark: 'warning', style: 'warn' },
};

const ROLES: Readonly<Record<Step['role'], Look>> = {
  source: { mark: 'source', style: 'warn' },
  way: { mark: 'way', style: 'plain' },
  sink: { mark: 'sink', style: 'bad' },
  other: { mark: 'other', style: 'plain' },
};
