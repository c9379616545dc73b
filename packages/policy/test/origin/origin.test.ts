/** Origins in a monitor that has not admitted yet, and where what was seen is more than can be looked at. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@cordon/core';
import { ExplainingMonitor } from '@cordon/policy-tools';
import { loadPolicy, type TraceEvent } from '../../src/index.ts';

function monitorOf(text: string): ExplainingMonitor {
  const policy = loadPolicy(text);
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  return new ExplainingMonitor(policy.value);
}

const NOT_YOURS = 'raise "not yours" if:\n    (c: ToolCall)\n    not from_user(c.arguments.x)\n';

const said = (content: string): TraceEvent => ({ type: 'Message', role: 'user', content, toolCalls: [] });
const read = (content: string): TraceEvent => ({ type: 'ToolOutput', role: 'tool', callId: null, content });
const send = (args: JsonObject): TraceEvent => ({
  ...{ type: 'ToolCall', callId: null, kind: 'function', name: 'send' },
  arguments: args,
});

test('what is only asked about is no source afterwards', () => {
  const monitor = monitorOf(NOT_YOURS);
  assert.equal(monitor.decide([said('to bob@x.org'), send({ x: 'bob@x.org' })]).verdict, 'allow');
  assert.equal(monitor.decide([send({ x: 'bob@x.org' })]).verdict, 'deny');
});

test('what was admitted is a source, and what was refused is none', () => {
  const monitor = monitorOf(NOT_YOURS);
  assert.equal(monitor.admit([said('to eve@y.org'), send({ x: 'bob@x.org' })], 'not-needed').verdict, 'deny');
  assert.equal(monitor.decide([send({ x: 'eve@y.org' })]).verdict, 'deny');
  assert.equal(monitor.admit([said('to eve@y.org')], 'not-needed').verdict, 'allow');
  assert.equal(monitor.decide([send({ x: 'eve@y.org' })]).verdict, 'allow');
});

test('a user who writes an address after a thousand outputs with it is still a source', () => {
  const monitor = monitorOf(NOT_YOURS);
  for (let index = 0; index < 1_000; index++) monitor.append([read(`${index}: bob@x.org`)]);
  assert.equal(monitor.decide([send({ x: 'bob@x.org' })]).verdict, 'deny');
  monitor.append([said('to bob@x.org')]);
  assert.equal(monitor.decide([send({ x: 'bob@x.org' })]).verdict, 'allow');
});

test('words that stand in more places than are looked at, and not in this order, are undecided', () => {
  const monitor = monitorOf(NOT_YOURS);
  for (let index = 0; index < 600; index++) monitor.append([read('red green blue')]);
  const [reason] = monitor.decide([send({ x: 'blue red' })]).reasons;
  assert.equal(reason?.because, 'undecided');
  assert.match(reason?.message ?? '', /more text was seen than `origin` remembers/);
  const [other] = monitor.decide([send({ x: 'green blue' })]).reasons;
  assert.equal(other?.because, 'rule');
});

test('a text of one word, of a million, is cut and compared as any other', () => {
  const monitor = monitorOf(NOT_YOURS);
  const long = 'a'.repeat(1_000_000);
  monitor.append([said(`take ${long}b`)]);
  assert.equal(monitor.decide([send({ x: `${long}b` })]).verdict, 'allow');
  assert.equal(monitor.decide([send({ x: long })]).verdict, 'deny');
});

test('a value of too many parts is undecided', () => {
  const monitor = monitorOf(NOT_YOURS);
  const [reason] = monitor.decide([send({ x: Array.from({ length: 30_000 }, () => 'a') })]).reasons;
  assert.equal(reason?.because, 'undecided');
});

test("hidden and equal-looking letters: width is folded, and what is hidden in the user's text; other alphabets are not", () => {
  const monitor = monitorOf(NOT_YOURS);
  monitor.append([said('pay to pay\u00adpal.com')]);
  assert.equal(monitor.decide([send({ x: 'paypal.com' })]).verdict, 'allow');
  assert.equal(monitor.decide([send({ x: '\uff50aypal.com' })]).verdict, 'allow');
  assert.equal(monitor.decide([send({ x: 'p\u0430ypal.com' })]).verdict, 'deny');
});

test("what names everything without a letter is not the user's; nothing at all is nobody's", () => {
  const monitor = monitorOf(NOT_YOURS);
  monitor.append([said('delete /tmp/old/* and ../../x')]);
  for (const x of ['/', '*', '../..', '~/']) assert.equal(monitor.decide([send({ x })]).verdict, 'deny', x);
  for (const x of ['/tmp/old/*', '../../x', '', ' \n'])
    assert.equal(monitor.decide([send({ x })]).verdict, 'allow', x);
});

const inTags = (text: string) =>
  [...text].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join('');

test("a value that hides something is the user's only as he wrote it", () => {
  const monitor = monitorOf(NOT_YOURS);
  monitor.append([said('write "ok ❤️" to alice and ali\u200ccia at alice@x.org, alicia@y.org')]);
  for (const x of [
    'alice\u3164',
    'ali\u200bce',
    'alice\u3164@x.org',
    `ok${inTags('key=12345')}`,
    inTags('key=12345'),
    'alice\u3164, alicia@y.org, alice@x.org',
  ])
    assert.equal(monitor.decide([send({ x })]).verdict, 'deny', JSON.stringify(x));
  for (const x of ['alice', 'ali\u200ccia', 'ok ❤️', 'OK ❤', 'alice@x.org, alicia@y.org'])
    assert.equal(monitor.decide([send({ x })]).verdict, 'allow', JSON.stringify(x));
});

for (const [text, value, verdict] of [
  // Attack: of several joiners one counted, and a stranger's address was the user's.
  ['write to a.b@c.org', 'a.b@c.org', 'allow'],
  ['write to a.b.org', 'a.@b.org', 'deny'],
  ['write to a.@b.org', 'a.@b.org', 'allow'],
  ['see http://b.org/x', 'http://b.org/x', 'allow'],
  // Attack: more joiners than three were taken for none.
  ['look at /srv/x etc/passwd', '/srv/x/../../etc/passwd', 'deny'],
  ['look at /srv/x/../../etc/passwd', '/srv/x/../../etc/passwd', 'allow'],
  // The way a program has to put an address changes nothing about who named it.
  ['see www.b.org', 'http://www.b.org', 'allow'],
  ['see www.b.org.They sent it', 'https://www.b.org/', 'allow'],
  ['see www.b.org', 'https://www.b.org.evil.net', 'deny'],
  ['see www.b.org', 'https://www.b.org@evil.net', 'deny'],
  ['see b.org/x', 'https://b.org/x', 'allow'],
  ['see b.org/x', 'https://b.org/y', 'deny'],
  ['name ---- bob', 'bob', 'allow'],
  ['name------bob', 'bob', 'allow'],
  ['**bob@x.org**', 'bob@x.org', 'allow'],
] as const) {
  test(`${value} is ${verdict === 'allow' ? '' : 'not '}the user's, who said: ${text}`, () => {
    const monitor = monitorOf(NOT_YOURS);
    monitor.append([said(text)]);
    assert.equal(monitor.decide([send({ x: value })]).verdict, verdict);
  });
}

const IN_PLACE = 'raise "x" if:\n    (c: ToolCall)\n    any([s.place for s in origin(c.arguments.x)])\n';
const READ_IN_PLACE =
  'raise "x" if:\n    (c: ToolCall)\n    any(["place" in s.asked and not ("user" in s.asked) for s in origin(c.arguments.x)])\n';

for (const [before, words, value, isInPlace] of [
  ['', 'Ada is in /user/info', '/user/info/ada.txt', true],
  ['', 'Ada is in /user/info/eve.txt', '/user/info/ada.txt', false],
  // What was said first names one file, and what was said later the folder.
  ['read /user/info/eve.txt', 'Ada is in /user/info', '/user/info/ada.txt', true],
  ['', 'what is new on www.x.example?', 'https://www.x.example/today', true],
  ['', 'what is new on x.example?', 'https://www.x.example/today', true],
  ['', 'what is new on https://x.example/ada?', 'https://x.example/eve', false],
  ['read https://x.example/ada', 'what is new on x.example?', 'https://x.example/eve', true],
] as const)
  test(`${value} ${isInPlace ? 'lies' : 'does not lie'} in a place that "${before} ${words}" names`, () => {
    const place = monitorOf(IN_PLACE);
    place.append([...(before === '' ? [] : [said(before)]), said(words)]);
    assert.equal(place.decide([send({ x: value })]).verdict, isInPlace ? 'deny' : 'allow');
    // The same where a text has it.
    place.append([read(`see ${value}`)]);
    assert.equal(place.decide([send({ x: value })]).verdict, isInPlace ? 'deny' : 'allow');
    const asked = monitorOf(READ_IN_PLACE);
    asked.append([...(before === '' ? [] : [said(before)]), said(words)]);
    const looks = {
      type: 'ToolCall',
      callId: 'c1',
      kind: 'function',
      name: 'look',
      arguments: { path: value },
    } as const;
    asked.append([looks, { type: 'ToolOutput', role: 'tool', callId: 'c1', content: '12345678' }]);
    assert.equal(asked.decide([send({ x: '12345678' })]).verdict, isInPlace ? 'deny' : 'allow');
  });

// Attack: what a text of others names is no place of the user.
test('a folder that only an output names is none', () => {
  const monitor = monitorOf(IN_PLACE);
  monitor.append([said('hello'), read('Ada is in /user/info')]);
  assert.equal(monitor.decide([send({ x: '/user/info/ada.txt' })]).verdict, 'allow');
});

// Attack: a page with so many links of one host that not all of their places are kept.
test('a host of which an output has a thousand links is looked for in the words of the user alone', () => {
  const links = Array.from({ length: 1_000 }, (_, at) => `see www.x.example/${at}`).join('\n');
  for (const [words, isInPlace] of [
    ['what is new on www.x.example?', true],
    ['what is new?', false],
  ] as const) {
    const monitor = monitorOf(IN_PLACE);
    monitor.append([said(words), read(links)]);
    const { verdict, reasons } = monitor.decide([send({ x: 'https://www.x.example/7' })]);
    assert.deepEqual(
      [verdict, reasons.map(({ because }) => because)],
      isInPlace ? ['deny', ['rule']] : ['allow', []],
    );
  }
});

const LED = 'raise "x" if:\n    (c: ToolCall)\n    any([s.led_by_text for s in origin(c.arguments)])\n';

/** A call that acts, of which no argument says whom or what. */
const act = (ids: readonly string[]): TraceEvent => ({
  ...{ type: 'ToolCall', callId: 'c1', kind: 'function', name: 'act', arguments: { ids: [...ids] } },
  tool: { readOnly: false, outward: false, identifying: [] },
});

