/** Configurations as the documentation of each client shows them, and what Cordon reads in them. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { type FoundServer, findClients } from '../../src/index.ts';

class Folders {
  readonly root = mkdtempSync(join(tmpdir(), 'cordon-clients-'));
  readonly folder = join(this.root, 'work');
  readonly home = join(this.root, 'home');

  constructor() {
    for (const folder of [this.folder, this.home]) mkdirSync(folder);
  }

  write(path: string, content: unknown): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }

  found(environment: Readonly<Record<string, string>> = {}) {
    return findClients({ folder: this.folder, home: this.home, environment });
  }

  /** The one app of the one file. */
  only(environment: Readonly<Record<string, string>> = {}): FoundServer {
    const servers = this.found(environment).flatMap((file) => file.servers);
    assert.equal(servers.length, 1);
    return servers[0] ?? assert.fail();
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }
}

test('Claude Desktop: keys that are not about apps stay unread', () => {
  using folders = new Folders();
  folders.write('home/.config/Claude/claude_desktop_config.json', {
    globalShortcut: 'Ctrl+Space',
    preferences: { quickEntryDictationShortcut: 'off' },
    mcpServers: {
      filesystem: {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/Desktop'],
      },
    },
  });
  const server = folders.only();
  assert.equal(server.origin, 'Claude Desktop (~/.config/Claude/claude_desktop_config.json)');
  assert.deepEqual(server.source, {
    kind: 'command',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/Desktop'],
    env: {},
    cwd: null,
  });
});

test('Claude Code: a project file, variables with and without a default, a remote server', () => {
  using folders = new Folders();
  folders.write('work/.mcp.json', {
    mcpServers: {
      db: {
        type: 'stdio',
        command: 'uvx',
        args: ['db-mcp'],
        env: { A: '${TOKEN}', B: '${MODE:-safe}', C: '${SET:-x}' },
      },
      api: {
        type: 'http',
        url: 'https://mcp.example.com/mcp',
        headers: { Authorization: 'Bearer ${API_KEY}' },
      },
    },
  });
  const [db, api] = folders.found({ SET: 'yes' })[0]?.servers ?? [];
  assert.deepEqual(db?.source?.kind === 'command' && db.source.env, {
    A: '${env:TOKEN}',
    B: 'safe',
    C: '${env:SET}',
  });
  assert.deepEqual(api?.source, {
    kind: 'url',
    url: 'https://mcp.example.com/mcp',
    headers: { Authorization: 'Bearer ${env:API_KEY}' },
  });
});

test('Claude Code: servers of the user, and of this project alone', () => {
  using folders = new Folders();
  const entry = (name: string) => ({ command: 'npx', args: [name] });
  folders.write('home/.claude.json', {
    numStartups: 12,
    mcpServers: { everywhere: entry('a') },
    projects: {
      [folders.folder]: { mcpServers: { here: entry('b') } },
      '/other': { mcpServers: { there: entry('c') } },
    },
  });
  const names = folders.found().flatMap(({ servers }) => servers.map(({ name }) => name));
  assert.deepEqual(names, ['here', 'everywhere']);
});

test('Cursor: folders and variables by their names', () => {
  using folders = new Folders();
  folders.write('work/.cursor/mcp.json', {
    mcpServers: {
      local: {
        command: 'python',
        args: ['${workspaceFolder}/server.py', '${userHome}/data'],
        env: { K: '${env:KEY}' },
      },
    },
  });
  const { source } = folders.only();
  assert.deepEqual(source, {
    kind: 'command',
    command: 'python',
    args: [`${folders.folder}/server.py`, `${folders.home}/data`],
    env: { K: '${env:KEY}' },
    cwd: null,
  });
});

test('VS Code: an input becomes a secret with the words of the file, comments and all', () => {
  using folders = new Folders();
  folders.write(
    'work/.vscode/mcp.json',
    `{
      // Asked for once.
      "inputs": [{ "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true }],
      "servers": {
        "perplexity": { "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"], "env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" }, },
      },
    }`,
  );
  const { source, inputs } = folders.only();
  assert.deepEqual(source?.kind === 'command' && source.env, {
    PERPLEXITY_API_KEY: '${secret:perplexity-key}',
  });
  assert.deepEqual(inputs, [{ name: 'perplexity-key', description: 'Perplexity API Key' }]);
});

test('VS Code: the older place in the settings', () => {
  using folders = new Folders();
  folders.write('home/.config/Code/User/settings.json', {
    'editor.fontSize': 14,
    mcp: { servers: { time: { command: 'uvx', args: ['mcp-server-time'] } } },
  });
  assert.equal(folders.only().name, 'time');
});

