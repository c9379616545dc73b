/** A policy that allows everything and keeps what its monitor was told, in order. */
import {
  type Evaluation,
  emptyPolicy,
  type Policy,
  type PolicyMonitor,
  type TraceEvent,
} from '@cordon/policy';

export function listeningPolicy(heard: TraceEvent[]): Policy {
  let made = 0;
  return replaced(emptyPolicy(), 'monitor', (policy, ...given) => {
    const monitor = policy.monitor(...given);
    // The first is the session's; a resumed query looks back at what it did with another.
    return ++made === 1 ? listening(monitor, heard) : monitor;
  });
}

function listening(monitor: PolicyMonitor, heard: TraceEvent[]): PolicyMonitor {
  const evaluated = new WeakMap<object, readonly TraceEvent[]>();
  const evaluating = replaced(monitor, 'evaluate', (one, events, awaited) => {
    const evaluation: Evaluation = one.evaluate(events, awaited);
    evaluated.set(evaluation, events);
    return evaluation;
  });
  return replaced(evaluating, 'append', (one, events) => {
    heard.push(...(evaluated.get(events) ?? ('prepared' in events ? [] : events)));
    one.append(events);
  });
}

/** An object with one method in the place of its own; the others have private members, and are called on the object. */
function replaced<T extends object, K extends keyof T>(
  object: T,
  name: K,
  by: T[K] extends (...args: infer A) => infer R ? (object: T, ...args: A) => R : never,
): T {
  return new Proxy(object, {
    get: (target, key) => {
      if (key === name)
        return (...args: Parameters<typeof by> extends [T, ...infer A] ? A : never) => by(target, ...args);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
