/**
 * What must hold of a session that was ended at any step and gone on with, judged from its journal and from what its apps
 * did to the world. Nothing here uses the code that it judges.
 */
import assert from 'node:assert/strict';
import type { Event } from '@cordon/core';
import { keepJournal } from '@cordon/testkit/kept-journal.ts';
import type { Store } from '@cordon/trace';
import { assertMediated } from '../fixture/mediation.ts';
import type { Effect } from './rig.ts';
import type { InstallSpec } from './scenario.ts';

type Call = Extract<Event, { kind: 'tool-call.proposed' }>;

/** Calls that cannot be undone and were allowed, of which a journal says nothing more. */
function withoutOutcome(events: readonly Event[]): readonly Call[] {
  const kinds = new Map<string, Set<string>>();
  for (const { kind, causes } of events) {
    const known = kinds.get(causes[0] ?? '') ?? new Set();
    kinds.set(causes[0] ?? '', known.add(kind));
  }
  const isAllowed = (call: Call) =>
    events.some((event) => 'verdict' in event && event.verdict === 'allow' && event.causes[0] === call.id);
  const ends = ['tool-call.executed', 'tool-call.failed', 'tool-call.in-doubt'];
  return events.filter(
    (event): event is Call =>
      event.kind === 'tool-call.proposed' &&
      event.irreversible &&
      isAllowed(event) &&
      !ends.some((kind) => kinds.get(event.id)?.has(kind)),
  );
}

/** A doubt is told exactly where the journal had no outcome, and before anything else happens. */
export function assertDoubts(before: readonly Event[], after: readonly Event[]): void {
  const told = callsInDoubt(after.slice(before.length));
  assert.deepEqual(
    told,
    withoutOutcome(before).map(({ id }) => id),
  );
}

function callsInDoubt(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'tool-call.in-doubt' ? (event.causes[0] ?? []) : []));
}

/** Nothing that was acknowledged is lost, and the chain is whole. */
export function assertKept(store: Store, before: readonly Event[]): void {
  const [session] = before;
  assert.ok(session !== undefined);
  assert.deepEqual(store.journal.events(session.session).slice(0, before.length), before);
  assert.equal(store.journal.verify(session.session).intact, true);
}

/** Numbers of the calls of which a question said that they would be repetitions, and that were allowed all the same. */
function allowedRepetitions(events: readonly Event[]): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const event of events) {
    if (event.kind !== 'permission.asked') continue;
    const isDoubt = event.prompt.warnings.some((warning) =>
      /made before|carried out in this query/.test(warning),
    );
    const isAllowed = events.some(
      (answer) => answer.kind === 'permission.answered' && answer.prompt === event.id && answer.allow,
    );
    const n = Number(/"n":(\d+)/.exec(event.prompt.data[0]?.value ?? '')?.[1]);
    if (isDoubt && isAllowed) times.set(n, (times.get(n) ?? 0) + 1);
  }
  return times;
}

function numberOf({ arguments: args }: Call): number {
  return Number(args.n);
}

/** `effects`: everything that the apps ever did. */
export function assertSound(events: readonly Event[], effects: readonly Effect[]): void {
  keepJournal(events, []);
  assertMediated(events);
  const calls = events.filter((event): event is Call => event.kind === 'tool-call.proposed');
  const repeated = allowedRepetitions(events);
  for (const { n } of effects) {
    const tools = new Set(effects.filter((effect) => effect.n === n).map(({ tool }) => tool));
    assert.equal(tools.size, 1, `call ${n} reached ${[...tools].join(' and ')}`);
  }
  const done = (n: number) => effects.filter((effect) => effect.n === n).length;
  const promptsOf = promptsBehind(events);
  for (const call of calls) {
    const n = numberOf(call);
    const executed = calls.filter(
      (other) =>
        numberOf(other) === n &&
        events.some((event) => event.kind === 'tool-call.executed' && event.causes[0] === other.id),
    );
    // A step that is finished is not repeated. Where a model was asked something else, a call that can be undone is another step.
    const finished = executed.filter(
      (other) => call.irreversible || promptsOf(other.id) === promptsOf(call.id),
    ).length;
    assert.ok(finished <= 1 + (repeated.get(n) ?? 0), `call ${n} was finished ${finished} times`);
    if (call.irreversible) {
      assert.ok(done(n) <= 1 + (repeated.get(n) ?? 0), `call ${n} had its effect ${done(n)} times`);
    }
    const isKnownUndone =
      calls.every((other) => numberOf(other) !== n || other === call) &&
      events.some((event) => event.kind === 'tool-call.failed' && event.causes[0] === call.id);
    if (call.irreversible && isKnownUndone) assert.equal(done(n), 0, `call ${n} failed and had its effect`);
    assert.ok(done(n) >= executed.length, `call ${n} is recorded and never happened`);
  }
  assertGrantsSpentOnce(events);
}

