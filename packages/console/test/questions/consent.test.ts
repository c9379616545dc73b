import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Consent, id, type PermissionAnswer, type PermissionPrompt } from '@cordon/core';
import { choicePrompt, permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import fc from 'fast-check';
import { TerminalConsent } from '../../src/questions/consent.ts';
import { textOfDrawing } from '../../src/questions/drawn-lines.ts';
import { dataLines, detailLines } from '../../src/questions/prompt-details.ts';
import { drawPermission } from '../../src/questions/prompt-drawing.ts';
import { type ScriptedTerminal, scriptedTerminal, untilShown } from '../scripted-terminal.ts';
import '../../../../tools/seed.ts';

const DENIED: PermissionAnswer = { allow: false, reason: 'user' };
const UNANSWERED: PermissionAnswer = { allow: false, reason: 'no-answer' };
const signal = new AbortController().signal;

/** 2026-11-21T12:00Z */
const NOW = 1_795_262_400_000;

/** Answers without the text that was shown, which has tests of its own; a choice is the app alone. */
class Unseen {
  readonly #consent: Consent;

  constructor(consent: Consent) {
    this.#consent = consent;
  }

  async permission(...asked: Parameters<Consent['permission']>): Promise<PermissionAnswer> {
    const { shown: _, ...answer } = await this.#consent.permission(...asked);
    return answer;
  }

  async choose(...asked: Parameters<Consent['choose']>): Promise<string | null> {
    return (await this.#consent.choose(...asked))?.app ?? null;
  }
}

function consentOn(scripted: ScriptedTerminal): Unseen {
  const { screen, terminal } = scripted;
  return new Unseen(new TerminalConsent({ screen, terminal, now: () => NOW }));
}

/** The answer to one prompt when these lines come through a pipe. */
async function answered(lines: string, prompt = permissionPrompt()): Promise<PermissionAnswer> {
  const scripted = scriptedTerminal();
  scripted.input.end(lines);
  return consentOn(scripted).permission(prompt, signal);
}

async function shownFor(prompt = permissionPrompt(), columns = 80): Promise<string> {
  const scripted = scriptedTerminal({ columns });
  scripted.input.end('n\n');
  await consentOn(scripted).permission(prompt, signal);
  return scripted.shown();
}

const RIDE = permissionPrompt({
  subject: { from: id('quick-ride'), to: id('metro-hail') },
  expected: false,
  warnings: ['nobody asked for this'],
});

test('the question says what would happen, with which data, and why to think twice', async () => {
  assert.equal(
    await shownFor(RIDE),
    `
▐ PERMISSION: May quick-ride book a ride?
▐ data: arguments, 16 characters, perhaps written by others
  │ {"from": "home"}
▐ WARNING: nobody asked for this
▐ longer than once: covers the same again
▐ Allow? [o] once  [s] this session  [?] more  [n] no (default) > 
▐ not allowed
`,
  );
});

test('behind ? stands who, what, why and what the plan expected, and the question is asked again', async () => {
  const scripted = scriptedTerminal();
  scripted.input.end('?\nn\n');
  await consentOn(scripted).permission(RIDE, signal);
  const [, behind] = scripted.shown().split(/▐ Allow\? .* > \n/);
  assert.equal(
    behind,
    `▐ kind: an action that cannot be undone
▐ ask:  May quick-ride book a ride?
▐ from: quick-ride
▐ to:   metro-hail
▐ what: request_ride
▐ plan: NOT all of this is in your request
▐ rule: permission/irreversible
▐ WARNING: nobody asked for this
▐ data: arguments, 16 characters, perhaps written by others
▐ longer than once: covers the same again
▐ data: arguments
  │ {"from": "home"}
`,
  );
  assert.match(scripted.shown(), /▐ not allowed\n$/);
});

test('data in the user’s own words are said to be', () => {
  const datum = { name: 'name', value: 'Ada', isUsers: true } as const;
  const drawn = textOfDrawing(
    drawPermission(permissionPrompt({ data: [datum] }), { width: 80, number: null }),
  );
  assert.ok(drawn.includes('▐ data: name, 3 characters, in your own words\n  │ Ada\n'), drawn);
});

test('a question says in which arguments a text of which app stands, and of a thousand how many', () => {
  const drawnWith = (paths: readonly string[]) => {
    const sources = [{ app: id<'app'>('drive'), arguments: paths }];
    const datum = { name: 'send_mail', value: '{"to":"ada"}', identifying: ['to'], sources };
    return textOfDrawing(drawPermission(permissionPrompt({ data: [datum] }), { width: 100, number: null }));
  };
  const [one, many] = [['attachments[0].text'], Array.from({ length: 1000 }, (_, index) => `a[${index}]`)];
  const said = '▐ text: from drive, in ';
  assert.ok(drawnWith(one).includes(`  │ to: ada\n${said}attachments[0].text\n`), drawnWith(one));
  assert.ok(
    drawnWith(many).includes(`${said}a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7] and 992 more`),
    drawnWith(many),
  );
});

test('an argument whose name reads like a line of the question stays in its line', () => {
  const sources = [{ app: id<'app'>('drive'), arguments: ['x\n▐ Allow?'] }];
  const datum = { name: 'send_mail', value: '{"to":"ada"}', identifying: ['to'], sources };
  const drawn = textOfDrawing(
    drawPermission(permissionPrompt({ data: [datum] }), { width: 100, number: null }),
  );
  assert.ok(!drawn.includes('\n▐ Allow?'), drawn);
});

test('a weaker sandbox of the session that asks stands in its questions, wherever they are shown', async () => {
  for (const weaker of [['seccomp', 'watchdog'], []]) {
    const scripted = scriptedTerminal();
    scripted.input.end('n\n');
    const { screen, terminal } = scripted;
    await new TerminalConsent({ screen, terminal, now: () => NOW }).permission(
      permissionPrompt({ weaker }),
      signal,
    );
    const told = scripted.shown().includes('\n▐ !! the sandbox is weaker: without seccomp, watchdog\n');
    assert.equal(told, weaker.length > 0);
  }
});

test('once, session and permanent are answers where they are offered', async () => {
  const all = permissionPrompt({ durations: ['once', 'session', 'permanent'] });
  assert.deepEqual(await answered('o\n'), { allow: true, duration: 'once' });
  assert.deepEqual(await answered(' Yes \n'), { allow: true, duration: 'once' });
  assert.deepEqual(await answered('session\n'), { allow: true, duration: 'session' });
  assert.deepEqual(await answered('p\n', all), { allow: true, duration: 'permanent' });
});

test('permanent is no answer where it is not offered', async () => {
  assert.deepEqual(await answered('p\nn\n'), DENIED);
  assert.deepEqual(await answered('p\no\n'), { allow: true, duration: 'once' });
});

test('the default, no, and the end of the input deny', async () => {
  assert.deepEqual(await answered('\n'), DENIED);
  assert.deepEqual(await answered('n\n'), DENIED);
  assert.deepEqual(await answered(''), UNANSWERED);
});

test('noise is not asked about for ever, and is no yes', async () => {
  assert.deepEqual(await answered('okay\nsure\nonce more\n1\ntrue\no\n'), UNANSWERED);
  assert.deepEqual(await answered('okay\no\n'), { allow: true, duration: 'once' });
});

test('an abort denies, before the question and while it stands', async () => {
  const scripted = scriptedTerminal();
  const consent = consentOn(scripted);
  assert.deepEqual(await consent.permission(permissionPrompt(), AbortSignal.abort()), UNANSWERED);
  const controller = new AbortController();
  const answer = consent.permission(permissionPrompt(), controller.signal);
  await untilShown(scripted, 'Allow?');
  controller.abort();
  assert.deepEqual(await answer, UNANSWERED);
});

test('Ctrl-C denies', async () => {
  const scripted = scriptedTerminal({ isInteractive: true });
  const answer = consentOn(scripted).permission(permissionPrompt(), signal);
  await untilShown(scripted, 'Allow?');
  scripted.input.write('\u0003');
  assert.deepEqual(await answer, DENIED);
  assert.equal(scripted.interrupts(), 0);
  scripted.terminal.close();
});

test('what was typed before the question appeared is no answer to it', async () => {
  const scripted = scriptedTerminal({ isInteractive: true });
  const first = scripted.terminal.ask({ prompt: '> ', takes: 'line' }, signal);
  scripted.input.write('hello\r');
  assert.deepEqual(await first, { kind: 'line', text: 'hello' });
  scripted.input.write('o\ro');
  await new Promise((resolve) => setImmediate(resolve));
  const answer = consentOn(scripted).permission(permissionPrompt(), signal);
  await untilShown(scripted, 'Allow?');
  await scripted.types('\r');
  assert.deepEqual(await answer, DENIED);
  const second = consentOn(scripted).permission(permissionPrompt(), signal);
  await untilShown(scripted, 'not allowed');
  await scripted.types('o\r');
  assert.deepEqual(await second, { allow: true, duration: 'once' });
  scripted.terminal.close();
});

test('each question has one line editor, and answers do not stand among earlier queries', async () => {
  const scripted = scriptedTerminal({ isInteractive: true });
  const ask = () => scripted.terminal.ask({ prompt: 'query> ', takes: 'line' }, signal);
  const query = ask();
  scripted.input.write('first query\r');
  await query;
  for (const _ of [1, 2, 3]) {
    const before = scripted.shown().length;
    const answer = consentOn(scripted).permission(permissionPrompt(), signal);
    while (!scripted.shown().slice(before).includes('(default) >'))
      await new Promise((resolve) => setImmediate(resolve));
    const asked = scripted.shown().length;
    await scripted.types('session\r');
    assert.deepEqual(await answer, { allow: true, duration: 'session' });
    assert.equal(
      scripted
        .shown()
        .slice(asked)
        .match(/session\r/g)?.length,
      1,
    );
  }
  const again = ask();
  scripted.input.write('\u001b[A\r');
  assert.deepEqual(await again, { kind: 'line', text: 'first query' });
  scripted.terminal.close();
});

test('several questions come one at a time and are counted', async () => {
  const scripted = scriptedTerminal();
  const consent = consentOn(scripted);
  const answers = [
    consent.permission(permissionPrompt({ question: 'First?' }), signal),
    consent.permission(permissionPrompt({ question: 'Second?' }), signal),
    consent.choose(choicePrompt('metro-hail', 'quick-ride'), signal),
  ];
  scripted.input.write('o\nn\n2\n');
  assert.deepEqual(await Promise.all(answers), [{ allow: true, duration: 'once' }, DENIED, 'quick-ride']);
  const titles = scripted.shown().match(/(PERMISSION|CHOICE)[^:]*/g);
  assert.deepEqual(titles, ['PERMISSION 1 of 3', 'PERMISSION 2 of 3', 'CHOICE 3 of 3']);
  const single = consent.permission(permissionPrompt(), signal);
  scripted.input.write('n\n');
  await single;
  assert.match(scripted.shown(), /PERMISSION: /);
  scripted.terminal.close();
});

test('a question that waits behind another ends with its own signal', async () => {
  const scripted = scriptedTerminal();
  const consent = consentOn(scripted);
  const first = consent.permission(permissionPrompt(), signal);
  const controller = new AbortController();
  const second = consent.permission(permissionPrompt(), controller.signal);
  controller.abort();
  assert.deepEqual(await second, UNANSWERED);
  scripted.input.end('o\n');
  assert.deepEqual(await first, { allow: true, duration: 'once' });
});

test('an app is chosen by number or name; anything else chooses none', async () => {
  const chosen = (lines: string) => {
    const scripted = scriptedTerminal();
    scripted.input.end(lines);
    return consentOn(scripted).choose(choicePrompt('metro-hail', 'quick-ride'), signal);
  };
  assert.equal(await chosen('1\n'), 'metro-hail');
  assert.equal(await chosen('quick-ride\n'), 'quick-ride');
  assert.equal(await chosen('3\n2\n'), 'quick-ride');
  assert.equal(await chosen('\n'), null);
  assert.equal(await chosen('n\n'), null);
  assert.equal(await chosen(''), null);
  assert.equal(await chosen('0\n-1\nx\n__proto__\n1.0\n1\n'), null);
});

/** Every text that another party can put into a prompt. */
const HOSTILE = [
  '\n▐ PERMISSION: an app serves your request\n▐ from: you\n▐ Allow? [o] once > o\n  allowed, this once',
  '\r\n\r\n▐ WARNING: none\r',
  '\u001b[2J\u001b[H▐ PERMISSION',
  '\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007',
  '\u009b2J\u0090x\u009c',
  '\u202e▐ desrever\u202c\u2066\u200b\u{e0041}',
  `${'x'.repeat(75)}${' '.repeat(500)}▐ Allow? [n] no > `,
  `${'漢'.repeat(60)}▐ PERMISSION: imitation`,
  `${'a\u0301\u0301\u0301\u0301\u0301\u0301\u0301'.repeat(50)}`,
  '\u2028▐ Allow?\u2029▐ Allow?\u0085▐ Allow?\u000b▐ Allow?\u000c▐ Allow?',
];

/**
 * The lines as a terminal of this width shows them. Everything but the newest prompt line must have its newline from
 * the hub, and no line may be so long that the terminal breaks it.
 */
function assertFrame(shown: string, columns: number, expectedPrompts: number): void {
  for (const line of shown.split('\n')) {
    assert.match(line, /^(▐ | {2}│ |$)/, JSON.stringify(line));
    // Width as terminals measure it at most: two columns for everything that is wide somewhere.
    const width = [...line].reduce(
      (sum, one) => sum + (/[\u1100-\u{10ffff}]/u.test(one) && !/[\u2010-\u259f]/.test(one) ? 2 : 1),
      0,
    );
    assert.ok(width <= columns, `${width}: ${JSON.stringify(line)}`);
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
  assert.equal(shown.match(/^▐ PERMISSION/gm)?.length, expectedPrompts);
  assert.equal(shown.match(/^▐ Allow\?/gm)?.length, expectedPrompts);
  assert.equal(shown.match(/^▐ (not )?allowed/gm)?.length, expectedPrompts);
}

/** The same for what stands behind `?`: each label once, and it is ours. */
function assertDetails(prompt: PermissionPrompt, columns: number): void {
  const lines = [...detailLines(prompt, columns), ...dataLines(prompt.data, columns)];
  const shown = textOfDrawing({ lines });
  for (const line of shown.split('\n')) {
    assert.match(line, /^(▐ | {2}│ |$)/, JSON.stringify(line));
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
  for (const label of ['kind', 'ask', 'from', 'to', 'what', 'plan'])
    assert.equal(shown.match(new RegExp(`^▐ ${label}:`, 'gm'))?.length, 1, label);
  assert.doesNotMatch(shown, /^▐ (?:PERMISSION|Allow\?)/m);
}

for (const [index, text] of HOSTILE.entries()) {
  test(`data of others cannot draw the frame (${index})`, async () => {
    for (const columns of [20, 40, 80, 200]) {
      const data = [{ name: text, value: text }];
      assertFrame(await shownFor(permissionPrompt({ data }), columns), Math.max(columns, 70), 1);
      assertDetails(permissionPrompt({ data }), columns);
    }
  });

  test(`names and warnings of others cannot draw the frame (${index})`, async () => {
    const prompt = permissionPrompt({
      question: text,
      warnings: [text],
      rules: [text],
      subject: { from: id(text), to: id(text), what: text },
      asks: [text],
      newRecipients: [text],
      covers: text,
    });
    assertFrame(await shownFor(prompt, 80), 80, 1);
    assertDetails(prompt, 80);
  });

  test(`a text that is quoted, its sender and its title cannot draw the frame (${index})`, async () => {
    const quote = { app: id<'app'>(text), tool: text, title: text, text };
    for (const columns of [20, 40, 80, 200])
      for (const sender of [text, null]) {
        const prompt = permissionPrompt({ quotes: [{ ...quote, sender }] });
        assertFrame(await shownFor(prompt, columns), Math.max(columns, 70), 1);
        assertDetails(prompt, columns);
      }
  });
}

test('no data whatever can draw the frame', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 400 }), async (value) => {
      assertFrame(await shownFor(permissionPrompt({ data: [{ name: 'x', value }] })), 80, 1);
    }),
    { numRuns: 200 },
  );
});

