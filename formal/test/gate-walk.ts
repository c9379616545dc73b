/**
 * A walk through `gate.pml`, done by the real gate, permissions, monitor and store. The walk says when something begins, what
 * the user answers, what an effect comes to, and where the process is killed; the code does the rest, and each step of it
 * must be the walk's next. It is held up where the walk says so: between any two transactions.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  type Consent,
  type Event,
  type EventBody,
  type Fault,
  failed,
  fault,
  type Grant,
  HUB_LABEL,
  id,
  ok,
  type PermissionAnswer,
  type PermissionPrompt,
  type Proposal,
  type Result,
  type SessionId,
} from '@cordon/core';
import { unknownOutcomes } from '@cordon/hub/interruption';
import {
  type ConsentRequirement,
  Context,
  Gate,
  Permissions,
  Recorder,
  sessionGrants,
} from '@cordon/hub/parts';
import { ReferenceMonitor } from '@cordon/monitor';
import { loadPolicy } from '@cordon/policy';
import type { SessionJournal } from '@cordon/trace';
import { type GrantRecord, openStore, type Store } from '@cordon/trace';
import { describeStep, NONE, type Step, step } from '../src/label.ts';

/** The process is dead: whatever of the code still runs gets no further. */
class Killed extends Error {}

const DELIVERY = 0;
const UNDOABLE = 2;
const LASTING = 1;
const REPEATED = 250;
const DURATIONS = ['none', 'once', 'session', 'until', 'permanent'] as const;
const PERMISSIONS = ['not-needed', 'user', 'grant', 'denied'] as const;

/** Everything is denied from the moment at which this word is said. */
const POLICY = `
raise "not any more" if:
    (said: Message)
    said.content == "stop"
    (call: ToolCall)

raise "not any more" if:
    (said: Message)
    said.content == "stop"
    (output: ToolOutput)
`;

export interface Walked {
  readonly events: readonly Event[];
  readonly grants: readonly GrantRecord[];
}