/** By an event: all prompts that led to it, so that equal ones are of the same step (decision 19). */
function promptsBehind(events: readonly Event[]): (event: string) => string {
  const known = new Map(events.map((event) => [event.id as string, event]));
  return (of) => {
    const prompts: string[] = [];
    for (let event = known.get(of); event !== undefined; event = known.get(event.causes[0] ?? ''))
      if (event.kind === 'model-call.proposed') prompts.push(event.digest);
    return prompts.join();
  };
}

/** What the user stated is kept, and no message is learnt from twice. `isWhole`: the model that looks for facts never failed. */
export function assertLearnt(store: Store, events: readonly Event[], isWhole: boolean): void {
  const asked = events.filter(({ kind }) => kind === 'user.message').length;
  const learning = new Set(
    events.flatMap((event) =>
      event.kind === 'context.created' && event.of === 'facts' ? event.context : [],
    ),
  );
  const learnt = events.filter(
    (event) => event.kind === 'context.ended' && event.reason !== 'stopped' && learning.has(event.context),
  );
  assert.equal(learnt.length, asked);
  const facts = store.memory({ kind: 'system' }).facts();
  const valuesOf = (wanted: string) => facts.flatMap(({ name, value }) => (name === wanted ? value : []));
  assert.ok(valuesOf('city').includes(`Q${asked - 1}`), 'a fact that patterns find is lost');
  if (isWhole) assert.ok(valuesOf('drink').includes('tea'), 'a fact that a model finds is lost');
}

/** A permission for once leads to one decision at most. */
function assertGrantsSpentOnce(events: readonly Event[]): void {
  const once = events.flatMap((event) =>
    event.kind === 'grant.given' && event.duration === 'once' ? [event.grant] : [],
  );
  const used = events.flatMap((event) => (event.kind === 'grant.used' ? [event.grant] : []));
  assert.equal(new Set(once).size, once.length);
  for (const grant of once) assert.ok(used.filter((other) => other === grant).length <= 1);
  const byUser = events.filter(
    (event) => 'verdict' in event && event.verdict === 'allow' && event.permission === 'user',
  );
  const given = events.filter(({ kind }) => kind === 'grant.given');
  assert.ok(byUser.length <= given.length, 'a decision by a permission that nobody gave');
}

/**
 * An app is fetched, reviewed and installed once, and only with a yes, which is asked for once a query; no plan is made
 * twice. `lines`: what was done to install apps.
 */
export function assertInstalledOnce(
  { agrees, failsFirst }: InstallSpec,
  events: readonly Event[],
  lines: readonly string[],
): void {
  const questions = events.flatMap((event) =>
    event.kind === 'choice.asked' && event.installs ? [event] : [],
  );
  const answers = events.flatMap((event) =>
    event.kind === 'choice.answered' && questions.some(({ id }) => event.causes[0] === id) ? [event] : [],
  );
  const queryOf = (at: number) => events.slice(0, at).filter(({ kind }) => kind === 'user.message').length;
  const answered = answers.map((event) => {
    const question = questions.find(({ id }) => event.causes[0] === id);
    return `${queryOf(events.indexOf(event))} ${question?.choices.join()}`;
  });
  assert.deepEqual([...new Set(answered)], answered, 'asked again what was answered');
  const chosen = answers.flatMap(({ choice }) => choice ?? []);
  const installed = events.flatMap(({ kind, app }) =>
    kind === 'app.installed' && app !== null ? [app] : [],
  );
  assert.deepEqual([...new Set(installed)], installed, 'installed twice');
  const done = (step: string) => lines.filter((line) => line.startsWith(`${step} `));
  for (const step of ['fetch', 'review']) assert.deepEqual([...new Set(done(step))], done(step));
  if (!agrees) assert.deepEqual([chosen, installed, lines], [[], [], []]);
  if (!failsFirst) assert.deepEqual(installed, chosen, 'chosen and not installed');
  for (const app of installed) assert.ok(lines.includes(`keep ${app}`));
  assertPlannedOnce(events);
}

/** What a planner answered once is not asked again in the same query. */
function assertPlannedOnce(events: readonly Event[]): void {
  let asked = new Set<string>();
  const planners = new Set(
    events.flatMap((event) =>
      event.kind === 'context.created' && event.of === 'planner' ? event.context : [],
    ),
  );
  const said = new Set(events.flatMap((event) => (event.kind === 'model.message' ? event.causes : [])));
  for (const event of events) {
    if (event.kind === 'user.message') asked = new Set();
    if (event.kind !== 'model-call.proposed' || !planners.has(event.context) || !said.has(event.id)) continue;
    assert.ok(!asked.has(event.digest), 'a planner is asked again');
    asked.add(event.digest);
  }
}