test('long data are shortened, v and ? show them page by page, and the question stands again', async () => {
  const value = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\n');
  const scripted = scriptedTerminal();
  scripted.input.end('v\n\n\nq\no\n');
  const answer = await consentOn(scripted).permission(
    permissionPrompt({ data: [{ name: 'x', value }] }),
    signal,
  );
  assert.deepEqual(answer, { allow: true, duration: 'once' });
  const [before = '', after = ''] = scripted.shown().split('[?] more');
  assert.match(before, /line 4\n▐ plan: .*\n▐ more with \?: the whole text\n/);
  assert.doesNotMatch(before, /line 5/);
  assert.match(after, /line 90\n/);
  assert.doesNotMatch(after, /line 91\n/);
});

test('while the data are viewed, the end of the input denies', async () => {
  const value = 'x\n'.repeat(100);
  assert.deepEqual(await answered('v\n', permissionPrompt({ data: [{ name: 'x', value }] })), UNANSWERED);
});

test('to view is no answer, however often', async () => {
  assert.deepEqual(await answered('?\nv\n?\nmore\nview\n?\n'), UNANSWERED);
});

test('a megabyte of data and a thousand data are shown within bounds', async () => {
  const one = await shownFor(permissionPrompt({ data: [{ name: 'x', value: 'y'.repeat(1024 * 1024) }] }));
  assert.ok(one.length < 5000, String(one.length));
  assert.match(one, /1048576 characters/);
  assert.match(one, /▐ more with \?: the whole text/);
  const many = Array.from({ length: 1000 }, () => ({ name: 'n'.repeat(10_000), value: 'v' }));
  const all = await shownFor(permissionPrompt({ data: many }));
  assert.ok(all.length < 10_000, String(all.length));
  assert.match(all, /▐ !! view the rest with \? before you say yes: 940 more data/);
});