test('VS Code: an input in an argument is refused, because every program could read it', () => {
  using folders = new Folders();
  folders.write('work/.vscode/mcp.json', {
    servers: { a: { command: 'npx', args: ['a', '--key', '${input:key}'] } },
  });
  const { source, obstacle } = folders.only();
  assert.equal(source, null);
  assert.match(obstacle?.message ?? '', /`\$\{input:key\}` stands in the command or address/);
});

test('Windsurf: its name for an address, and a restriction that Cordon cannot apply', () => {
  using folders = new Folders();
  folders.write('home/.codeium/windsurf/mcp_config.json', {
    mcpServers: {
      remote: {
        serverUrl: 'https://example.com/mcp',
        headers: { API_KEY: '${env:KEY}' },
        disabledTools: ['delete_all'],
      },
    },
  });
  const { source, loss } = folders.only();
  assert.deepEqual(source, {
    kind: 'url',
    url: 'https://example.com/mcp',
    headers: { API_KEY: '${env:KEY}' },
  });
  assert.match(loss ?? '', /`disabledTools` restricts it there: delete_all/);
});

test('Gemini CLI: variables without braces, its name for an address', () => {
  using folders = new Folders();
  folders.write('home/.gemini/settings.json', {
    theme: 'Dracula',
    mcpServers: {
      python: {
        command: 'python',
        args: ['-m', 'my_server'],
        env: { KEY: '$MY_KEY' },
        cwd: './server',
        timeout: 15_000,
        trust: true,
      },
      http: { httpUrl: 'http://localhost:3000/mcp' },
    },
  });
  const [python, http] = folders.found()[0]?.servers ?? [];
  assert.deepEqual(python?.source?.kind === 'command' && python.source.env, { KEY: '${env:MY_KEY}' });
  assert.deepEqual(http?.source, { kind: 'url', url: 'http://localhost:3000/mcp', headers: {} });
});

test('elsewhere a dollar sign may be part of a password', () => {
  using folders = new Folders();
  folders.write('work/.cursor/mcp.json', {
    mcpServers: { a: { command: 'x', env: { PASSWORD: 'pa$WORD' } } },
  });
  const { source } = folders.only();
  assert.deepEqual(source?.kind === 'command' && source.env, { PASSWORD: 'pa$WORD' });
});

test('Codex: TOML, variables by name, a token by the name of its variable', () => {
  using folders = new Folders();
  folders.write(
    'home/.codex/config.toml',
    `model = "gpt-5"
notify = ["say"]

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["CONTEXT7_KEY"]
startup_timeout_sec = 20

[mcp_servers.context7.env]
MODE = "strict"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }
enabled = false
`,
  );
  const [context7, figma] = folders.found()[0]?.servers ?? [];
  assert.deepEqual(context7?.source, {
    kind: 'command',
    command: 'npx',
    args: ['-y', '@upstash/context7-mcp'],
    env: { CONTEXT7_KEY: '${env:CONTEXT7_KEY}', MODE: 'strict' },
    cwd: null,
  });
  assert.deepEqual(figma?.source, {
    kind: 'url',
    url: 'https://mcp.figma.com/mcp',
    headers: { Authorization: 'Bearer ${env:FIGMA_TOKEN}', 'X-Figma-Region': 'us-east-1' },
  });
  assert.equal(figma?.isDisabled, true);
});

test('a file that is broken is told with its place, and the others are read', () => {
  using folders = new Folders();
  folders.write('work/.mcp.json', '{\n  "mcpServers": {\n');
  folders.write('home/.codex/config.toml', 'a = 1\n[mcp_servers.x\n');
  folders.write('work/.cursor/mcp.json', { mcpServers: { fine: { command: 'x' } } });
  const found = folders.found();
  assert.deepEqual(
    found.map(({ servers, problem }) => [servers.length, /^line \d/.exec(problem ?? '')?.[0] ?? null]),
    [
      [0, 'line 3'],
      [1, null],
      [0, 'line 2'],
    ],
  );
});

test('an entry that is no object, or starts nothing, is an obstacle of that entry alone', () => {
  using folders = new Folders();
  folders.write('work/.mcp.json', {
    mcpServers: { a: 'npx', b: {}, c: { command: 'x', args: [1] }, d: { command: 'x' } },
  });
  const servers = folders.found()[0]?.servers ?? [];
  assert.deepEqual(
    servers.map(({ obstacle }) => obstacle?.message ?? null),
    [
      'the entry is not an object',
      'the entry has neither `command` nor `url`',
      '`args` is not a list of texts',
      null,
    ],
  );
});
