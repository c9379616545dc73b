/** How long apps live: unused, used up, silent, warm. Processes are streams in memory; what each does stands in its test. */

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import {
  type AppId,
  type AppLimits,
  DEFAULT_APP_LIMITS,
  type Fault,
  type InstalledApp,
  isJsonObject,
  type JsonObject,
  ok,
  parseJson,
  type Result,
  type WarmLimits,
} from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { LineDecoder } from '@cordon/protocol';
import { app } from '@cordon/testkit/hub/app.ts';
import { AppHost } from '../../src/apps/app-host.ts';
import { NO_PINS } from '../../src/apps/app-pins.ts';
import { validatorOnDemand } from '../../src/apps/schema-validator.ts';
import type { ToolResult } from '../../src/context/app-tool.ts';
import { AppNetwork } from '../../src/egress/app-network.ts';
import { settled, stoppedTime, until } from '../fixture/time.ts';

/** One process of an app: what it was sent, and its end. */
class Process {
  readonly sent: string[] = [];
  readonly stdout = new PassThrough();
  readonly ended = Promise.withResolvers<string>();
  isStopped = false;
  answersPings = true;
  readonly #app: AppId;

  constructor(name: AppId) {
    this.#app = name;
  }

  end(reason: string): void {
    this.stdout.end();
    this.ended.resolve(reason);
  }

