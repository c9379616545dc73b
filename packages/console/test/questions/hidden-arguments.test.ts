/** What a call would do is visible in its question, whatever else stands beside it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { canonicalJson, id, type JsonObject, type PermissionPrompt } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import { openStore } from '@cordon/trace';
import fc from 'fast-check';
import { TerminalConsent } from '../../src/questions/consent.ts';
import { textOfDrawing } from '../../src/questions/drawn-lines.ts';
import { dataLines } from '../../src/questions/prompt-details.ts';
import { drawPermission } from '../../src/questions/prompt-drawing.ts';
import { argumentsInLine } from '../../src/text/argument-lines.ts';
import { scriptedTerminal } from '../scripted-terminal.ts';
import '../../../../tools/seed.ts';

const NEVER = new AbortController().signal;

function prompt(args: JsonObject, identifying: readonly string[] = []): PermissionPrompt {
  return permissionPrompt({ data: [{ name: 'share', value: canonicalJson(args), identifying }] });
}

function drawn(args: JsonObject, identifying: readonly string[] = [], width = 80): string {
  return textOfDrawing(drawPermission(prompt(args, identifying), { width, number: null }));
}

/** What stands behind the gutter, each argument of a line for itself. */
function argumentsOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => (line.startsWith('  │ ') ? line.slice(4).split(' │ ') : []));
}

test('twelve lines of text whose name comes first in the alphabet do not hide `role: owner`', () => {
  const text = drawn({ a_message: 'A line of a letter.\n'.repeat(200), role: 'owner', user: 'eve@y.org' });
  assert.deepEqual(argumentsOf(text).slice(0, 2), ['role: owner', 'user: eve@y.org']);
  assert.match(text, /▐ more with \?: the rest of a_message \(4000 characters\)/);
});

test('arguments that say whom it reaches come first, then the shortest; short ones share a line', () => {
  assert.deepEqual(
    argumentsOf(drawn({ a: 'a longer text', b: 2, to: 'bob@example.org', yes: true }, ['to'])),
    ['to: bob@example.org', 'b: 2', 'yes: true', 'a: a longer text'],
  );
});

// Attack: a value that looks like two arguments of one line, or a name that looks like a quotation.
test('a value or a name cannot look like another argument of the line, or like a quotation', () => {
  const text = drawn({ note: 'x │ role: viewer', role: 'owner', '> from ada@x.example': 'y' });
  assert.deepEqual(
    argumentsOf(text).filter((argument) => /^(?:role:|>)/.test(argument)),
    ['role: owner'],
  );
});

test('arguments that lie deeper are told by their place', () => {
  const event = { attendees: [{ email: 'eve@y.org', role: 'owner' }], tags: ['x', 'y'], note: {} };
  assert.deepEqual(argumentsOf(drawn({ event, zone: null }, ['event.attendees.email'])), [
    'event.attendees[0].email: eve@y.org',
    'event.note: {}',
    'zone: null',
    'event.attendees[0].role: owner',
    'event.tags: ["x","y"]',
  ]);
});

test('a text cannot look like another argument: its lines are indented', () => {
  for (const body of ['x\nrole: viewer', `${'x'.repeat(74)} role: viewer`, '\n\nrole: viewer']) {
    const lines = argumentsOf(drawn({ body, role: 'owner' }));
    assert.deepEqual(
      lines.filter((line) => line.startsWith('role:')),
      ['role: owner'],
    );
  }
});

test('a name of an argument is escaped and cut', () => {
  const text = drawn({ [`x\n▐ Allow? ${'y'.repeat(500)}`]: 'v', role: 'owner' });
  assert.doesNotMatch(text, /^▐ Allow\?/m);
  assert.match(argumentsOf(text).join('').replace(/ {6}/g, ''), /x<U\+000A>▐ Allow\? y+…: v/);
});

test('with so many arguments that their names do not fit, there is no yes before all were viewed', async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`a${index}`, 1]));
  const scripted = scriptedTerminal();
  const { screen, terminal } = scripted;
  scripted.input.end('o\nv\nq\no\nv\n\n\n\n\n\n\no\n');
  const question = prompt({ ...many, role: 'owner' });
  const answer = await new TerminalConsent({ screen, terminal, now: () => 0 }).permission(question, NEVER);
  assert.equal(answer.allow, true);
  const shown = scripted.shown();
  assert.match(shown, /▐ !! view the rest with \? before you say yes: .*141 more arguments/);
  assert.equal(shown.match(/not all arguments were shown: answer \? first/g)?.length, 2);
  assert.ok(shown.lastIndexOf('role: owner') > shown.lastIndexOf('not all arguments'));
});

