/** Labels that are proposed: what says them, and that nothing looser comes without a reason that is marked as such. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { SILENT_MANIFEST, toolLabels, UNKNOWN_TOOL } from '@cordon/core';
import { type ProposedTool, proposeLabels } from '../../src/proposal/labels.ts';

function tool(name: string, args: readonly string[] = [], hints: Partial<ProposedTool> = {}): ProposedTool {
  const properties = Object.fromEntries(args.map((arg) => [arg, { type: 'string' }]));
  const input = { type: 'object', properties };
  return { name, input, readOnlyHint: false, destructiveHint: false, openWorldHint: true, ...hints };
}

function proposed(what: ProposedTool, manifest = SILENT_MANIFEST) {
  const [proposal] = proposeLabels(manifest, [what]);
  assert.ok(proposal !== undefined);
  return proposal;
}

test('a name that reads, in an app without network, is proposed as what changes nothing and stays here', () => {
  const { says, reasons } = proposed(tool('get_notes', ['query']));
  assert.deepEqual(says, { readOnly: true, outward: false });
  assert.deepEqual(reasons, [
    'looser: readOnly, because its name begins with `get`',
    'looser: not outward, because the app has no network',
  ]);
});

test('a name that only looks alike is not', () => {
  assert.deepEqual(proposed(tool('getaway_booking')).says, {});
  assert.deepEqual(proposed(tool('readdress')).says, {});
});

test('what asks another place stays outward, and the place identifies it', () => {
  const manifest = { ...SILENT_MANIFEST, network: ['*'] };
  const { says } = proposed(tool('fetch_page', ['url', 'style']), manifest);
  assert.deepEqual(says, { readOnly: true, identifying: ['url'] });
  assert.equal(toolLabels(says).outward, true);
});

test('the app alone does not make itself looser: what it destroys cannot be undone, whatever else it says', () => {
  const { says, reasons } = proposed(tool('get_rid', [], { readOnlyHint: true, destructiveHint: true }));
  assert.deepEqual(says, { irreversible: true });
  assert.deepEqual(reasons, ['irreversible: the app says that it destroys']);
});

test('what the manifest lists as irreversible is never proposed as what changes nothing', () => {
  const manifest = { ...SILENT_MANIFEST, irreversible: ['read_once'] };
  assert.deepEqual(proposed(tool('read_once'), manifest).says, {});
  assert.deepEqual(proposed(tool('read_often'), manifest).says, { readOnly: true, outward: false });
});

test('arguments identify by their names; where none does, all of them do', () => {
  assert.deepEqual(proposed(tool('send', ['to', 'cc', 'body', 'event_id'])).says.identifying, [
    'to',
    'cc',
    'event_id',
  ]);
  assert.equal(proposed(tool('send', ['body', 'tone'])).says.identifying, undefined);
});

test('every label that is looser than silence has a reason that says so', () => {
  const manifest = { ...SILENT_MANIFEST, untrusted: [], private: [] };
  for (const what of [tool('get_x', ['id', 'text']), tool('send', ['to', 'text']), tool('wipe')]) {
    const { says, reasons } = proposed(what, manifest);
    const labels = toolLabels(says);
    const looser = (
      ['readOnly', 'irreversible', 'outward', 'untrusted', 'private', 'identifying'] as const
    ).filter(
      (label) => label in says && JSON.stringify(labels[label]) !== JSON.stringify(UNKNOWN_TOOL[label]),
    );
    assert.equal(reasons.filter((reason) => reason.startsWith('looser')).length, looser.length);
  }
});
