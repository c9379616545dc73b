import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '@cordon/policy-tools';
import { evaluate, type Outcome } from '@cordon/reference';
import { type Content, type Finding, loadPolicy, type Policy, type TraceEvent } from '../../src/index.ts';

const PRELUDE = `
from invariant import any as some
KEY := "k[e]y-"
part := "k[e]y-"
holds_key(o: ToolOutput) := any(find(KEY, o.content))
holds_both(o: ToolOutput) :=
    holds_key(o)
    "note" in o.content
shadowed(o: ToolOutput) :=
    (find: ToolOutput)
    any(find(KEY, o.content))
named(KEY: ToolOutput) := any(find(KEY, KEY.content))
`;

/** Lines about `x`, and the texts of which each must have one; null: nothing may be concluded from the text. */
const LINES: readonly (readonly [line: string, wanted: readonly (readonly string[])[] | null])[] = [
  ['"key" in x.content', [['key']]],
  ['any(find("key-[0-9]", x.content))', [['key-']]],
  ['any(find(KEY, x.content))', [['key-']]],
  ['len(find(KEY, x.content)) > 0', [['key-']]],
  ['any([any(find(part, part)) for part in text(x)])', null],
  ['any([any(find(KEY, piece)) for piece in text(x)])', [['key-']]],
  ['any([KEY in piece for piece in text(x)])', null],
  ['any(["note" in piece and any(find(KEY, piece)) for piece in text(x)])', [['note'], ['key-']]],
  ['any(find(KEY, x.content)) and "note" in x.content', [['key-'], ['note']]],
  ['x.error and "note" in x.content', [['note']]],
  ['"key" in x.content or any(find("no[t]e", x.content))', [['key', 'note']]],
  ['"key" in x.content or x.error', null],
  [
    'any(find("(?i)key-", x.content))',
    [
      ['y-', 'Y-'],
      ['ke', 'kE', 'Ke', 'KE', '\u212ae', '\u212aE'],
    ],
  ],
  ['any(find("ke*y-[0-9]|no.e", x.content))', [['y-', 'no']]],
  // Matches the empty text, or what has no fixed part.
  ['any(find("(?:key)?", x.content))', null],
  ['any(find("", x.content))', null],
  ['any(find("[a-z]{3}-", x.content))', [['-']]],
  ['"" in x.content', null],
  // A text among others: `contents` as a list, an object by its keys.
  ['["key", "note"] in x.content', null],
  ['not ("key" in x.content)', null],
  ['not any(find(KEY, x.content))', null],
  ['len(find(KEY, x.content)) > 1', null],
  ['len(find(KEY, x.content)) == 0', null],
  ['empty(find(KEY, x.content))', null],
  ['match(KEY, x.content)', null],
  ['any(find(KEY, x.content.lower()))', null],
  ['any(find(KEY, x.content.note))', null],
  ['any(find(KEY, f"key-{x.content}"))', null],
  ['any([any(find(KEY, piece)) for piece in text(x) if piece.lower() == "key-1"])', null],
  ['any([any(find(KEY, piece)) for piece in text(x, "key-")])', null],
  ['any([any(find(KEY, "key-")) for piece in text(x)])', null],
  ['any([find for find in find(KEY, x.content)])', null],
  ['holds_both(x)', [['key-'], ['note']]],
  ['holds_key(x)', [['key-']]],
  ['shadowed(x)', null],
  ['named(x)', null],
  ['not holds_key(x)', null],
  ['some(find(KEY, x.content))', [['key-']]],
];

function loaded(line: string): Policy {
  const policy = loadPolicy(`${PRELUDE}\nraise "found" if:\n    (x: ToolOutput)\n    ${line}\n`);
  assert.ok(policy.ok, `${line} ${JSON.stringify(policy)}`);
  return policy.value;
}

const CONTENTS: readonly (Content | { readonly [key: string]: string })[] = [
  'key-1',
  'Key-1',
  // The Kelvin sign is a `k` where case does not matter.
  '\u212aey-1',
  'ke\u00ad-y',
  'a note with the key-2',
  'note',
  'ky-3',
  '{"note": "key-4"}',
  '{"note": "\\u006bey-4"}',
  '',
  null,
  'k\ud83dey-',
  '😀key-1',
  [],
  [{ type: 'text', text: 'key-5' }],
  [
    { type: 'text', text: 'note' },
    { type: 'text', text: 'key-6' },
  ],
  [
    { type: 'image_url', image_url: { url: 'data:key-7' } },
    { type: 'text', text: 'x' },
  ],
  { note: 'x' },
  { key: 'key-8' },
];

const EVENTS: readonly TraceEvent[] = CONTENTS.map((content, index) => ({
  type: 'ToolOutput',
  role: 'tool',
  id: `e${index}`,
  callId: null,
  content,
  isError: index % 2 === 0,
}));

const ofFinding = ({ open, bound }: Finding): string =>
  `${open === null ? 'holds' : 'open'} ${bound.map(({ entry }) => entry?.reference ?? '-').join(' ')}`;
const ofOutcome = ({ status, events }: Outcome): string =>
  `${status === 'violated' ? 'holds' : 'open'} ${events.map((event) => event ?? '-').join(' ')}`;

for (const [line, wanted] of LINES) {
  test(`leaving out events by their texts changes nothing of what is found: ${line}`, () => {
    const policy = loaded(line);
    const read = policy.program.plans[0]?.required[0] ?? [];
    const known = read.flatMap(({ alternatives }) => alternatives);
    const sorted = (all: readonly (readonly string[])[]) =>
      all.map((texts) => [...texts].sort().join(' ')).sort();
    assert.deepEqual(sorted(known), sorted(wanted ?? []));
    assert.deepEqual(findingsIn(policy, EVENTS).map(ofFinding), evaluate(policy, EVENTS).map(ofOutcome));
  });
}

test('an event that lacks the texts is left out, and one that has them is not', () => {
  const found = (line: string): readonly string[] => findingsIn(loaded(line), EVENTS).map(ofFinding);
  assert.deepEqual(found('"note" in x.content').slice(0, 2), ['holds e4', 'holds e5']);
  // What is no text cannot be looked through.
  assert.deepEqual(found('any(find("no[t]e", x.content))').slice(0, 5), [
    'holds e4',
    'holds e5',
    'holds e7',
    'holds e8',
    'open e10',
  ]);
});

test('texts of arguments are asked for where the variable ranges over all of them', () => {
  const wantedOf = (type: string, within: string): number => {
    const policy = loadPolicy(
      `raise "found" if:\n    (c: ${type})\n    (part: str) in ${within}\n    any(find("key", part))\n`,
    );
    assert.ok(policy.ok, JSON.stringify(policy));
    return policy.value.program.plans[0]?.required[1]?.length ?? 0;
  };
  assert.equal(wantedOf('ToolCall', 'c.arguments'), 1);
  assert.equal(wantedOf('ToolCall', 'c.function.arguments'), 1);
  // May be missing, and then nobody knows.
  assert.equal(wantedOf('ToolCall', 'c.arguments.body'), 0);
  assert.equal(wantedOf('ToolCall', '["key"]'), 0);
});
