/** Labels that no longer hold are taken back; what a user may know better stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Manifest, SILENT_MANIFEST, type ToolLabels } from '@cordon/core';
import { outdatedLabels, type ProposedTool } from '../../src/index.ts';

function found(
  says: Partial<ToolLabels>,
  {
    manifest = {},
    hints,
    hasNetwork = false,
  }: { manifest?: Partial<Manifest>; hints?: Partial<ProposedTool>; hasNetwork?: boolean } = {},
): readonly string[] {
  const silent = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
  const tool = { name: 'look', description: '', input: {}, ...silent };
  const tools = hints === undefined ? [] : [{ ...tool, ...hints }];
  const app = { manifest: { ...SILENT_MANIFEST, ...manifest }, hasNetwork, tools };
  return outdatedLabels(app, new Map([['look', says]])).map(({ label, reason }) => `${label}: ${reason}`);
}

// Attack: a tool that was labelled as staying here sends out what it gets, once its app has a network.
test('not outward is taken back where the app has a network', () => {
  assert.deepEqual(found({ outward: false }, { hasNetwork: true }), ['outward: the app has a network now']);
  assert.deepEqual(found({ outward: false }, { hasNetwork: true, hints: {} }), [
    'outward: the app has a network now',
  ]);
  assert.deepEqual(found({ outward: false }), []);
  assert.deepEqual(found({ outward: true }, { hasNetwork: true }), []);
});

test('it stays where the app says that it stays here, but not where an argument says where to ask', () => {
  assert.deepEqual(found({ outward: false }, { hasNetwork: true, hints: { openWorldHint: false } }), []);
  const input = { type: 'object', properties: { url: { type: 'string' } } };
  assert.deepEqual(found({ outward: false }, { hasNetwork: true, hints: { openWorldHint: false, input } }), [
    'outward: the argument `url` says where to ask',
  ]);
});

test('readOnly is taken back where the app or the manifest contradicts it', () => {
  assert.deepEqual(found({ readOnly: true }, { hints: { destructiveHint: true } }), [
    'readOnly: the app says that it destroys',
  ]);
  assert.deepEqual(found({ readOnly: true }, { manifest: { irreversible: ['look'] } }), [
    'readOnly: the manifest lists it as irreversible',
  ]);
  assert.deepEqual(found({ readOnly: true }, { hints: {} }), []);
});

test('not irreversible is taken back where the app or the manifest contradicts it', () => {
  assert.deepEqual(found({ irreversible: false }, { hints: { destructiveHint: true } }), [
    'irreversible: the app says that it destroys',
  ]);
  assert.deepEqual(found({ irreversible: false }, { manifest: { irreversible: ['look'] } }), [
    'irreversible: the manifest lists it as irreversible',
  ]);
  assert.deepEqual(found({ irreversible: false }, { hints: {} }), []);
  assert.deepEqual(found({ irreversible: true }, { hints: { destructiveHint: true } }), []);
});

test('not untrusted and not private are taken back where the manifest lists the tool', () => {
  assert.deepEqual(
    found({ untrusted: false, private: false }, { manifest: { untrusted: ['look'], private: ['other'] } }),
    ['untrusted: the manifest lists it as untrusted'],
  );
});

test('that people are told is taken back where what it does cannot be undone', () => {
  const tells = { tells: ['participants'] };
  assert.deepEqual(found(tells, { hints: { destructiveHint: true } }), [
    'tells: the app says that it destroys',
  ]);
  assert.deepEqual(found(tells, { manifest: { irreversible: ['look'] } }), [
    'tells: the manifest lists it as irreversible',
  ]);
  assert.deepEqual(found(tells, { hints: {} }), []);
});
