/**
 * Which variables of a rule are decided as soon as an event for another one comes, because all that relates them to
 * the rest of the rule is that they happened before it: in `a -> b`, `b -> c`, `c -> d`, whether an event can be `b`
 * is known when it comes, and no later event changes it.
 */
import type { Body, Order, Step } from './body.ts';

export interface Prefixes {
  /** By variable: those that are decided with it. */
  readonly behind: readonly ReadonlySet<number>[];
  /** All that are decided with another. */
  readonly decided: ReadonlySet<number>;
  /** By variable: those whose events come before its own, by the lines of the body. */
  readonly before: readonly ReadonlySet<number>[];
  /** Of these, those whose events were visible where its own arose. */
  readonly seen: readonly ReadonlySet<number>[];
}

/** `isOwn`: conditions on one variable alone, which filter its events. `isStable`: each line says the same of an assignment for ever. */
export function prefixesOf(body: Body, isStable: boolean, isOwn: (step: Step) => boolean): Prefixes {
  const orders = body.steps.flatMap((step) => orderOf(body, step) ?? []);
  const flows = body.steps.flatMap((step) => (step.earlier === null ? (orderOf(body, step) ?? []) : []));
  const before = body.variables.map((_, index) => reached(orders, index));
  const seen = body.variables.map((_, index) => reached(flows, index));
  const related = body.steps.flatMap((step) => {
    const order = orderOf(body, step);
    const isImplied =
      order !== null &&
      ((step.flow !== null && isBetween(flows, seen, order)) ||
        (step.earlier !== null && isBetween(orders, before, order)));
    return isOwn(step) || isImplied ? [] : [neededBy(body, step)];
  });
  for (const [index, { needs }] of body.variables.entries()) related.push(new Set([index, ...needs]));
  const behind = body.variables.map((_, index) =>
    isStable ? decidedWith(body, index, before[index] ?? NONE, related) : NONE,
  );
  return { behind, decided: new Set(behind.flatMap((some) => [...some])), before, seen };
}

const NONE: ReadonlySet<number> = new Set();

/** All variables that a step needs, with those whose values it looks into. */
export function neededBy(body: Body, step: Step): ReadonlySet<number> {
  const needed = new Set(step.needs);
  for (const index of needed) for (const need of body.variables[index]?.needs ?? []) needed.add(need);
  return needed;
}

/** `a -> b`, `a ~> b` or `a before b` between variables over the trace. */
function orderOf(body: Body, { flow, earlier, next }: Step): Order | null {
  const order = flow ?? earlier ?? next;
  if (order === null) return null;
  const isOverTrace = (index: number): boolean => body.variables[index]?.within === null;
  return isOverTrace(order.from) && isOverTrace(order.to) ? order : null;
}

function reached(orders: readonly Order[], index: number): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [index];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { from, to } of orders) {
      if (to !== next || found.has(from)) continue;
      found.add(from);
      open.push(from);
    }
  }
  return found;
}

/** Whether other orders of that kind lead from the one to the other: `->` and `before` are transitive. */
function isBetween(
  orders: readonly Order[],
  before: readonly ReadonlySet<number>[],
  { from, to }: Order,
): boolean {
  if (before[from]?.has(from) === true || before[to]?.has(to) === true) return false;
  return orders.some((other) => other.from === from && other.to !== to && before[to]?.has(other.to) === true);
}

/** The parts of the rule that hang on the rest by this variable alone, and lie before it or within its value. */
function decidedWith(
  body: Body,
  index: number,
  before: ReadonlySet<number>,
  related: readonly ReadonlySet<number>[],
): ReadonlySet<number> {
  // What would come before itself never holds.
  if (body.variables[index]?.within !== null || before.has(index)) return NONE;
  const decided = new Set<number>();
  const seen = new Set([index]);
  for (const start of body.variables.keys()) {
    if (seen.has(start)) continue;
    const part = new Set([start]);
    let touches = false;
    for (const one of part) {
      seen.add(one);
      for (const group of related) {
        if (!group.has(one)) continue;
        for (const other of group) {
          if (other === index) touches = true;
          else part.add(other);
        }
      }
    }
    const isPast = [...part].every((one) => body.variables[one]?.within !== null || before.has(one));
    if (touches && isPast) for (const one of part) decided.add(one);
  }
  return decided;
}
