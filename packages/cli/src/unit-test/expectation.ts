/**
 * What a unit test expects, and how what was found differs from it.
 *
 * See docs/policy/testing.md.
 */
import type { Analysis, PolicyDecision, UndecidedAssignment, Violation } from '@cordon/policy-tools';

/** All findings of a rule that look so; there has to be one, or exactly `count`. */
export interface ExpectedFinding {
  readonly rule: string;
  readonly kind: 'violation' | 'undecided';
  /** Of the violation, or why it is undecided; `*` stands for any characters. Null: any. */
  readonly message: string | null;
  /** Variable to the path of its event; `3` is also the path of what is in 3. */
  readonly events: Readonly<Record<string, string>>;
  /** Each must be among those of the finding. */
  readonly ranges: readonly string[];
  readonly count: number | null;
}

export type Verdict = PolicyDecision['verdict'];

export interface Expectation {
  /** Null: not checked. Empty: there are no findings. */
  readonly findings: readonly ExpectedFinding[] | null;
  /** About the last event, after all others have happened. Null: not checked. */
  readonly decision: Verdict | null;
}

/** Both for people; words of the trace in it are as they were. */
export interface Difference {
  readonly expected: string;
  readonly found: string;
}

interface Found {
  readonly rule: string;
  readonly kind: ExpectedFinding['kind'];
  readonly message: string;
  readonly events: Readonly<Record<string, string>>;
  readonly ranges: readonly string[];
}

/** Every difference; none: the test passes. */
export function differences(
  expectation: Expectation,
  analysis: Analysis,
  decision: PolicyDecision | null,
): readonly Difference[] {
  const { findings } = expectation;
  return [
    ...(findings === null ? [] : findingDifferences(findings, foundIn(analysis))),
    ...decisionDifferences(expectation.decision, decision),
  ];
}

function foundIn({ errors, undecided }: Analysis): readonly Found[] {
  return [
    ...errors.map(({ rule, message, events, ranges }: Violation): Found => {
      return { kind: 'violation', rule, message, events, ranges };
    }),
    ...undecided.map(({ rule, reason, events }: UndecidedAssignment): Found => {
      return { kind: 'undecided', rule, message: reason, events, ranges: [] };
    }),
  ];
}

function findingDifferences(
  expected: readonly ExpectedFinding[],
  found: readonly Found[],
): readonly Difference[] {
  const differing: Difference[] = [];
  const covered = new Set<Found>();
  for (const one of expected) {
    const fitting = found.filter((finding) => fits(finding, one));
    for (const finding of fitting) covered.add(finding);
    const isEnough = one.count === null ? fitting.length > 0 : fitting.length === one.count;
    if (isEnough) continue;
    const near = found.filter(({ rule, kind }) => rule === one.rule && kind === one.kind);
    for (const finding of near) covered.add(finding);
    differing.push({ expected: expectedText(one), found: foundTexts(fitting.length > 0 ? fitting : near) });
  }
  const surplus = found.filter((finding) => !covered.has(finding));
  if (surplus.length > 0) {
    const nothing = expected.length === 0 ? 'nothing' : 'nothing else';
    differing.push({ expected: nothing, found: foundTexts(surplus) });
  }
  return differing;
}

function fits(found: Found, expected: ExpectedFinding): boolean {
  return (
    found.rule === expected.rule &&
    found.kind === expected.kind &&
    (expected.message === null || matches(found.message, expected.message)) &&
    Object.entries(expected.events).every(([name, path]) => isWithin(found.events[name], path)) &&
    expected.ranges.every((range) => found.ranges.includes(range))
  );
}

function isWithin(path: string | undefined, outer: string): boolean {
  return path !== undefined && `${path}.`.startsWith(`${outer}.`);
}

/** The whole text, with `*` for any characters. Linear: the first place of each piece is as good as any other. */
function matches(text: string, pattern: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function decisionDifferences(
  expected: Verdict | null,
  decision: PolicyDecision | null,
): readonly Difference[] {
  if (expected === null || decision === null || decision.verdict === expected) return [];
  const reasons = decision.reasons.map(({ rule, message }) => `${rule}: ${message}`);
  const because = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  return [{ expected: `decision ${expected}`, found: `decision ${decision.verdict}${because}` }];
}

const MOST_TOLD = 5;

function foundTexts(found: readonly Found[]): string {
  if (found.length === 0) return 'nothing';
  const texts = found.slice(0, MOST_TOLD).map(foundText);
  const more = found.length > MOST_TOLD ? [`and ${found.length - MOST_TOLD} more`] : [];
  return [...texts, ...more].join('\n');
}

function foundText({ rule, kind, message, events, ranges }: Found): string {
  const bound = Object.entries(events).map(([name, path]) => `${name} = ${path}`);
  const told = kind === 'undecided' ? `undecided, ${message}` : message;
  const about = ranges.filter((range) => range.includes(':'));
  return `${rule}: ${told}${parenthesised([...bound, ...about])}`;
}

function expectedText({ rule, kind, message, events, ranges, count }: ExpectedFinding): string {
  const bound = Object.entries(events).map(([name, path]) => `${name} = ${path}`);
  const told = [...(kind === 'undecided' ? ['undecided'] : []), ...(message === null ? [] : [message])].join(
    ', ',
  );
  const times = count === null ? '' : `${count} times `;
  return `${times}${rule}${told === '' ? '' : `: ${told}`}${parenthesised([...bound, ...ranges])}`;
}

function parenthesised(parts: readonly string[]): string {
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
