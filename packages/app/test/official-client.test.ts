/**
 * The official client, as hosts use it, in each of its ways to agree on a version.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { TemporaryFolder } from '@cordon/testkit/app-process.ts';
import { withClient } from '@cordon/testkit/official-client.ts';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { isLeftOut } from '../../../tools/cases.ts';

const MANY_TOOLS = join(import.meta.dirname, 'fixture/many-tools.ts');
const WAYS: readonly (readonly [string, ClientOptions, string])[] = [
  ['its default', {}, '2025-11-25'],
  ['the oldest revision', { supportedProtocolVersions: ['2024-11-05'] }, '2024-11-05'],
  ['a revision with batches', { supportedProtocolVersions: ['2025-03-26'] }, '2025-03-26'],
  ['automatic negotiation', { versionNegotiation: { mode: 'auto' } }, '2026-07-28'],
  ['the newest revision, pinned', { versionNegotiation: { mode: { pin: '2026-07-28' } } }, '2026-07-28'],
];

for (const [way, options, version] of WAYS)
  test(`the official client works with ${way}`, async () => {
    using folder = new TemporaryFolder();
    const talk: Parameters<typeof withClient>[2] = async (client) => {
      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.deepEqual(client.getServerVersion(), { name: 'many-tools', version: '1.2.3' });
      assert.equal(client.getInstructions(), 'Use add to add.');
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map((listed) => listed.name),
        ['add', 'count', 'say_no', 'fail', 'chatter', 'fill', 'wait', 'go'],
      );
      assert.deepEqual(tools[0]?.annotations, { readOnlyHint: true });
      const sum = await client.callTool({ name: 'add', arguments: { a: 1.5, b: 2 } });
      assert.deepEqual(sum.structuredContent, { sum: 3.5 });
      assert.deepEqual(sum.content, [{ type: 'text', text: '{"sum":3.5}' }]);
      const no = await client.callTool({ name: 'say_no' });
      assert.deepEqual([no.isError, no.content], [true, [{ type: 'text', text: 'not today' }]]);
      const bad = await client.callTool({ name: 'add', arguments: { a: 1, b: 2, unit: 'mile' } });
      const problem = 'invalid arguments: /unit must be one of "m", "s"';
      assert.deepEqual([bad.isError, bad.content], [true, [{ type: 'text', text: problem }]]);
      await assert.rejects(client.callTool({ name: 'subtract' }), /unknown tool/);
    };
    await withClient(MANY_TOOLS, folder.path, talk, options);
  });

test('what an app stored is there when it is started again', async (t) => {
  if (isLeftOut(t)) return;
  using folder = new TemporaryFolder();
  for (const count of [1, 2])
    await withClient(MANY_TOOLS, folder.path, async (client) => {
      assert.deepEqual((await client.callTool({ name: 'count' })).structuredContent, { count });
    });
});
