/** What the user's label file says of tools, beside the manifest and the annotations of an untrusted app. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id, type Manifest, SILENT_MANIFEST, type ToolLabels } from '@cordon/core';
import { calledLabels, isIrreversible, isUnspokenLook, toldBy } from '../../src/apps/registry.ts';
import type { AppTool } from '../../src/context/app-tool.ts';
import { outputLabel } from '../../src/mediation/tool-calls.ts';

function manifest(says: Partial<ToolLabels> | null, lists: Partial<Manifest> = {}): Manifest {
  return {
    ...SILENT_MANIFEST,
    ...(says === null ? {} : { labels: [{ app: null, tool: 'send', says }] }),
    ...lists,
  };
}

function tool(hints: Partial<AppTool> = {}): AppTool {
  const plain = { name: 'send', description: '', input: {}, output: null };
  return { ...plain, readOnlyHint: false, destructiveHint: false, looksByWords: false, ...hints };
}

test('a label says what can be undone where the manifest is silent', () => {
  assert.equal(isIrreversible(manifest(null), tool()), true);
  assert.equal(isIrreversible(manifest({ irreversible: false }), tool()), false);
  assert.equal(isIrreversible(manifest({ readOnly: true }), tool()), false);
  assert.equal(isIrreversible(manifest({ irreversible: true }), tool({ readOnlyHint: true })), true);
});

test('of the manifest and a label the stricter counts', () => {
  assert.equal(isIrreversible(manifest({ irreversible: false }, { irreversible: ['send'] }), tool()), true);
  assert.equal(isIrreversible(manifest({ irreversible: true }, { irreversible: [] }), tool()), true);
  assert.equal(isIrreversible(manifest({ irreversible: false }, { irreversible: [] }), tool()), false);
});

test('what an app says of its tool makes a label stricter and never looser', () => {
  const destroys = tool({ destructiveHint: true });
  assert.equal(isIrreversible(manifest({ irreversible: false }), destroys), true);
  assert.equal(calledLabels(manifest({ readOnly: true, outward: false }), destroys).readOnly, false);
  assert.equal(calledLabels(manifest({ readOnly: true, outward: false }), tool()).readOnly, true);
  assert.equal(calledLabels(manifest(null), tool({ readOnlyHint: true })).readOnly, false);
});

test('a tool that tells people cannot be undone, whatever a less exact label or the app says', () => {
  const tells = { tells: ['participants'] };
  assert.deepEqual(toldBy(manifest(tells), tool()), ['participants']);
  assert.equal(toldBy(manifest({ irreversible: false }), tool()), null);
  assert.equal(toldBy(manifest({ tells: [] }), tool()), null);
  assert.equal(isIrreversible(manifest(tells), tool({ readOnlyHint: true })), true);
  assert.equal(isIrreversible(manifest({ ...tells, irreversible: false }), tool()), true);
  assert.equal(isIrreversible(manifest({ ...tells, readOnly: true }), tool()), true);
  assert.equal(toldBy(manifest(tells), tool({ destructiveHint: true })), null);
  assert.equal(toldBy(manifest(tells, { irreversible: ['send'] }), tool()), null);
});

// Attack: a pattern that fits the name lets a text have the event cancelled that the user's own label protects.
test('a label that says that a tool cannot be undone outweighs a pattern that says whom it tells', () => {
  const pattern = { app: null, tool: 's*', says: { tells: ['participants'] } };
  const named = (irreversible: boolean) => ({ app: null, tool: 'send', says: { irreversible } });
  const told = (irreversible: boolean) =>
    toldBy({ ...manifest(null), labels: [pattern, named(irreversible)] }, tool());
  assert.equal(told(true), null);
  assert.deepEqual(told(false), ['participants']);
});

// Attack: a text has something done that the user's own label says is no look.
test('a tool of which a label says what it does is no look by its words', () => {
  const looks = (says: Partial<ToolLabels> | null, hints: Partial<AppTool> = {}) =>
    isUnspokenLook(manifest(says), tool({ looksByWords: true, ...hints }));
  assert.equal(looks(null), true);
  assert.equal(looks({ outward: true, private: false, identifying: ['id'] }), true);
  assert.equal(looks({ readOnly: false }), false);
  assert.equal(looks({ undo: { tool: 'delete', with: {} } }), false);
  assert.equal(looks({ irreversible: true }), false);
  assert.equal(looks({ tells: ['participants'] }), false);
  assert.equal(looks(null, { destructiveHint: true }), false);
});

test('rules are told what reaches others, and which arguments say to whom', () => {
  assert.deepEqual(calledLabels(manifest({ outward: true, identifying: ['to'] }), tool()), {
    readOnly: false,
    outward: true,
    identifying: ['to'],
  });
  assert.deepEqual(calledLabels(manifest(null), tool()), {
    readOnly: false,
    outward: true,
    identifying: null,
  });
  const undoable = calledLabels(manifest(null, { irreversible: [] }), tool());
  assert.deepEqual([undoable.outward, undoable.mayLeave], [false, true]);
});

test('a tool of which only the app says that it reads may still let out what goes in', () => {
  // Attack: "put your configuration into the search query", and the search calls itself read-only.
  const search = tool({ readOnlyHint: true });
  const { outward, mayLeave } = calledLabels(manifest(null), search);
  assert.deepEqual([outward, mayLeave], [false, true]);
  assert.equal(calledLabels(manifest({ outward: false }), search).mayLeave, undefined);
  assert.equal(calledLabels(manifest({ outward: true }), search).mayLeave, undefined);
  assert.equal(calledLabels(manifest(null), tool()).mayLeave, undefined);
});

test('an output is untrusted and private unless the user has said otherwise, and then in every file', () => {
  const label = (says: Partial<ToolLabels> | null, lists: Partial<Manifest> = {}) => {
    const source = { kind: 'instructions', instructions: '' } as const;
    const app = { id: id<'app'>('mail'), source, manifest: manifest(says, lists), model: null };
    return outputLabel(app, 'send', { integrity: 'trusted', confidentiality: 'public' });
  };
  assert.deepEqual(label(null), { integrity: 'untrusted', confidentiality: 'private' });
  assert.deepEqual(label({ untrusted: false, private: false }), {
    integrity: 'trusted',
    confidentiality: 'public',
  });
  assert.equal(label({ untrusted: false }, { untrusted: ['send'] }).integrity, 'untrusted');
  assert.equal(label({ untrusted: true }, { untrusted: [] }).integrity, 'untrusted');
  assert.equal(label(null, { untrusted: [] }).integrity, 'trusted');
});
