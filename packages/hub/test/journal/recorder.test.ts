/** What the recorder holds back until the next event, and in which order everything gets into the journal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, type EventId, HUB_LABEL, id, type ToolCall } from '@cordon/core';
import { ReferenceMonitor } from '@cordon/monitor';
import { emptyPolicy } from '@cordon/policy';
import { app } from '@cordon/testkit/hub/app.ts';
import type { EventDraft } from '@cordon/trace';
import { Context } from '../../src/context/context.ts';
import { Recorder } from '../../src/journal/recorder.ts';
import { silent } from '../fixture/consent.ts';
import { call, plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const CONTEXT = new Context({
  id: id('mail#1'),
  kind: 'standard',
  app: id('mail'),
  model: 'none',
  depth: 0,
  tools: new Map(),
});
const CALL: ToolCall = {
  effect: 'tool-call',
  context: CONTEXT.id,
  app: id('mail'),
  tool: 'send',
  arguments: {},
  callId: 'call-1',
  irreversible: true,
};
const STOPPED = { kind: 'app.stopped', reason: 'it ended' } as const;
const STARTED = { kind: 'app.started', milliseconds: 1, layers: [] } as const;

/** A journal that keeps what was written in each transaction, and takes nothing while it is `full`. */
class Transactions {
  readonly all: (readonly string[])[] = [];
  isFull = false;
  /** Told of what was written, as a listener of the journal is. */
  told: () => void = () => undefined;
  #events = 0;

  newId = (): EventId => id(`event-${++this.#events}`);

  append = (drafts: readonly EventDraft[]): readonly Event[] => {
    if (this.isFull) throw new Error('the disk is full');
    this.all.push(drafts.map(({ body }) => body.kind));
    this.told();
    const frame = { session: id('session'), sequence: 0, time: 0 };
    return drafts.map(
      (draft) => ({ ...frame, ...draft, ...draft.body, id: draft.id ?? this.newId() }) as Event,
    );
  };
}

function propose(recorder: Recorder) {
  return recorder.propose(CONTEXT, CALL, { label: HUB_LABEL }, () => true);
}

test('a proposal is written before what comes next, in one transaction with it, and under the id that was told', () => {
  const journal = new Transactions();
  const recorder = new Recorder(journal, new ReferenceMonitor({ policy: emptyPolicy() }));
  const { event } = propose(recorder);
  assert.deepEqual([event, journal.all], ['event-1', []]);
  recorder.record(null, STARTED);
  recorder.record(null, STOPPED);
  assert.deepEqual(journal.all, [['tool-call.proposed', 'app.started'], ['app.stopped']]);
});

test('what was held can be written by itself, once', () => {
  const journal = new Transactions();
  const recorder = new Recorder(journal, new ReferenceMonitor({ policy: emptyPolicy() }));
  propose(recorder);
  recorder.writeHeld();
  recorder.writeHeld();
  assert.deepEqual(journal.all, [['tool-call.proposed']]);
});

test('what the journal did not take is written before whatever it takes next', () => {
  const journal = new Transactions();
  const recorder = new Recorder(journal, new ReferenceMonitor({ policy: emptyPolicy() }));
  propose(recorder);
  journal.isFull = true;
  assert.throws(() => recorder.record(null, STARTED), /the disk is full/);
  journal.isFull = false;
  recorder.record(null, STOPPED);
  assert.deepEqual(journal.all, [['tool-call.proposed', 'app.stopped']]);
});

test('who is told of an event and records another does not write again what was held', () => {
  const journal = new Transactions();
  const recorder = new Recorder(journal, new ReferenceMonitor({ policy: emptyPolicy() }));
  propose(recorder);
  journal.told = () => {
    journal.told = () => undefined;
    recorder.record(null, STOPPED);
  };
  recorder.record(null, STARTED);
  assert.deepEqual(journal.all, [['tool-call.proposed', 'app.started'], ['app.stopped']]);
});

test('what is asked about is in the journal when it is asked', async (t) => {
  const mail = app('mail', { send: 'sent' });
  const rule = 'ask "may mail be sent?" if:\n    (call: ToolCall)\n    call is tool:send\n';
  const found: string[][] = [];
  const stage = stageFor(t, {
    apps: [mail],
    script: { planner: [plan([{ app: 'mail', uses: ['send'] }])], mail: [[call('send')], 'done'] },
    policy: rule,
    user: (prompt) => {
      const kinds = stage.allEvents().map(({ kind }) => kind);
      found.push(kinds.filter((kind) => kind.startsWith('tool-call.') || kind.startsWith('permission.')));
      return silent()(prompt);
    },
  });
  await stage.ask('send it');
  assert.deepEqual(found, [['tool-call.proposed', 'permission.asked']]);
});

test('a call and its output are three transactions, of which each is whole in the journal', async (t) => {
  const written: string[][] = [];
  const stage = stageFor(t, {
    apps: [app('mail', { read: 'hello' })],
    script: { planner: [plan([{ app: 'mail', uses: ['read'] }])], mail: [[call('read')], 'done'] },
  });
  const { journal } = stage.store;
  const appendAll = journal.appendAll.bind(journal);
  journal.appendAll = (session, drafts) => {
    const kinds = drafts.map(({ body }) => body.kind).filter((kind) => kind.startsWith('tool-'));
    if (kinds.length > 0) written.push(kinds);
    return appendAll(session, drafts);
  };
  await stage.ask('read it');
  assert.deepEqual(written, [
    ['tool-call.proposed', 'tool-call.decided'],
    ['tool-call.executed'],
    ['tool-output.proposed', 'tool-output.decided', 'tool-output.executed'],
  ]);
});
