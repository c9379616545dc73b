/** Labels of tools: which entry counts, and the strict reading of what nobody said. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { saidOfTool, type ToolLabelEntry, toolLabels, UNKNOWN_TOOL } from '../src/index.ts';

function entry(tool: string, says: ToolLabelEntry['says'], app: string | null = null): ToolLabelEntry {
  return { app, tool, says };
}

test('a tool that nobody speaks of has the strict labels', () => {
  const said = saidOfTool([entry('read_*', { readOnly: true })], 'send_mail', null);
  assert.deepEqual(toolLabels(said), {
    readOnly: false,
    irreversible: true,
    outward: true,
    untrusted: true,
    private: true,
    identifying: null,
  });
  assert.deepEqual(toolLabels({}), UNKNOWN_TOOL);
});

test('what changes nothing can be undone, and still sends what it is given, until the user says otherwise', () => {
  const labels = toolLabels({ readOnly: true });
  assert.equal(labels.irreversible, false);
  assert.equal(labels.outward, true);
  assert.equal(labels.identifying, null);
  assert.equal(toolLabels({ readOnly: true, outward: false }).outward, false);
});

test('each label is taken from the closest entry that says it, wherever it stands in the file', () => {
  const entries = [
    entry('send_mail', { outward: true }),
    entry('*', { untrusted: false, outward: false, private: false }),
    entry('send_*', { outward: false, irreversible: false }),
  ];
  const labels = toolLabels(saidOfTool(entries, 'send_mail', null));
  assert.equal(labels.outward, true);
  assert.equal(labels.irreversible, false);
  assert.equal(labels.untrusted, false);
  assert.equal(toolLabels(saidOfTool(entries, 'send_note', null)).outward, false);
});

test('a whole name is closer than any pattern, and the entry of an app closer than that of any app', () => {
  const pattern = entry('send_mail_to_all*', { outward: false });
  const name = entry('send_mail_to_all_people', { outward: true });
  assert.equal(saidOfTool([name, pattern], 'send_mail_to_all_people', null).outward, true);
  const own = entry('send', { outward: true }, 'mail');
  const any = entry('send', { outward: false });
  assert.equal(saidOfTool([own, any], 'send', 'mail').outward, true);
  assert.equal(saidOfTool([own, any], 'send', 'chat').outward, false);
  assert.equal(saidOfTool([own, any], 'send', null).outward, false);
});

test('a star stands for any characters, none included, and nothing else is special', () => {
  const matches = (pattern: string, name: string): boolean =>
    saidOfTool([entry(pattern, { readOnly: true })], name, null).readOnly === true;
  for (const [pattern, name] of [
    ['*', ''],
    ['get_*', 'get_'],
    ['*_mail', 'send_mail'],
    ['get_*_mail', 'get_unread_mail'],
    ['a*b*c', 'abbcabc'],
    ['a.b', 'a.b'],
  ] as const)
    assert.ok(matches(pattern, name), `${pattern} ${name}`);
  for (const [pattern, name] of [
    ['get_*', 'forget_it'],
    ['a*a', 'a'],
    ['a*bc*bc', 'abc'],
    ['a.b', 'axb'],
    ['get', 'get_mail'],
  ] as const)
    assert.ok(!matches(pattern, name), `${pattern} ${name}`);
});
