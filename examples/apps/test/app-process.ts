/**
 * One example app under the official client, its state in a temporary folder.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withClient } from '@cordon/testkit/official-client.ts';
import type { Client } from '@modelcontextprotocol/client';

export { TemporaryFolder } from '@cordon/testkit/app-process.ts';

export async function withApp(
  id: string,
  folder: string,
  talk: (client: Client) => Promise<void>,
): Promise<void> {
  await withClient(fileURLToPath(new URL(`../${id}/app.ts`, import.meta.url)), folder, talk);
}

/** The result of a call that must succeed. The client has checked it against the output schema. */
export async function call(client: Client, name: string, args: Record<string, unknown>): Promise<unknown> {
  const result = await client.callTool({ name, arguments: args });
  assert.notEqual(result.isError, true, JSON.stringify(result.content));
  return result.structuredContent;
}

/** The text with which a call is refused. */
export async function refusal(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true);
  const [first] = result.content;
  return first?.type === 'text' ? first.text : '';
}

export function onDisk(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}
