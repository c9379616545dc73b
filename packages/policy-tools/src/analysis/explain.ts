/**
 * Why a rule holds: its lines, the events from the source to the sink, and the smallest change that would have
 * made it not hold. Read off the record of the evaluation that decided; nothing is evaluated again.
 *
 * It shows findings, and decides nothing.
 */
import type {
  EventObject,
  Evidence,
  Expression,
  Finding,
  OriginEvidence,
  Pattern,
  Place,
  Source,
  Span,
  Step,
} from '@cordon/policy';

/** How one finding came about. */
export interface Explanation {
  /** In the order of the text. */
  readonly lines: readonly ExplainedLine[];
  /** In the order in which they happened. */
  readonly steps: readonly ExplainedStep[];
  readonly change: Change;
}

/** A line of the rule that held, or that could not be evaluated. */
export interface ExplainedLine {
  /** In the policy's text, from 1. */
  readonly line: number;
  readonly text: string;
  readonly value: 'true' | 'undecided';
  /** What the evaluation noticed at it; may be empty. */
  readonly note: string;
}

export interface ExplainedStep {
  /** Path in the input, or id. */
  readonly event: string;
  /** Where the flow begins, what it went through, and the action at its end; `other`: beside the flow. */
  readonly role: 'source' | 'way' | 'sink' | 'other';
  /** The variable of the rule; null: a predicate found it, it carried the flow on, or is the call behind an output. */
  readonly variable: string | null;
  /** `call of send_mail`: what it is, with names from the trace. */
  readonly summary: string;
}

/** The smallest thing that would have to be otherwise. */
export interface Change {
  readonly kind: 'argument' | 'tool' | 'flow' | 'consent' | 'parameter' | 'content' | 'other';
  /** Completes “it would be allowed if …”. */
  readonly text: string;
}

/** The events that carried what was visible at one place to another. */
export type Way = (from: Place, to: Place) => readonly string[];

export function explanationOf(finding: Finding, way: Way): Explanation {
  return { lines: linesOf(finding), steps: stepsOf(finding, way), change: changeOf(finding) };
}

function linesOf({ rule, open, evidence }: Finding): readonly ExplainedLine[] {
  const { source, body } = rule;
  const lines = body.steps.filter((step) => step.slot === null);
  return lines
    .map((step): ExplainedLine => {
      const isOpen = open !== null && isInside(open.span, step.span);
      const own = evidence.filter(({ line }) => line === step.span);
      return {
        line: source.range(step.span).line,
        text: textAt(source, step.span),
        value: isOpen ? 'undecided' : 'true',
        note: isOpen ? open.why.reason : [...new Set(own.map(noteOf))].join('; '),
      };
    })
    .sort((a, b) => a.line - b.line);
}

