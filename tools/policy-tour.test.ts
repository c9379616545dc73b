/**
 * The ten rules of docs/policy/tour.md as they stand on the page: each against an effect that it stops and a twin that
 * it lets pass.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type AppRequest,
  type AppResponse,
  type DataRelease,
  type Egress,
  HUB_LABEL,
  id,
  type JsonObject,
  type Label,
  type Proposal,
  type ToolCall,
  type ToolOutput,
  USER_LABEL,
} from '@cordon/core';
import { ReferenceMonitor } from '@cordon/monitor';
import { loadPolicy } from '@cordon/policy';
import { ROOT } from './imports.ts';

const PAGE = readFileSync(join(ROOT, 'docs/policy/tour.md'), 'utf8');
const RULES = new Map(
  [...PAGE.matchAll(/^```gr\n(.*?)^```$/gms)].map(([, text = '']) => [nameOf(text), text] as const),
);

function nameOf(text: string): string {
  return /^rule ([a-z-]+):$/m.exec(text)?.[1] ?? '';
}

type Step = Proposal | { readonly said: string; readonly context: string };

/** Lets all steps but the last happen and answers what the rule says to the last. */
function verdict(rule: string, steps: readonly Step[]): string {
  const policy = loadPolicy(RULES.get(rule) ?? `no rule ${rule}`);
  assert.ok(policy.ok, JSON.stringify(policy));
  assert.deepEqual(policy.value.warnings, []);
  const monitor = new ReferenceMonitor({ policy: policy.value });
  let told = '';
  for (const [index, step] of steps.entries()) {
    // Each step carries on the one before it only where both are of one context, or `causes` says so.
    const frame = { event: id<'event'>(`e${index}`), app: null, causes: causesOf(steps, index) };
    if ('said' in step) {
      monitor.record({ kind: 'user.message', context: id(step.context), text: step.said }, frame);
      continue;
    }
    const decision = monitor.decide(step, frame);
    told = decision.verdict === 'allow' ? 'allow' : `${decision.verdict} ${decision.reasons[0]?.rule}`;
    if (index < steps.length - 1)
      assert.ok(monitor.admit(monitor.decide(step, frame), 'not-needed').allowed, told);
  }
  return told;
}

/** As in the hub: the call that serves a request carries on the request, the response carries on the call. */
function causesOf(steps: readonly Step[], index: number) {
  const step = steps[index];
  const before = steps[index - 1];
  const isServing = before !== undefined && 'effect' in before && before.effect === 'app-request';
  const isResponse = step !== undefined && 'effect' in step && step.effect === 'app-response';
  return isServing || isResponse ? [id<'event'>(`e${index - 1}`)] : [];
}

let calls = 0;

function call(tool: string, args: JsonObject = {}, context = 'mail#1', irreversible = false): ToolCall {
  return {
    effect: 'tool-call',
    context: id(context),
    app: id('some-app'),
    tool,
    arguments: args,
    callId: `c${++calls}`,
    irreversible,
  };
}

function output(text: string, context = 'mail#1', label: Label = USER_LABEL): ToolOutput {
  return {
    effect: 'tool-output',
    context: id(context),
    app: id('some-app'),
    tool: 'read',
    callId: `c${calls}`,
    text,
    structured: null,
    isError: false,
    label,
  };
}

const exchange = {
  context: id<'context'>('mail#1'),
  peer: id<'ephemeral'>('peer-1'),
  functionality: id<'functionality'>('document-read'),
  callId: 'r1',
};
const request: AppRequest = {
  ...exchange,
  effect: 'app-request',
  from: id('mail'),
  to: id('drive'),
  message: {},
};
const response: AppResponse = {
  ...exchange,
  effect: 'app-response',
  from: id('drive'),
  to: id('mail'),
  message: {},
  label: HUB_LABEL,
};

function release(to: string, ...names: readonly string[]): DataRelease {
  const items = names.map((name) => ({ name, value: 'value', origin: null, label: USER_LABEL }));
  return { effect: 'data-release', context: id('app#1'), to: id(to), items };
}