// Attack: so many arguments that nobody can say which of them the output repeats.
test('whether a text led an action with too many arguments is undecided', () => {
  for (const [count, because] of [
    [20_001, ['undecided']],
    [100, []],
  ] as const) {
    const monitor = monitorOf(LED);
    const ids = Array.from({ length: count }, (_, at) => `${at}`);
    const output: TraceEvent = { type: 'ToolOutput', role: 'tool', callId: 'c1', content: 'see 12345678' };
    monitor.append([said('go'), act(ids), output]);
    const { reasons } = monitor.decide([send({ x: '12345678' })]);
    assert.deepEqual(
      reasons.map((reason) => reason.because),
      because,
    );
  }
});

const BESIDE = `raise "not Dora's" if:
    (c: ToolCall)
    not any(["dora" in source.beside for source in origin(c.arguments.x)])
`;
const ADDRESS = 'dora@x.org';
const ofDora = (output: string): string => {
  const monitor = monitorOf(BESIDE);
  monitor.append([read(output)]);
  return monitor.decide([send({ x: ADDRESS })]).verdict;
};

for (const [what, output] of [
  ['a field', `[{"name": "Dora Miller", "email": "${ADDRESS}"}, {"name": "Mark", "email": "m@x.org"}]`],
  ['a field in a literal of Python', `[{'name': 'Dora', 'email': '${ADDRESS}'}]`],
  ['a field in YAML', `- name: Dora\n  email: ${ADDRESS}\n- name: Mark\n  email: m@x.org`],
  ['an item of a list in the same object', `{"name": "Dora", "emails": ["d@x.org", "${ADDRESS}"]}`],
  ['an item of a list that is a text', `{"name": "Dora", "emails": "['d@x.org', '${ADDRESS}']"}`],
  ['a field, with other marks', `{"name": "Miller, Dora.", "email": "${ADDRESS}"}`],
  ['the value of a key', `{"Dora": "${ADDRESS}", "Mark": "m@x.org"}`],
] as const)
  test(`a name stands beside ${what}`, () => assert.equal(ofDora(output), 'allow'));

