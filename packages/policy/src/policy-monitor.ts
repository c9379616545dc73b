/**
 * A policy watching one trace: what would these events bring about, and now they have happened. Asking leaves
 * no trace; only `append` changes anything.
 *
 * Ring 0.
 */
import type { JsonObject } from '@cordon/core';
import type { World } from './body.ts';
import type { CompiledPolicy } from './compiler.ts';
import { type Finding, RuleState } from './rule-state.ts';
import { type Batch, type Occurrence, occurrencesIn, Trace } from './trace.ts';
import type { TraceEvent } from './trace-event.ts';
import { type Parameters, parameters as parametersValue } from './value.ts';

export class PolicyMonitor {
  readonly #rules: readonly RuleState[];
  readonly #trace = new Trace();
  readonly #index: DomainIndex;
  readonly #input: Parameters;

  constructor(policy: CompiledPolicy, parameters: JsonObject = {}) {
    this.#rules = policy.rules.map((rule) => new RuleState(rule));
    this.#index = new DomainIndex(new Set(policy.rules.flatMap((rule) => [...rule.rangesOver])));
    this.#input = parametersValue(parameters);
  }

  /** What appending `events` would bring about, for each rule in order: its first violation, else its first open line. */
  decide(events: readonly TraceEvent[]): readonly Finding[] {
    const batch = this.#trace.prepare(events);
    const pending = this.#index.fork(batch);
    const worlds = { before: this.#world(this.#index), after: this.#world(pending) };
    return this.#rules.flatMap((state) => {
      const found: { first: Finding | null } = { first: null };
      state.examine(batch, worlds, (finding) => {
        if (found.first === null || finding.open === null) found.first = finding;
        return finding.open === null;
      });
      return found.first === null ? [] : [found.first];
    });
  }

  /** The events have happened. */
  append(events: readonly TraceEvent[]): void {
    const batch = this.#trace.prepare(events);
    this.#trace.commit(batch);
    this.#index.add(batch);
    const world = this.#world(this.#index);
    for (const state of this.#rules) state.append(batch, world);
  }

  /** Every violation and every open assignment over all that was appended, by rule, in the order of the trace. */
  findings(): readonly Finding[] {
    const found: Finding[] = [];
    const world = this.#world(this.#index);
    for (const state of this.#rules) {
      state.all(world, (finding) => {
        found.push(finding);
        return false;
      });
    }
    return found;
  }

  /** How many events the rules remember. */
  get size(): number {
    return this.#rules.reduce((sum, state) => sum + state.size, this.#index.size);
  }

  #world(index: DomainIndex): World {
    return { domain: (type) => index.of(type), input: this.#input, counted: 0 };
  }
}

/** The objects of the trace by type, for the types that predicates and quantifiers range over. */
class DomainIndex {
  readonly #types: ReadonlySet<string>;
  readonly #base: DomainIndex | null;
  readonly #occurrences = new Map<string, Occurrence[]>();

  constructor(types: ReadonlySet<string>, base: DomainIndex | null = null) {
    this.#types = types;
    this.#base = base;
  }

  fork(batch: Batch): DomainIndex {
    const fork = new DomainIndex(this.#types, this);
    fork.add(batch);
    return fork;
  }

  add(batch: Batch): void {
    for (const type of this.#types) {
      for (const entry of batch.entries) {
        const found = occurrencesIn(entry, type);
        if (found.length === 0) continue;
        const known = this.#occurrences.get(type);
        if (known === undefined) this.#occurrences.set(type, [...found]);
        else for (const occurrence of found) known.push(occurrence);
      }
    }
  }

  of(type: string): readonly (readonly Occurrence[])[] {
    const own = this.#occurrences.get(type) ?? [];
    return this.#base === null ? [own] : [...this.#base.of(type), own];
  }

  get size(): number {
    return [...this.#occurrences.values()].reduce((sum, list) => sum + list.length, 0);
  }
}