function isInside(inner: Span, outer: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

const MAX_TEXT = 200;

/** Of the policy, on one line. */
function textAt(source: Source, { start, end }: Span): string {
  const text = source.text.slice(start, Math.min(end, start + MAX_TEXT)).replace(/\s+/g, ' ');
  return end - start > MAX_TEXT ? `${text}…` : text;
}

function noteOf(evidence: Evidence): string {
  switch (evidence.kind) {
    case 'range':
      return `found in ${evidence.event.reference}`;
    case 'witness': {
      const events = evidence.bound.flatMap(({ entry }) => (entry === null ? [] : [entry.reference]));
      return `\`${evidence.predicate}\` holds for ${events.join(', ') || 'a value'}`;
    }
    case 'count':
      return `counted ${evidence.isLeast ? 'at least ' : ''}${evidence.found}`;
    case 'origin':
      return evidence.found().map(originNote).join(', ') || 'says nothing that could come from anywhere';
  }
}

/** Where a value was found, without the value. */
function originNote({ kind, match, hit }: OriginEvidence): string {
  if (hit === null)
    return match === 'part' ? 'the rest is the model\u2019s' : 'found nowhere: it is the model\u2019s';
  const of = hit.bringer.tool === null ? kind : `${kind} of ${hit.bringer.tool}`;
  return `${match === 'part' ? 'in part ' : ''}found in ${hit.event.reference} (${of}, ${match})`;
}

// ── source, way, sink ─────────────────────────────────────────────────────────────────────────────────────────

function stepsOf(finding: Finding, way: Way): readonly ExplainedStep[] {
  const { variables } = finding.rule.body;
  const named = new Map<EventObject, string | null>();
  for (const [index, { entry }] of finding.bound.entries()) {
    if (entry !== null && !named.has(entry)) named.set(entry, variables[index]?.name ?? null);
  }
  for (const entry of besides(finding)) if (!named.has(entry)) named.set(entry, null);
  const events = [...named.keys()].sort((a, b) => a.sequence - b.sequence);
  const [sources, sinks] = [eventsAt('from', finding), eventsAt('to', finding)];
  const roleOf = (event: EventObject): ExplainedStep['role'] => {
    if (sinks.has(event)) return sources.has(event) ? 'way' : 'sink';
    if (sources.has(event)) return 'source';
    const isAlone = sources.size + sinks.size === 0 && named.get(event) !== null;
    return isAlone ? 'sink' : 'other';
  };
  const carried = carriersOf(finding, way);
  return events.flatMap((event) => {
    const step: ExplainedStep = {
      event: event.reference,
      role: roleOf(event),
      variable: named.get(event) ?? null,
      summary: summaryOf(event),
    };
    return [...(carried.get(event) ?? []), step];
  });
}

/** For the end of each flow line, what carried the flow into its context, besides the ends themselves. */
function carriersOf(finding: Finding, way: Way): ReadonlyMap<EventObject, readonly ExplainedStep[]> {
  const carriers = new Map<EventObject, readonly ExplainedStep[]>();
  for (const { flow } of finding.rule.body.steps) {
    const from = flow === null ? null : (finding.bound[flow.from]?.entry ?? null);
    const to = flow === null ? null : (finding.bound[flow.to]?.entry ?? null);
    if (from === null || to === null || from.place.context === to.place.context) continue;
    const between = way(from.place, to.place).filter(
      (event) => event !== from.reference && event !== to.reference,
    );
    const steps = [...new Set(between)].map(
      (event): ExplainedStep => ({ event, role: 'way', variable: null, summary: 'carried it on' }),
    );
    carriers.set(to, [...(carriers.get(to) ?? []), ...steps]);
  }
  return carriers;
}

/** Events that no variable names: what predicates found, and the calls behind outputs. */
function besides(finding: Finding): readonly EventObject[] {
  const calls = finding.bound.flatMap(({ entry }) => entry?.call ?? []);
  const found = finding.evidence.flatMap((evidence) =>
    evidence.kind === 'witness' ? evidence.bound.flatMap(({ entry }) => entry ?? []) : [],
  );
  const origins = finding.evidence.flatMap((evidence) =>
    evidence.kind === 'origin' ? evidence.found().flatMap(({ hit }) => hit?.event ?? []) : [],
  );
  return [...calls, ...found, ...origins];
}

/** The events at one side of the lines with `->` or `before`. */
function eventsAt(side: 'from' | 'to', finding: Finding): ReadonlySet<EventObject> {
  const events = finding.rule.body.steps.flatMap(({ flow, earlier }) => {
    const order = flow ?? earlier;
    return order === null ? [] : (finding.bound[order[side]]?.entry ?? []);
  });
  return new Set(events);
}

function summaryOf(event: EventObject): string {
  const inside = event.event;
  switch (inside.type) {
    case 'Message':
      return `message of role ${inside.role}`;
    case 'ToolCall':
      return `call of ${inside.name}`;
    case 'ToolOutput':
      return event.toolName === null ? 'tool output' : `output of ${event.toolName}`;
    case 'Tool':
      return `description of ${inside.name}`;
    case 'AppRequest':
      return `request for ${inside.functionality}`;
    case 'AppResponse':
      return `response of ${inside.functionality}`;
    case 'DataRelease':
      return `release of ${inside.items.length} items`;
    case 'Endorsement':
      return `permission of the user, with ${inside.values.length} values`;
    case 'Egress':
      return `${inside.method} to ${inside.host}`;
    case 'Plan':
      return `plan of ${inside.steps.length} steps`;
  }
}

// ── the smallest change ───────────────────────────────────────────────────────────────────────────────────────

/** From small to large: another value, other data, another way, another action. */
const SIZES: readonly Change['kind'][] = [
  'consent',
  'argument',
  'parameter',
  'content',
  'flow',
  'other',
  'tool',
];

function changeOf(finding: Finding): Change {
  const { rule, open } = finding;
  if (open !== null) {
    const parameter = /policy parameter `([^`]*)`/.exec(open.why.reason);
    return parameter === null
      ? {
          kind: 'other',
          text: `line ${rule.source.range(open.span).line} could be evaluated: ${open.why.reason}`,
        }
      : { kind: 'parameter', text: `the policy parameter \`${parameter[1]}\` was given` };
  }
  if (rule.effect === 'ask') return { kind: 'consent', text: 'the user allowed it' };
  const changes = rule.body.steps.flatMap((step) =>
    step.slot === null ? [changeOfLine(step, rule.source)] : [],
  );
  const [smallest] = changes.sort((a, b) => SIZES.indexOf(a.kind) - SIZES.indexOf(b.kind));
  return smallest ?? { kind: 'other', text: 'the rule did not exist' };
}