// Attack: a text of others has the name near the address of somebody else.
for (const [what, output] of [
  ['of another object', `[{"name": "Mark", "email": "${ADDRESS}"}, {"name": "Dora", "email": "d@x.org"}]`],
  ['of another entry in YAML', `- name: Mark\n  email: ${ADDRESS}\n- name: Dora\n  email: d@x.org`],
  ['of the object around it', `{"name": "Dora", "friend": {"email": "${ADDRESS}"}}`],
  ['of an object that stands in a text', `{"name": "Dora", "more": "{'email': '${ADDRESS}'}"}`],
  ['of another key', `{"Dora": "d@x.org", "Mark": "${ADDRESS}"}`],
  ['of another key in a literal of Python', `{'Dora': 'd@x.org', 'Mark': '${ADDRESS}'}`],
  ['of another key in YAML', `Dora: d@x.org\nMark: ${ADDRESS}`],
  ['of a key that is an address', `{"name": "Dora", "shared": {"${ADDRESS}": "read"}}`],
  ['that somebody wrote', `{"subject": "Dora", "email": "${ADDRESS}"}`],
  ['that a sender gives themselves', `{"sender_name": "Dora", "email": "${ADDRESS}"}`],
  ['of a sender who is an object', `{"from": {"name": "Dora", "email": "${ADDRESS}"}}`],
  ['of a sender who is an object of Python', `{'from': [{'name': 'Dora', 'email': '${ADDRESS}'}]}`],
  ['of a sender who is a block', `from:\n  name: Dora\n  email: ${ADDRESS}`],
  ['of a list without an object', `["Dora", "${ADDRESS}"]`],
  ['of a sender by another name', `{"mailFrom": {"name": "Dora", "email": "${ADDRESS}"}}`],
  ['of who gets a copy', `{"cc": [{"name": "Dora", "email": "${ADDRESS}"}]}`],
  ['of a table', `{"columns": ["name", "email"], "rows": [["Dora", "d@x.org"], ["Mark", "${ADDRESS}"]]}`],
  ['of a list beside the list', `{"name": ["Dora", "Mark"], "email": ["d@x.org", "${ADDRESS}"]}`],
  ['of a set', `{'Dora', '${ADDRESS}'}`],
  ['of a set in an object', `{'names': {'Dora', '${ADDRESS}'}}`],
  [
    'of another entry that speaks of it',
    `- name: Dora\n  team: reach ${ADDRESS}\n- name: Mark\n  email: ${ADDRESS}`,
  ],
  [
    'of an object with too many fields',
    `{"name": "Dora", "email": "${ADDRESS}", "tags": ${JSON.stringify(Array.from({ length: 200 }, String))}}`,
  ],
  ['of the sender', `{"name": "Dora", "sender": "${ADDRESS}"}`],
  ['in a sentence', `{"name": "Mark, who is not Dora and not Anne either", "email": "${ADDRESS}"}`],
  ['as a part of a longer one', `{"name": "Dorabella", "email": "${ADDRESS}"}`],
  ['in running text', `Dora has ${ADDRESS}`],
] as const)
  test(`a name ${what} stands beside nothing`, () => assert.equal(ofDora(output), 'deny'));
