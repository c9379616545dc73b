/** The events in the order in which they happen, each with what the policy said to it before it did. */
import type { TraceEvent } from '@cordon/policy';
import type { ExplainingMonitor, PolicyDecision, PolicyReason } from '@cordon/policy-tools';
import { element, visible } from './element.ts';
import { explanationOf, pathButton, type ShowPath } from './flow.ts';

/** More rows than these are not drawn. */
const MAX_ROWS = 200;

export interface DecidedEvent {
  readonly event: TraceEvent;
  readonly decision: PolicyDecision;
}

/** What is denied does not happen: later events are judged as if it had not been. */
export function decideAll(
  monitor: ExplainingMonitor,
  events: readonly TraceEvent[],
  consent: 'given' | 'not-needed',
): readonly DecidedEvent[] {
  return events.map((event) => ({ event, decision: monitor.admit([event], consent) }));
}

/** Which explanations stand open, by event and rule, so that they stay open while one types. */
export class OpenReasons {
  readonly #said = new Map<string, boolean>();

  /** Until somebody says otherwise, the first denial is explained. */
  isOpen(key: string, isFirstDenial: boolean): boolean {
    return this.#said.get(key) ?? isFirstDenial;
  }

  say(key: string, isOpen: boolean): void {
    this.#said.set(key, isOpen);
  }

  forget(): void {
    this.#said.clear();
  }
}

interface Showing {
  readonly path: ShowPath;
  readonly open: OpenReasons;
  readonly firstDenial: DecidedEvent | undefined;
}

export function decisionList(
  decided: readonly DecidedEvent[],
  path: ShowPath,
  open: OpenReasons,
): HTMLElement {
  const firstDenial = decided.find(({ decision }) => decision.verdict === 'deny');
  const rows = decided.slice(0, MAX_ROWS).map((one) => row(one, { path, open, firstDenial }));
  const more = decided.length - rows.length;
  if (more > 0) rows.push(element('li', { class: 'more' }, `and ${more} more`));
  return element('ol', { class: 'decisions' }, ...rows);
}

function row(decided: DecidedEvent, show: Showing): HTMLElement {
  const { event, decision } = decided;
  const { verdict, reasons, warnings } = decision;
  const explained = (reason: PolicyReason, index: number): HTMLElement => {
    const key = `${event.path} ${reason.rule}`;
    const box = reasonElement(reason, show.path);
    box.open = show.open.isOpen(key, decided === show.firstDenial && index === 0);
    box.addEventListener('toggle', () => show.open.say(key, box.open));
    return box;
  };
  return element(
    'li',
    { 'data-kind': verdict },
    element(
      'div',
      { class: 'event' },
      element('span', { class: 'verdict', 'data-kind': verdict }, verdict),
      element('span', { class: 'what' }, describe(event)),
      event.path === undefined ? null : pathButton(event.path, show.path),
    ),
    ...[...reasons, ...warnings].map(explained),
  );
}

function reasonElement(reason: PolicyReason, show: ShowPath): HTMLDetailsElement {
  const { rule, effect, because, message, line } = reason;
  const kind = because === 'undecided' ? 'undecided' : effect;
  return element(
    'details',
    { class: 'reason', 'data-kind': kind },
    element(
      'summary',
      {},
      element('span', { class: 'badge', 'data-kind': kind }, kind),
      element('span', { class: 'message' }, visible(message)),
      element('span', { class: 'rule' }, `${visible(rule, 60)}, line ${line}`),
    ),
    explanationOf(reason, show),
  );
}

/** An event in a few words. */
export function describe(event: TraceEvent): string {
  const short = (text: string): string => visible(text, 90);
  switch (event.type) {
    case 'Message': {
      const calls = event.toolCalls.map(({ name }) => name).join(', ');
      const text = textOf(event.content);
      return short(`${event.role}: ${text}${calls === '' ? '' : ` [calls ${calls}]`}`);
    }
    case 'ToolCall':
      return short(`call ${event.name} ${JSON.stringify(event.arguments)}`);
    case 'ToolOutput':
      return short(`output: ${textOf(event.content)}`);
    case 'Tool':
      return short(`tool ${event.name}: ${event.description}`);
    case 'AppRequest':
    case 'AppResponse':
      return short(`${event.type} ${event.functionality} ${JSON.stringify(event.message)}`);
    case 'DataRelease':
      return short(`release of ${event.items.map(({ name }) => name).join(', ')}`);
    case 'Egress':
      return short(`${event.method} ${event.host}:${event.port}${event.resource ?? ''}`);
    case 'Endorsement':
      return short(`allowed by the user: ${event.values.map(({ name }) => name).join(', ')}`);
    case 'Plan':
      return `plan of ${event.steps.length} steps`;
    case 'Carrier':
      return 'something that no rule sees';
  }
}

function textOf(content: (TraceEvent & { readonly type: 'ToolOutput' })['content']): string {
  if (content === null) return '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}
