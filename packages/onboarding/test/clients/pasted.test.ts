/** What a README gives a user to paste. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPasted } from '../../src/index.ts';

const PLACE = { folder: '/work', home: '/home/me', environment: {} };

function names(text: string): readonly string[] | string {
  const read = readPasted(text, 'pasted', PLACE);
  return read.ok ? read.value.map(({ name }) => name) : read.fault;
}

function started(text: string): string {
  const read = readPasted(text, 'pasted', PLACE);
  const source = read.ok ? read.value[0]?.source : null;
  return source?.kind === 'command' ? [source.command, ...source.args].join(' ') : (source?.url ?? '');
}

test('JSON: the whole section, an entry with its name, an entry alone', () => {
  assert.deepEqual(names('{"mcpServers": {"memory": {"command": "npx"}}}'), ['memory']);
  assert.deepEqual(names('{"mcp": {"servers": {"memory": {"command": "npx"}}}}'), ['memory']);
  assert.deepEqual(names('{"memory": {"command": "npx"}}'), ['memory']);
  assert.deepEqual(names('"memory": {"command": "npx"},'), ['memory']);
  assert.deepEqual(names('{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}'), [
    'memory',
  ]);
});

test('TOML: the table of one server', () => {
  assert.deepEqual(names('[mcp_servers.docs]\ncommand = "npx"\nargs = ["docs-mcp"]'), ['docs']);
});

test('a command, bare or as a client adds it', () => {
  assert.deepEqual(names('npx -y @codefuturist/email-mcp stdio'), ['email']);
  assert.deepEqual(names('uvx mcp-server-git --repository /work'), ['git']);
  assert.deepEqual(names('claude mcp add notes -- npx -y notes-mcp'), ['notes']);
  assert.equal(started('claude mcp add --scope user notes -- npx -y notes-mcp'), 'npx -y notes-mcp');
  assert.equal(started('npx -y notes-mcp@1.2.0 --dir /work'), 'npx -y notes-mcp@1.2.0 --dir /work');
});

test('a line for a shell, prose and broken JSON are refused', () => {
  assert.match(String(names('npx a; rm -rf /')), /no app was found/);
  assert.match(String(names('Run the installer and follow the steps.')), /no app was found/);
  assert.match(String(names('{"mcpServers": ')), /line 1 of the text/);
  assert.match(String(names('{}')), /no app was found/);
});