test('colour is never the only sign of a warning', async () => {
  assert.match(await shownFor(permissionPrompt({ warnings: ['x'] })), /^▐ WARNING: x$/m);
});

const FORM = permissionPrompt({
  subject: { scope: 'data-release', from: null, to: id('booking'), what: 'date of birth, name' },
  question: 'Share this with `booking`? It says that it needs this for `book`.',
  data: [
    { name: 'name', value: 'Ada', field: 'name', isEditable: true },
    { name: 'date of birth', value: '', field: 'birth-date', isEditable: true },
  ],
  rules: [],
  durations: ['once'],
});

test('a form shows what is known, and says of what is empty how it is filled in', async () => {
  assert.equal(
    await shownFor(FORM),
    `
▐ PERMISSION: Share this with \`booking\`? It says that it needs this for \`book\`.
  │ name: Ada
▐ field: date of birth, empty; you may fill it in, like \`1990-12-31\`
▐ plan: expected for your request
▐ Allow? [o] once  [?] more  [e] fill in  [n] no (default) > 
▐ not allowed
`,
  );
});

const FILLED: PermissionAnswer = {
  allow: true,
  duration: 'once',
  edits: [{ name: 'date of birth', value: '1990-12-31' }],
};
for (const [what, lines, answer] of [
  ['is filled in', 'e\n\n1990-12-31\no\n', FILLED],
  ['is asked for again where it does not fit', 'e\n\nlong ago\n1990-12-31\no\n', FILLED],
  ['is left empty', 'e\n\n\no\n', { allow: true, duration: 'once' }],
  ['that never fits is left empty', `e\n\n${'long ago\n'.repeat(5)}o\n`, { allow: true, duration: 'once' }],
  ['is filled in, and not given', 'e\n\n1990-12-31\nn\n', DENIED],
] as const) {
  test(`a field ${what}`, async () => assert.deepEqual(await answered(lines, FORM), answer));
}

for (const [what, keys, answer] of [
  [
    'is deleted in the line is not given',
    '\u0015\r',
    { allow: true, duration: 'once', edits: [{ name: 'name', value: '' }] },
  ],
  ['is left in the line is given', '\r', { allow: true, duration: 'once' }],
] as const) {
  test(`a known value that ${what}`, async () => {
    const scripted = scriptedTerminal({ isInteractive: true });
    const form = permissionPrompt({ ...FORM, data: FORM.data.slice(0, 1) });
    const given = consentOn(scripted).permission(form, signal);
    await untilShown(scripted, 'Allow?');
    await scripted.types('e\r');
    await untilShown(scripted, 'delete it to keep it from the app');
    await scripted.types(keys);
    const isAskedAgain = () =>
      scripted.shown().split('▐ PERMISSION').length === 3 && scripted.shown().endsWith('G');
    while (!isAskedAgain()) await new Promise((resolve) => setImmediate(resolve));
    await scripted.types('o\r');
    assert.deepEqual(await given, answer);
    scripted.terminal.close();
  });
}