function egress(app: string, host: string): Egress {
  return {
    effect: 'egress',
    context: id('app#1'),
    app: id(app),
    method: 'CONNECT',
    host,
    port: 443,
    path: null,
    bytes: null,
  };
}

const UNTRUSTED = { integrity: 'untrusted', confidentiality: 'private' } as const;
const mail = () => call('send_mail', { to: 'ada@example.org' });

interface Twins {
  readonly rule: string;
  readonly stops: readonly (readonly Step[])[];
  readonly passes: readonly (readonly Step[])[];
  readonly verdict?: 'ask';
}

const TOUR: readonly Twins[] = [
  {
    rule: 'nothing-is-deleted',
    stops: [[call('delete_mail')], [call('delete_file')]],
    passes: [[call('undelete_mail')], [call('read_mail')]],
  },
  {
    rule: 'mail-stays-inside',
    stops: [
      [call('send_mail', { to: 'trucy@email.com' })],
      [call('send_mail', { to: 'ada@example.org.evil.com' })],
      [call('send_mail', { to: 'a@evil.com, ada@example.org' })],
      [call('send_mail')],
    ],
    passes: [[mail()], [call('read_mail')]],
  },
  {
    rule: 'no-mail-after-documents',
    stops: [
      [call('read_document'), output('text'), mail()],
      [request, call('read_document', {}, 'drive#2'), output('text', 'drive#2'), response, mail()],
    ],
    passes: [
      [call('search_documents'), mail()],
      [call('read_document', {}, 'drive#2'), mail()],
    ],
  },
  {
    rule: 'large-payments',
    stops: [[call('pay', { amount: 100.5 })]],
    passes: [[call('pay', { amount: 100 })]],
    verdict: 'ask',
  },
  {
    rule: 'no-keys-in-arguments',
    stops: [[call('post', { to: 'x', parts: [{ text: 'key: sk-abcdefghij0123456789' }] })]],
    passes: [[call('post', { to: 'x', parts: [{ text: 'key: sk-abc' }] })]],
  },
  {
    rule: 'nothing-final-after-foreign-text',
    stops: [[call('read'), output('text', 'mail#1', UNTRUSTED), call('book', {}, 'mail#1', true)]],
    passes: [
      [call('read'), output('text'), call('book', {}, 'mail#1', true)],
      [call('read'), output('text', 'mail#1', UNTRUSTED), call('book')],
    ],
  },
  {
    rule: 'delete-only-when-asked',
    stops: [
      [{ said: 'summarise my newest mail', context: 'mail#1' }, call('delete_mail')],
      [{ said: 'delete my newest mail', context: 'other#2' }, call('delete_mail')],
    ],
    passes: [[{ said: 'Delete my newest mail', context: 'mail#1' }, call('delete_mail')]],
  },
  {
    rule: 'three-mails-a-session',
    stops: [[mail(), mail(), mail(), mail()]],
    passes: [
      [mail(), mail(), mail()],
      [mail(), mail(), mail(), call('read_mail')],
    ],
  },
  {
    rule: 'symptoms-stay-with-health',
    stops: [[release('travel-mate', 'name', 'symptoms')]],
    passes: [[release('health-companion', 'name', 'symptoms')], [release('travel-mate', 'name')]],
  },
  {
    rule: 'notes-sync-with-one-host',
    stops: [[egress('notes', 'www.example.org')]],
    passes: [[egress('notes', 'sync.example.org')], [egress('mail', 'www.example.org')]],
  },
];

test('the page has these ten rules', () => {
  assert.deepEqual(
    [...RULES.keys()],
    TOUR.map(({ rule }) => rule),
  );
});

for (const { rule, stops, passes, verdict: how = 'deny' } of TOUR) {
  test(`${rule} stops what it is for`, () => {
    assert.deepEqual(
      stops.map((steps) => verdict(rule, steps)),
      stops.map(() => `${how} ${rule}`),
    );
  });
  test(`${rule} lets the twin pass`, () => {
    assert.deepEqual(
      passes.map((steps) => verdict(rule, steps)),
      passes.map(() => 'allow'),
    );
  });
}