/** Fails at the first step that the code does not take, or takes otherwise. Returns what the journal says in the end. */
export async function walkGate(walk: readonly Step[]): Promise<Walked> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-walk-'));
  const world = new World(folder, walk);
  try {
    return await world.run();
  } finally {
    world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What outlives the process: the folder, the walk and how far it has come, the user in another process. */
class World {
  readonly session: SessionId;
  readonly rows = new Map<number, Grant>();
  /** The class of each step of the query, as the walk proposes it. */
  readonly classes = new Map<number, number>();
  isForbidden = false;
  /** The first step that was another than the walk's. */
  failure: string | null = null;
  readonly #folder: string;
  readonly #walk: readonly Step[];
  readonly #elsewhere: Store;
  readonly #query = new AbortController();
  #at = 0;
  #life: Life;

  constructor(folder: string, walk: readonly Step[]) {
    this.#folder = folder;
    this.#walk = walk;
    this.#elsewhere = this.#open();
    const store = this.#open();
    this.session = store.sessions.create();
    append(store, this.session, { kind: 'session.started', isolation: 'spokes', model: 'none', notices: [] });
    this.#life = new Life(this, store, this.#query.signal, []);
  }

  close(): void {
    this.#life.close();
    this.#elsewhere.close();
  }

  async run(): Promise<Walked> {
    while (this.#at < this.#walk.length) {
      const before = this.#at;
      this.#begin(this.next);
      await setImmediate();
      await setImmediate();
      assert.equal(this.failure, null);
      assert.ok(this.#at > before, `the code does nothing at ${this.where}`);
    }
    const { journal } = this.#elsewhere;
    assert.equal(journal.verify(this.session).intact, true);
    return { events: journal.events(this.session), grants: this.#elsewhere.grants.list() };
  }

  get next(): Step {
    return this.#walk[this.#at] ?? step('END');
  }

  get where(): string {
    return `step ${this.#at}, ${describeStep(this.next)}`;
  }

  /** The code is about to do this: it must be the walk's next step, and the process must not be dead before it. */
  pass(taken: Step): void {
    this.catchUp();
    if (this.next.label === 'CRASHED') throw new Killed();
    // Kept, because the gate takes whatever is thrown at it for a fault and denies.
    this.failure ??= isSame(taken, this.next) ? null : `${this.where}: the code does ${describeStep(taken)}`;
    if (this.failure !== null) throw new Killed();
    this.#at++;
  }

  /** What others do just now: before the code looks, or goes on. */
  catchUp(): void {
    while (this.#isElsewhere(this.next)) this.#doElsewhere(this.next);
  }

  /** What the hub does after its next step. */
  get afterwards(): Step {
    return this.#walk.slice(this.#at + 1).find((one) => !this.#isElsewhere(one)) ?? step('END');
  }

  /** What the walk begins, and the code does not. */
  #begin(due: Step): void {
    const [slot, question] = due.values;
    if (this.#isElsewhere(due)) return this.#doElsewhere(due);
    switch (due.label) {
      case 'NEEDED': {
        this.#at++;
        const [, kind, k] = this.next.values;
        this.classes.set(k, kind);
        return this.#life.propose(slot, k, kind, question);
      }
      case 'ANSWERED':
        return this.#life.answer(slot, due, this.afterwards);
      case 'EXECUTED':
      case 'FAILED':
      case 'IN_DOUBT':
        return this.#life.end(slot, due.label);
      case 'GROWN':
        this.#at++;
        this.isForbidden = true;
        return this.#life.grow();
      case 'CRASHED':
        this.#at++;
        return this.#life.close();
      case 'DOUBTED':
      case 'RESUMED':
        return this.#resume();
      default:
        return assert.fail(`the code does not do ${this.where}`);
    }
  }

  #isElsewhere({ label }: Step): boolean {
    return label === 'REVOKED' || label === 'CANCELLED';
  }

  #doElsewhere({ label, values: [row] }: Step): void {
    this.#at++;
    if (label === 'CANCELLED') return this.#query.abort();
    const grant = this.rows.get(row) ?? assert.fail(`no grant ${row}`);
    this.#elsewhere.grants.revoke(grant.id);
  }

  /** As a session that goes on does: outcomes that nobody knows are said first. */
  #resume(): void {
    const store = this.#open();
    assert.ok(store.sessions.resume(this.session).ok);
    const past = store.journal.events(this.session);
    append(store, this.session, { kind: 'session.resumed', events: past.length });
    const told = unknownOutcomes(past).map(({ proposed, body }) => {
      append(store, this.session, body, proposed);
      return step('DOUBTED', stepOf(proposed), body.kind === 'tool-call.in-doubt' ? 1 : 0);
    });
    this.#life = new Life(this, store, this.#query.signal, store.journal.events(this.session));
    const expected: Step[] = [];
    for (this.catchUp(); this.next.label === 'DOUBTED'; this.#at++, this.catchUp()) {
      // What was delivered into a process died with it: nobody is told of that.
      if (this.classes.get(this.next.values[0]) !== DELIVERY) expected.push(this.next);
    }
    assert.deepEqual(
      told.map(describeStep).sort(),
      expected.map(describeStep).sort(),
      `before ${this.where}`,
    );
    assert.equal(this.next.label, 'RESUMED', this.where);
    this.#at++;
    if (this.isForbidden) this.#life.grow();
  }

  #open(): Store {
    const opened = openStore(this.#folder, () => 1_700_000_000_000);
    assert.ok(opened.ok);
    return opened.value;
  }
}

/** Outside of the walk: what a session says of itself. */
function append(store: Store, session: SessionId, body: EventBody, proposed: Event | null = null): void {
  const causes = proposed === null ? [] : [proposed.id];
  store.journal.append(session, proposed?.context ?? null, null, causes, HUB_LABEL, body);
}

function isSame(taken: Step, due: Step): boolean {
  return describeStep(taken) === describeStep(due);
}

interface Asked {
  readonly prompt: PermissionPrompt;
  readonly resolve: (answer: PermissionAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One process of the hub. */
class Life {
  readonly #world: World;
  readonly #store: Store;
  readonly #gate: Gate;
  readonly #monitor: ReferenceMonitor;
  readonly #contexts = new Map<number, Context>();
  readonly #slots = new Map<number, number>();
  /** By step of the query. */
  readonly #asked = new Map<number, Asked>();
  readonly #effects = new Map<number, (result: Result<string, Fault>) => void>();
  #isDead = false;
  #calls = 0;

  constructor(world: World, store: Store, signal: AbortSignal, past: readonly Event[]) {
    this.#world = world;
    this.#store = store;
    const policy = loadPolicy(POLICY);
    assert.ok(policy.ok, JSON.stringify(policy));
    this.#monitor = new ReferenceMonitor({ policy: policy.value });
    this.#calls = past.length;
    const journal = { ...store.journal.of(world.session), append: this.#record };
    const recorder = new Recorder(journal, this.#monitor, past);
    const permissions = new Permissions({
      session: world.session,
      consent: this.#consent(),
      grants: this.#grants(),
      prompts: store.prompts,
      // Nobody looks whether others have answered: here all answers come from the walk.
      pause: () => new Promise(() => undefined),
      recorder,
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      signal: () => signal,
      identityOf: (app) => `what ${app} is`,
    });
    this.#gate = new Gate({ monitor: this.#monitor, permissions, recorder, now: () => 0 });
  }

  close(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#store.close();
  }

  grow(): void {
    const context = this.#contextOf(0);
    this.#monitor.record(
      { kind: 'user.message', context: context.id, text: 'stop' },
      { event: id(`grown ${++this.#calls}`), app: null, causes: [] },
    );
  }

  propose(slot: number, k: number, kind: number, question: number): void {
    for (const [other, its] of this.#slots) if (its === slot) this.#slots.delete(other);
    this.#slots.set(k, slot);
    const context = this.#contextOf(k);
    const requirement = question === NONE ? null : requirementOf(question, k);
    void this.#gate
      .carryOut(
        context,
        proposalOf(context, k, kind, ++this.#calls),
        { causes: [], label: HUB_LABEL, requirement },
        (allowance) => {
          this.#pass(step('BEGUN', slot));
          this.#gate.spend(allowance);
          return new Promise<Result<string, Fault>>((resolve) => this.#effects.set(k, resolve));
        },
      )
      .catch((error: unknown) => {
        // The walk has ended this process, and everything in it fails.
        if (!(error instanceof Killed) && !this.#isDead) throw error;
      });
  }

  answer(slot: number, { values: [, , allow, span] }: Step, then: Step): void {
    const k = [...this.#slots].find(([, one]) => one === slot)?.[0] ?? NONE;
    const asked = this.#asked.get(k) ?? assert.fail(`nothing was asked at ${this.#world.where}`);
    this.#asked.delete(k);
    const duration = DURATIONS[span];
    // Deciding fails where the surface that asks is broken; else the user said no.
    const isBroken = then.label === 'DECIDED' && then.values[0] === slot && then.values[2] === 0;
    if (allow === 0 && isBroken) return asked.reject(new Error('the terminal is gone'));
    if (allow === 0) return asked.resolve({ allow: false, reason: 'user' });
    assert.ok(duration === 'once' || duration === 'session' || duration === 'permanent');
    asked.resolve({ allow: true, duration });
  }

  end(slot: number, how: string): void {
    const k = [...this.#slots].find(([, one]) => one === slot)?.[0] ?? NONE;
    const resolve = this.#effects.get(k) ?? assert.fail(`nothing is under way at ${this.#world.where}`);
    this.#effects.delete(k);
    const broken = fault('app-unavailable', 'it broke');
    if (how === 'EXECUTED') resolve(ok('done'));
    else resolve(failed(how === 'FAILED' ? broken : { ...broken, outcome: 'unknown' }));
  }

  #pass(taken: Step): void {
    if (this.#isDead) throw new Killed();
    this.#world.pass(taken);
  }

  /** Killed between two events of one transaction, it leaves neither: what was only proposed is as if it had not been. */
  readonly #record: SessionJournal['append'] = (entries) => {
    for (const { context, body } of entries) {
      this.#world.catchUp();
      this.#pass(this.#stepOf(body, Number(/\d+$/.exec(context ?? '')?.[0] ?? NONE)));
    }
    return this.#store.journal.appendAll(this.#world.session, entries);
  };

  /** The word of the model for an event; `k`: the step of the query in whose context it arises. */
  #stepOf(body: EventBody, k: number): Step {
    const slot = this.#slots.get(k) ?? NONE;
    const phase = body.kind.split('.')[1];
    if (phase === 'proposed') return step('PROPOSED', slot, this.#world.classes.get(k) ?? NONE, k, k);
    if ('verdict' in body) {
      return step('DECIDED', slot, body.verdict === 'allow' ? 1 : 0, PERMISSIONS.indexOf(body.permission));
    }
    switch (body.kind) {
      case 'permission.asked':
        return step('ASKED', k, questionOf(body.prompt));
      case 'permission.answered': {
        const question = this.#world.next.values[1];
        const span = body.duration === null ? 0 : DURATIONS.indexOf(body.duration);
        return step('ANSWERED', slot, question, body.allow ? 1 : 0, span);
      }
      case 'grant.given': {
        const row = this.#rowOf(body.grant);
        return step('GIVEN', k, row, DURATIONS.indexOf(body.duration), this.#world.next.values[3]);
      }
      case 'grant.used':
        return step('USED', k, this.#rowOf(body.grant));
      case 'tool-call.in-doubt':
        return step('IN_DOUBT', slot);
      default:
        return step(phase === 'executed' ? 'EXECUTED' : 'FAILED', slot);
    }
  }

  #rowOf(grant: Grant['id']): number {
    return [...this.#world.rows].findLast(([, { id }]) => id === grant)?.[0] ?? NONE;
  }

  #consent(): Consent {
    return {
      permission: (prompt) =>
        new Promise((resolve, reject) => {
          this.#asked.set(Number(/\d+$/.exec(prompt.context)?.[0]), { prompt, resolve, reject });
        }),
      choose: () => assert.fail('no app is chosen in a walk'),
    };
  }

  #grants(): ReturnType<typeof sessionGrants> {
    const real = sessionGrants(this.#store, this.#world.session);
    return {
      ...real,
      find: (subject, digest) => {
        this.#world.catchUp();
        return real.find(subject, digest);
      },
      give: (gift) => {
        this.#world.catchUp();
        const [slot, row, , question] = this.#world.next.values;
        this.#pass(step('STORED', slot, row, DURATIONS.indexOf(gift.duration), question));
        const grant = real.give(gift);
        if (grant !== null) this.#world.rows.set(row, grant);
        return grant;
      },
      consume: (grant) => {
        this.#world.catchUp();
        const [slot, , isLive] = this.#world.next.values;
        this.#pass(step('SPENT', slot, this.#rowOf(grant.id), isLive));
        const isSpent = real.consume(grant);
        assert.equal(isSpent ? 1 : 0, isLive, `before ${this.#world.where}`);
        return isSpent;
      },
    };
  }

  #contextOf(k: number): Context {
    const known = this.#contexts.get(k);
    if (known !== undefined) return known;
    const context = new Context({
      id: id(`step#${k}`),
      kind: 'standard',
      app: id('mail'),
      model: 'none',
      depth: 0,
      tools: new Map(),
    });
    this.#contexts.set(k, context);
    return context;
  }
}

function stepOf(proposed: Event): number {
  return Number(/\d+$/.exec(proposed.context ?? '')?.[0] ?? NONE);
}

function proposalOf(context: Context, k: number, kind: number, call: number): Proposal {
  const base = { context: context.id, app: id<'app'>('mail'), tool: `tool-${k}`, callId: `call-${call}` };
  if (kind === DELIVERY) {
    return { ...base, effect: 'tool-output', text: '', structured: null, isError: false, label: HUB_LABEL };
  }
  return { ...base, effect: 'tool-call', arguments: {}, irreversible: kind === UNDOABLE };
}

/** What the permission model asks about; that a call is a repetition the gate finds out by itself. */
function requirementOf(question: number, k: number): ConsentRequirement {
  const isLasting = question === LASTING;
  return {
    subject: {
      scope: isLasting ? 'exchange' : 'irreversible-action',
      from: null,
      to: id('mail'),
      what: `tool-${k}`,
    },
    question: 'Let it?',
    data: [{ name: 'step', value: `${k}` }],
    expected: true,
    warnings: [],
    covers: { same: null, words: 'the same', mayLast: true },
    flows: [],
  };
}

function questionOf({ durations, subject }: Pick<PermissionPrompt, 'durations' | 'subject'>): number {
  if (durations.length === 1) return REPEATED;
  return subject.scope === 'exchange' ? LASTING : 128;
}
