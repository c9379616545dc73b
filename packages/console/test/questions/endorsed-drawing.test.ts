/** A yes endorses what was drawn, so the drawing of a question must be one that endorsement recognises. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson, id, type PermissionPrompt } from '@cordon/core';
import { factEvent } from '@cordon/monitor';
import { textOfDrawing } from '../../src/questions/drawn-lines.ts';
import { dataLines } from '../../src/questions/prompt-details.ts';
import { drawPermission } from '../../src/questions/prompt-drawing.ts';

function question(args: Readonly<Record<string, string>>): PermissionPrompt {
  return {
    id: id('p1'),
    session: id('s1'),
    context: id('c1'),
    subject: { scope: 'irreversible-action', from: id('mail'), to: id('mail'), what: 'send' },
    question: 'Let `mail` do `send`?',
    data: [{ name: 'send', value: canonicalJson(args), identifying: ['to'] }],
    expected: true,
    warnings: [],
    newRecipients: [],
    covers: 'nothing else',
    rules: [],
    durations: ['once'],
    digest: '',
  };
}

function endorsed({ context, data }: PermissionPrompt, shown: string): readonly string[] {
  const fact = { kind: 'values.endorsed', context, data, shown } as const;
  const event = factEvent(fact, { event: id('e1'), app: null, causes: [] });
  return event.type === 'Endorsement' ? event.values.map(({ value }) => value) : [];
}

const OPTIONS = { width: 60, number: null };
const LINES = 'A line of a letter, with "quotes", 猫, a\ttab and\nanother line. ';

test('a call that is drawn whole is endorsed, over as many lines as it takes', () => {
  const prompt = question({ body: LINES.repeat(4), to: 'eve.long-name@a-host.example.org' });
  const drawing = drawPermission(prompt, OPTIONS);
  assert.doesNotMatch(textOfDrawing(drawing), /more with/);
  assert.deepEqual(endorsed(prompt, textOfDrawing(drawing)), [
    LINES.repeat(4),
    'eve.long-name@a-host.example.org',
  ]);
});

test('an argument of which lines were left out is endorsed when they were viewed, the others at once', () => {
  const short = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`a${index}`, 'x']));
  const prompt = question({ ...short, body: LINES.repeat(5), to: 'eve@y.org' });
  const drawing = drawPermission(prompt, OPTIONS);
  assert.match(textOfDrawing(drawing), /more with \?: the rest of body/);
  const first = endorsed(prompt, textOfDrawing(drawing));
  assert.equal(first.includes(LINES.repeat(5)), false);
  assert.ok(first.includes('eve@y.org'), 'it was shown, whatever stands beside it');
  const viewed = { lines: [...dataLines(prompt.data, OPTIONS.width)] };
  assert.ok(endorsed(prompt, textOfDrawing(drawing) + textOfDrawing(viewed)).includes(LINES.repeat(5)));
});

test('a recipient with a character that nobody sees is not endorsed', () => {
  const prompt = question({ to: 'e\u200bve@y.org' });
  assert.deepEqual(endorsed(prompt, textOfDrawing(drawPermission(prompt, OPTIONS))), []);
});
