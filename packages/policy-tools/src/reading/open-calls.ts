/**
 * Calls that wait for their output, where outputs name the tool and not the call: the oldest is answered first.
 *
 * Recordings are read with it; the hub does not use it.
 */
export class OpenCalls {
  readonly #byName = new Map<string, Queue>();

  opened(name: string, callId: string): void {
    const queue = this.#byName.get(name) ?? { ids: [], next: 0 };
    queue.ids.push(callId);
    this.#byName.set(name, queue);
  }

  /** The call that an output of this tool answers; null: none is open. */
  answered(name: string): string | null {
    const queue = this.#byName.get(name);
    return queue === undefined ? null : (queue.ids[queue.next++] ?? null);
  }
}

/** Taken from in constant time. */
interface Queue {
  readonly ids: string[];
  next: number;
}