// Attack: the last of many recipients stands behind "more".
for (const [what, to] of [
  ['a list', [...Array<string>(60).fill('bob@example.org'), 'eve@y.org']],
  ['a text with a thousand spaces', `bob@example.org${' '.repeat(1000)}, eve@y.org`],
] as const)
  test(`whom a call reaches is all viewed before a yes: ${what}`, async () => {
    const scripted = scriptedTerminal();
    const { screen, terminal } = scripted;
    scripted.input.end('o\nv\no\n');
    const question = prompt({ to, subject: 'x' }, ['to']);
    const answer = await new TerminalConsent({ screen, terminal, now: () => 0 }).permission(question, NEVER);
    assert.equal(answer.allow, true);
    const shown = scripted.shown();
    const [before = '', after = ''] = shown.split('not all arguments were shown: answer ? first');
    assert.match(before, /▐ !! view the rest with \? before you say yes: all of to/);
    assert.doesNotMatch(before, /eve@y\.org/);
    assert.match(after.replace(/\s*│\s*/g, ''), /eve@y\.org/);
  });

test('a long text that reaches nobody may stay unread', async () => {
  const scripted = scriptedTerminal();
  const { screen, terminal } = scripted;
  scripted.input.end('o\n');
  const question = prompt({ to: 'bob@example.org', body: 'A line.\n'.repeat(100) }, ['to']);
  const answer = await new TerminalConsent({ screen, terminal, now: () => 0 }).permission(question, NEVER);
  assert.equal(answer.allow, true);
  assert.doesNotMatch(scripted.shown(), /not all/);
});

test('`prompts answer all allow` leaves a question open that does not show all arguments', () => {
  using place = new Workplace();
  const opened = openStore(join(place.root, 'data'), Date.now);
  assert.ok(opened.ok);
  const { prompts, sessions } = opened.value;
  const session = sessions.create();
  const to = Array<string>(100).fill('bob@example.org');
  for (const [name, args] of [
    ['hiding', { to }],
    ['showing', { to: 'bob@example.org' }],
  ] as const) {
    const question = { ...prompt(args, ['to']), id: id<'event'>(name), session };
    prompts.open({ kind: 'permission', prompt: question }, name);
  }
  sessions.release(session);
  opened.value.close();
  const { out, err } = place.run(['prompts', 'answer', 'all', 'allow', '--data', 'data']);
  assert.match(`${out}${err}`, /showing is answered/);
  assert.match(`${out}${err}`, /hiding: it does not show all arguments: answer it by its id/);
});

test('two arguments whose names begin alike are told apart', () => {
  const path = 'attendees_of_the_meeting_in_the_large_room';
  const text = drawn({ [path]: { first: 'ada@x.org', second: 'eve@y.org' } });
  assert.match(text, /_room\.first: ada@x\.org$/m);
  assert.match(text, /_room\.second: eve@y\.org$/m);
});

test('all that is viewed is there, in the same order', () => {
  const body = 'A line of a letter.\n'.repeat(200);
  const [datum] = prompt({ body, role: 'owner' }).data;
  assert.ok(datum !== undefined);
  const lines = [...dataLines([datum], 80)].filter(({ isQuoted }) => isQuoted).map(({ text }) => text);
  assert.equal(lines[0], 'role: owner');
  assert.equal(lines.filter((line) => line.includes('A line of a letter.')).length, 200);
});

test('a text that looks like arguments is a text', () => {
  const value = '{"role":"viewer","text":"x"}';
  const text = textOfDrawing(
    drawPermission(permissionPrompt({ data: [{ name: '$1', value }] }), { width: 80, number: null }),
  );
  assert.deepEqual(argumentsOf(text), [value]);
});

test('whatever stands beside it, a short argument is visible or all has to be viewed, and no line leaves the frame', () => {
  fc.assert(
    fc.property(
      // No call has an argument of that name: the reader of JSON refuses it.
      fc
        .dictionary(fc.string({ maxLength: 30 }), fc.string({ unit: 'binary', maxLength: 3000 }), {
          maxKeys: 40,
        })
        .filter((others) => !Object.hasOwn(others, '__proto__')),
      fc.constantFrom(40, 80, 120),
      (others, width) => {
        const drawing = drawPermission(prompt({ ...others, role: 'owner' }), { width, number: null });
        const text = textOfDrawing(drawing);
        assert.ok(argumentsOf(text).includes('role: owner') || drawing.hidesArguments, text);
        for (const line of text.split('\n')) assert.match(line, /^(▐ | {2}│ |$)/);
        assert.ok(text.split('\n').length - 1 <= 8 * Math.ceil(80 / width), text);
      },
    ),
    { numRuns: 100 },
  );
});

test('in the lines that are told of a running query, a long argument does not hide the others', () => {
  const line = argumentsInLine({ body: 'x'.repeat(5000), role: 'owner', to: 'eve@y.org' }, 110);
  assert.match(line, /^\{"role":"owner","to":"eve@y\.org","body":"x+…/);
  assert.ok(line.length <= 111);
  assert.equal(argumentsInLine({ b: 1, a: 2 }, 110), '{"b":1,"a":2}', 'what fits stands as it is');
});
