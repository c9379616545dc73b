/**
 * `->` as the definition says it: what was visible in a context, as a set that grows. No clocks. `before` is the order
 * of the list.
 *
 * Tests only.
 */
import { type EventObject, type OrderOperator, type TraceEvent, type Value, values } from '@cordon/policy';

export class Visibility {
  readonly #known = new Map<string, Set<number>>();
  readonly #seen: { readonly context: string; readonly visible: ReadonlySet<number> }[] = [];
  /** Undefined: several events have the id, so it is as if nobody had it. */
  readonly #byId = new Map<string, number | undefined>();
  readonly #numbers = new Map<Value, number>();

  /** Events in order; `entries` are those that rules see, in the same order. */
  constructor(events: readonly TraceEvent[], entries: readonly EventObject[]) {
    const objects = [...entries];
    for (const event of events) {
      for (const single of event.type === 'Message' ? [event, ...event.toolCalls] : [event]) {
        this.#add(single, single.type === 'Carrier' ? undefined : objects.shift());
      }
      // A message with its calls is one thing to carry on.
      const id = event.id ?? '';
      if (this.#byId.get(id) !== undefined) this.#byId.set(id, this.#seen.length - 1);
    }
  }

  #add(event: TraceEvent, entry: EventObject | undefined): void {
    const number = this.#seen.length;
    const context = event.context ?? 'trace';
    const visible = new Set(this.#knownIn(context));
    if (event.bornFrom !== undefined) addAll(visible, this.#knownIn(event.bornFrom));
    for (const cause of event.causes ?? []) {
      const from = this.#byId.get(cause);
      if (from === undefined) for (const set of this.#known.values()) addAll(visible, set);
      else addAll(visible, [...(this.#seen[from]?.visible ?? []), from]);
    }
    this.#seen.push({ context, visible });
    this.#known.set(context, new Set([...visible, number]));
    if (event.deliveredTo !== undefined) {
      this.#known.set(event.deliveredTo, new Set([...this.#knownIn(event.deliveredTo), ...visible, number]));
    }
    if (event.id !== undefined) this.#byId.set(event.id, this.#byId.has(event.id) ? undefined : number);
    if (entry !== undefined) this.#numbers.set(entry, number);
  }

  related(operator: OrderOperator, a: Value, b: Value): Value {
    const [from, to] = [this.#numbers.get(a), this.#numbers.get(b)];
    if (from === undefined || to === undefined) return values.undecided('only events flow');
    if (operator === 'before') return from < to;
    if (operator === '->') return this.#seen[to]?.visible.has(from) ?? false;
    const { context } = this.#seen[to] ?? { context: '' };
    const before = this.#seen.flatMap((seen, number) =>
      seen.context === context && number < to ? [number] : [],
    );
    return before.at(-1) === from;
  }

  #knownIn(context: string): ReadonlySet<number> {
    return this.#known.get(context) ?? new Set();
  }
}

function addAll(target: Set<number>, more: Iterable<number>): void {
  for (const number of more) target.add(number);
}