  say(message: JsonObject): void {
    this.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  receive({ id: number = null, method = null, params = {} }: JsonObject): void {
    const name = isJsonObject(params) ? params.name : null;
    this.sent.push(method === 'tools/call' ? `call ${name}` : String(method));
    if (number === null || this.isStopped) return;
    const answer = (result: JsonObject) => this.say({ id: number, result });
    if (method === 'initialize')
      return answer({
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: this.#app, version: '1' },
      });
    if (method === 'tools/list')
      return answer({
        tools: ['echo', 'wait', 'stop', 'crash', 'last'].map((tool) => ({
          name: tool,
          inputSchema: { type: 'object' },
        })),
      });
    if (method === 'ping' && !this.answersPings) return;
    if (method !== 'tools/call') return answer({});
    if (name === 'crash') return this.end('it ended with exit code 4');
    if (name === 'stop') this.isStopped = true;
    if (name === 'last') {
      answer({ content: [{ type: 'text', text: 'x'.repeat(256 * 1024) }] });
      this.stdout.end();
    }
    if (name === 'echo') answer({ content: [{ type: 'text', text: 'hello' }] });
  }
}

interface Options {
  readonly limits?: Partial<AppLimits>;
  readonly warm?: Partial<WarmLimits>;
  /** Apps whose start fails. */
  readonly broken?: readonly string[];
  readonly network?: AppNetwork;
}

function hostFor(t: TestContext, { limits = {}, warm = {}, broken = [], network }: Options = {}) {
  const processes: Process[] = [];
  const told: string[] = [];
  let now = 0;
  let call = { app: '', tool: '' };
  const host = new AppHost({
    launcher: {
      launch: async (installed) => {
        const started = new Process(installed.id);
        processes.push(started);
        if (broken.includes(installed.id)) started.end('it ended with exit code 1');
        const stdin = new PassThrough();
        const decoder = new LineDecoder({ lineBytes: 1 << 20 });
        stdin.on('data', (chunk: Buffer) => {
          const lines = decoder.push(chunk);
          for (const line of lines.ok ? lines.value : []) {
            const message = parseJson(line);
            if (message.ok && isJsonObject(message.value)) started.receive(message.value);
          }
        });
        return ok({
          stdin,
          stdout: started.stdout,
          layers: [],
          ended: started.ended.promise,
          stderrTail: () => '',
          kill: () => started.end('it was stopped by the hub'),
        });
      },
    },
    connect: () => Promise.reject(new Error('no app of these tests runs elsewhere')),
    networkOf: () => Promise.resolve(network ?? null),
    spend: () => ({ effect: 'tool-call', context: 'c', arguments: {}, callId: '1', ...call }) as never,
    validator: validatorOnDemand(),
    now: () => ++now,
    warm: { apps: 2, loops: 0, idleSeconds: 60, freeMiB: 0, ...warm },
    record: (of, body) => {
      if (body.kind === 'app.started') told.push(`started ${of}`);
      if (body.kind === 'app.stopped') told.push(`stopped ${of}: ${body.reason}`);
      if (body.kind === 'app.unavailable') told.push(`failed ${of}: ${body.fault.message}`);
    },
    pins: NO_PINS,
  });
  t.after(() => host.stop());
  const installed = (name: string): InstalledApp =>
    app(name, {}, { limits: { ...DEFAULT_APP_LIMITS, ...limits } }).installed;
  const run = (tool: string, name = 'mail'): Promise<Result<ToolResult, Fault>> => {
    call = { app: name, tool };
    return host.call(installed(name), {} as never, new AbortController().signal);
  };
  const warmed = (...names: string[]) => host.warm(names.map(installed));
  return { host, processes, told, installed, run, warmed };
}

/** Whether the first process has been asked to run the tool. */
function isAsked([first]: readonly Process[], tool: string): boolean {
  return first?.sent.includes(`call ${tool}`) === true;
}

test('an app that nobody uses is ended, and started anew when it is needed', async (t) => {
  const pass = stoppedTime(t);
  const { host, run, told, processes, installed } = hostFor(t, { limits: { idleSeconds: 0.1 } });
  assert.equal((await run('echo')).ok, true);
  await pass(90);
  assert.deepEqual(told, ['started mail']);
  await pass(10);
  assert.deepEqual(told, ['started mail', 'stopped mail: nobody used it for 0.1 s']);
  assert.equal(host.isUsed(installed('mail').id), false);
  assert.equal((await run('echo')).ok, true);
  assert.equal(processes.length, 2);
});

test('an app at work is not idle, however long its call takes', async (t) => {
  const pass = stoppedTime(t);
  const { run, told, processes } = hostFor(t, { limits: { idleSeconds: 0.05 } });
  const waiting = run('wait');
  await until(() => isAsked(processes, 'wait'));
  await pass(150);
  assert.deepEqual(told, ['started mail']);
  processes[0]?.end('the test is over');
  assert.equal((await waiting).ok, false);
});

test('a process whose life is over ends once its calls are done', async (t) => {
  const pass = stoppedTime(t);
  const { run, told, processes } = hostFor(t, { limits: { totalSeconds: 0.1 } });
  const waiting = run('wait');
  await until(() => isAsked(processes, 'wait'));
  await pass(200);
  assert.deepEqual(told, ['started mail'], 'it is waited for');
  processes[0]?.say({ id: 2, result: { content: [] } });
  assert.equal((await waiting).ok, true);
  await until(() => told.length === 2);
  assert.equal(told[1], 'stopped mail: it reached its limit of 0.1 s');
  assert.equal((await run('echo')).ok, true);
  assert.equal(processes.length, 2);
});

test('an app that is stopped during a call is noticed long before the call is too late', async (t) => {
  const pass = stoppedTime(t);
  const { run, told, processes } = hostFor(t, { limits: { silentSeconds: 0.1, callSeconds: 60 } });
  const stopping = run('stop');
  await until(() => isAsked(processes, 'stop'));
  await pass(200);
  const stopped = await stopping;
  assert.deepEqual(stopped.ok ? null : [stopped.fault.kind, stopped.fault.message], [
    'app-timeout',
    '`mail` gave no sign of life for 0.1 s during `stop` and was stopped',
  ]);
  await until(() => told.length === 2);
  assert.match(told[1] ?? '', /^stopped mail: .* no sign of life for 0.1 s/);
  assert.equal((await run('echo')).ok, true);
});

test('an app that is slow and answers pings is left its time', async (t) => {
  const pass = stoppedTime(t);
  const { run, processes } = hostFor(t, { limits: { silentSeconds: 0.1, callSeconds: 60 } });
  const waiting = run('wait');
  await until(() => isAsked(processes, 'wait'));
  await pass(300);
  const sent = processes[0]?.sent ?? [];
  assert.ok(sent.filter((method) => method === 'ping').length >= 2, sent.join());
  processes[0]?.say({ id: 2, result: { content: [{ type: 'text', text: 'at last' }] } });
  const answer = await waiting;
  assert.equal(answer.ok ? answer.value.text : answer.fault.message, 'at last');
});

/** An app whose one request waits for a person, until the test answers. */
function askingNetwork() {
  const answer = Promise.withResolvers<boolean>();
  const nothing = () => undefined;
  const door = { decide: () => answer.promise, onRefused: nothing, onClosed: nothing, onQuiet: nothing };
  const network = new AppNetwork({ app: app('mail', {}).installed, door, dialler: HERE });
  const request = {
    method: 'GET',
    host: 'example.org',
    site: 'example.org',
    port: 443,
    path: '/',
    bytes: 0,
  } as const;
  const late = new AbortController();
  return { network, answer: answer.resolve, late, ask: () => network.decide(request, late.signal) };
}

test('a call whose request waits for a person longer than a call may take goes on after a yes', async (t) => {
  const pass = stoppedTime(t);
  const { network, ask, answer } = askingNetwork();
  const { run, processes } = hostFor(t, { network, limits: { callSeconds: 1, silentSeconds: 0.4 } });
  const waiting = run('stop'); // and cannot answer pings meanwhile
  await until(() => isAsked(processes, 'stop'));
  const asked = ask();
  await pass(1_600);
  answer(true);
  assert.equal(await asked, true);
  processes[0]?.say({ id: 2, result: { content: [{ type: 'text', text: 'fetched' }] } });
  const result = await waiting;
  assert.equal(result.ok ? result.value.text : result.fault.message, 'fetched');
});

test('a call that is merely slow is ended, also when a person was asked before', async (t) => {
  const pass = stoppedTime(t);
  const { network, ask, answer } = askingNetwork();
  const { run, processes } = hostFor(t, { network, limits: { callSeconds: 0.2 } });
  const asked = ask();
  await pass(100);
  answer(true);
  await asked;
  const waiting = run('wait');
  await until(() => isAsked(processes, 'wait'));
  await pass(200);
  const slow = await waiting;
  assert.deepEqual(slow.ok ? null : [slow.fault.kind, slow.fault.message], [
    'app-timeout',
    '`mail` did not answer `wait` within 0.2 s and was stopped',
  ]);
});

test('an app is no longer kept waiting once its request was refused for want of an answer', async (t) => {
  const pass = stoppedTime(t);
  const { network, ask, late, answer } = askingNetwork();
  const asked = ask();
  assert.equal(network.isAsking, true);
  late.abort();
  assert.equal(network.isAsking, false);
  const waited = network.askingMs;
  await pass(20);
  assert.equal(network.askingMs, waited);
  answer(true);
  await asked;
  assert.equal(network.isAsking, false);
});

test('a message that is too long for the app fails the call and not the app', async (t) => {
  const { host, run, told, installed } = hostFor(t, { limits: { lineBytes: 1024 } });
  await run('echo');
  const long = await run('x'.repeat(2000));
  assert.deepEqual(long.ok ? null : long.fault.kind, 'budget-exceeded');
  assert.match(
    long.ok ? '' : long.fault.message,
    /was not called: the message would be longer than 1024 bytes$/,
  );
  assert.equal((await run('echo')).ok, true);
  assert.deepEqual(told, ['started mail']);
  assert.equal(host.isUsed(installed('mail').id), true);
});

test('an app that floods the hub while nobody asks is ended at once', async (t) => {
  const { run, told, processes } = hostFor(t, { limits: { messagesPerSecond: 1 } });
  await run('echo');
  for (let at = 0; at < 20; at++) processes[0]?.say({ method: 'notifications/message' });
  await until(() => told.length === 2);
  assert.equal(told[1], 'stopped mail: `mail` was stopped: it sends more than 1 messages a second');
  assert.equal((await run('echo')).ok, true);
});

test('a crash in a call tells how the process ended', async (t) => {
  const { run, told } = hostFor(t);
  const crashed = await run('crash');
  assert.equal(crashed.ok ? '' : crashed.fault.message, '`mail` ended during `crash`');
  await until(() => told.length === 2);
  assert.equal(told[1], 'stopped mail: it ended with exit code 4');
});

test('an app that closes its output behind a long answer is heard, and ended', async (t) => {
  const { run, told, processes } = hostFor(t);
  const last = await run('last');
  assert.equal(last.ok ? last.value.text.length : last.fault.message, 256 * 1024);
  await until(() => told.length === 2);
  assert.equal(told[1], 'stopped mail: it closed its standard output');
  assert.equal((await run('echo')).ok, true);
  assert.equal(processes.length, 2);
});

test('a warm app is greeted and unused; the first need of it takes the same process', async (t) => {
  const { host, run, told, processes, installed, warmed } = hostFor(t);
  await warmed('mail');
  const greeting = ['initialize', 'notifications/initialized', 'tools/list'];
  assert.deepEqual(processes[0]?.sent.slice(0, 3), greeting);
  // What every request runs through is run before the first call.
  await until(() => processes[0]?.sent.length === 6);
  assert.deepEqual(processes[0]?.sent.slice(3), ['ping', 'ping', 'ping']);
  assert.deepEqual(told, []);
  assert.equal(host.isUsed(installed('mail').id), false);
  const started = await host.start(installed('mail'));
  assert.equal(started.ok && started.value.tools.length, 5);
  assert.equal(host.isUsed(installed('mail').id), true);
  assert.equal((await run('echo')).ok, true);
  assert.deepEqual(told, ['started mail']);
  assert.equal(processes.length, 1);
});

test('an app that answers no ping while it waits is used like any other, and one that is needed is not pinged', async (t) => {
  const { host, run, told, processes, installed, warmed } = hostFor(t);
  await warmed('mail');
  const [waiting] = processes;
  assert.ok(waiting !== undefined);
  waiting.answersPings = false;
  assert.equal((await run('echo')).ok, true);
  assert.deepEqual(told, ['started mail']);
  await host.start(installed('rides'));
  await settled();
  assert.equal(processes[1]?.sent.includes('ping'), false);
});

test('an app that is still coming up when it is needed is not started twice', async (t) => {
  const { host, processes, installed } = hostFor(t);
  host.startAhead([installed('mail')]);
  assert.equal((await host.start(installed('mail'))).ok, true);
  assert.equal(processes.length, 1);
});

test('no more apps wait than the limit says: the one that waited longest makes way', async (t) => {
  const { host, processes, installed, warmed, told } = hostFor(t);
  await warmed('a', 'b', 'c');
  assert.equal(processes.length, 2);
  host.startAhead([installed('c')]);
  await until(() => processes.length === 3);
  assert.equal(await processes[0]?.ended.promise, 'it was stopped by the hub');
  await host.start(installed('b'));
  await host.start(installed('c'));
  assert.equal(processes.length, 3);
  assert.deepEqual(told, ['started b', 'started c']);
});

test('an app that broke while nobody needed it is not tried again until somebody does', async (t) => {
  const { host, processes, told, installed, warmed } = hostFor(t, { broken: ['mail'] });
  for (let times = 0; times < 3; times++) await warmed('mail');
  assert.equal(processes.length, 1);
  assert.deepEqual(told, []);
  assert.equal((await host.start(installed('mail'))).ok, false);
  assert.equal(processes.length, 2);
  assert.deepEqual(told, ['failed mail: `mail` could not be started: it ended with exit code 1']);
});

test('an app that crashes while it waits is not started in a loop', async (t) => {
  const { processes, told, run, warmed } = hostFor(t);
  await warmed('mail');
  processes[0]?.end('it ended with exit code 4');
  await settled();
  for (let times = 0; times < 3; times++) await warmed('mail');
  assert.equal(processes.length, 1);
  assert.equal((await run('echo')).ok, true);
  assert.deepEqual(told, ['started mail']);
});

test('a warm app that nobody needs is ended, and may be warmed again', async (t) => {
  const pass = stoppedTime(t);
  const { processes, told, warmed } = hostFor(t, { limits: { idleSeconds: 0.05 } });
  await warmed('mail');
  await pass(50);
  assert.equal(await processes[0]?.ended.promise, 'it was stopped by the hub');
  await warmed('mail');
  assert.equal(processes.length, 2);
  assert.deepEqual(told, []);
});

test('with no memory to spare nothing is warmed, and what is needed is started', async (t) => {
  const { processes, run, warmed } = hostFor(t, { warm: { freeMiB: Number.MAX_SAFE_INTEGER } });
  await warmed('mail');
  assert.equal(processes.length, 0);
  assert.equal((await run('echo')).ok, true);
});

test('the end of the session ends warm apps too, and what is still starting', async (t) => {
  const { host, processes, told, installed, warmed } = hostFor(t);
  await warmed('mail');
  host.startAhead([installed('drive')]);
  await host.stop();
  for (const process of processes) assert.equal(await process.ended.promise, 'it was stopped by the hub');
  assert.deepEqual(told, []);
  await warmed('mail');
  assert.equal((await host.start(installed('mail'))).ok, false);
});
