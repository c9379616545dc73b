/** docs/protocol.md, held against the code: whoever writes a second loop from it must get it right. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import {
  decodeHubMessage,
  decodeSpokeMessage,
  HUB_SCHEMAS,
  PROTOCOL_VERSION,
  SPOKE_SCHEMAS,
} from '../src/index.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/protocol.md'), 'utf8');

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text = '']) => text,
  );
}

function printed(): ReadonlyMap<unknown, JsonObject> {
  return new Map(
    blocks('json').map((text) => {
      const schema = parseJson(text);
      assert.ok(schema.ok && isJsonObject(schema.value));
      return [schema.value.title, schema.value];
    }),
  );
}

test('the page prints the schema of every message as both ends check it, and of no other', () => {
  assert.deepEqual(Object.fromEntries(printed()), { ...SPOKE_SCHEMAS, ...HUB_SCHEMAS });
});

test('the page is about the version that is spoken', () => {
  assert.ok(PAGE.includes(`\nVersion ${PROTOCOL_VERSION}. `));
});

test('every example is in the protocol, and every type of message has one', () => {
  const lines = blocks('jsonl').flatMap((text) => text.split('\n').filter((line) => line !== ''));
  const types = new Set<string>();
  for (const line of lines) {
    const decode = line.startsWith('> ') ? decodeSpokeMessage : decodeHubMessage;
    assert.match(line, /^[<>] /);
    const message = decode(line.slice(2));
    assert.ok(message.ok, `${message.ok ? '' : message.fault}: ${line}`);
    types.add(message.value.type);
  }
  assert.deepEqual([...types].sort(), [...Object.keys(SPOKE_SCHEMAS), ...Object.keys(HUB_SCHEMAS)].sort());
});

test('the tables of messages name each of them', () => {
  const [, spoke = ''] = /^## What a spoke sends$(.*?)^## /ms.exec(PAGE) ?? [];
  const [, hub = ''] = /^## What the hub sends$(.*?)^`context`/ms.exec(PAGE) ?? [];
  const named = (text: string) => [...text.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, type = '']) => type);
  assert.deepEqual(named(spoke).sort(), Object.keys(SPOKE_SCHEMAS).sort());
  assert.deepEqual(named(hub).sort(), Object.keys(HUB_SCHEMAS).sort());
});