function changeOfLine({ tree, span }: Step, source: Source): Change {
  const text = textAt(source, span);
  const fails = `\`${text}\` did not hold`;
  if (tree.kind === 'unary' && tree.operator === 'not') {
    const inner = textAt(source, unwrapped(source, tree.operand));
    return { kind: kindOfChange(text), text: `\`${inner}\` held` };
  }
  if (tree.kind !== 'binary') return { kind: kindOfChange(text), text: fails };
  const [from, to] = [nameAt(source, tree.left), nameAt(source, tree.right)];
  if (tree.operator === '->')
    return { kind: 'flow', text: `\`${to}\` arose in a context that \`${from}\` had not reached` };
  if (tree.operator === 'before')
    return { kind: 'flow', text: `\`${from}\` had not happened before \`${to}\`` };
  if (tree.right.kind === 'tool-pattern') {
    const constrained = tree.right.arguments === null ? null : firstConstraint(tree.right.arguments, null);
    if (constrained === null) return { kind: 'tool', text: `\`${tree.right.tool.name}\` was not called` };
    const pattern = textAt(source, constrained.pattern);
    return { kind: 'argument', text: `the argument \`${constrained.key}\` did not match ${pattern}` };
  }
  return { kind: kindOfChange(text), text: fails };
}

/** The variable that a side of a flow is, also where it is declared there. */
function nameAt(source: Source, side: Expression): string {
  return side.kind === 'declaration' ? side.variable.name : textAt(source, side);
}

/** Without the parentheses that it is written in. */
function unwrapped(source: Source, { start, end }: Expression): Span {
  const isWrapped = source.text[start] === '(' && source.text[end - 1] === ')';
  return isWrapped ? { start: start + 1, end: end - 1 } : { start, end };
}

function firstConstraint(pattern: Pattern, key: string | null): { key: string; pattern: Pattern } | null {
  switch (pattern.kind) {
    case 'any':
      return null;
    case 'object':
      return pattern.entries.reduce<ReturnType<typeof firstConstraint>>(
        (found, entry) =>
          found ?? firstConstraint(entry.pattern, key === null ? entry.key : `${key}.${entry.key}`),
        null,
      );
    case 'list':
    case 'value-reference':
    case 'value':
      return key === null ? null : { key, pattern };
  }
}

function kindOfChange(text: string): Change['kind'] {
  if (/\binput\./.test(text)) return 'parameter';
  if (/\barguments\b/.test(text)) return 'argument';
  return /\bcontent\b/.test(text) ? 'content' : 'other';
}
