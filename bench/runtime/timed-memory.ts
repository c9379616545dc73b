/**
 * A store whose memories tell how long each of their methods took, and whose memory it was. They are synchronous: while one
 * works, the hub does nothing else.
 */
import type { Store } from '@cordon/trace';

export interface MemorySpan {
  /** The hub's own memory, or that of an app's context, which the hub keeps for it. */
  readonly of: 'hub' | 'spoke';
  /** In milliseconds since the epoch, with fractions. */
  readonly from: number;
  readonly to: number;
}

type MemoryOf = ReturnType<Store['memory']>;

export function withTimedMemory(store: Store, told: (span: MemorySpan) => void): Store {
  return forwarding(store, (key, value) => {
    if (key !== 'memory') return value;
    return (owner: Parameters<Store['memory']>[0]): MemoryOf =>
      timed(store.memory(owner), owner.kind === 'system' ? 'hub' : 'spoke', told);
  });
}

function timed(memory: MemoryOf, of: MemorySpan['of'], told: (span: MemorySpan) => void): MemoryOf {
  return forwarding(memory, (_, value) => {
    if (typeof value !== 'function') return value;
    return (...args: readonly unknown[]): unknown => {
      const from = now();
      try {
        return Reflect.apply(value, memory, args);
      } finally {
        told({ of, from, to: now() });
      }
    };
  });
}

/** Private fields are those of the object itself, so its methods are called on it and not on what stands before it. */
function forwarding<T extends object>(object: T, read: (key: string | symbol, value: unknown) => unknown): T {
  return new Proxy(object, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      return read(key, typeof value === 'function' ? value.bind(target) : value);
    },
  });
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
