/** What is proposed for an app, and why: never more than it names or is known to need. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as the file writes them
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  type AppProposal,
  appIdOf,
  type FoundSource,
  NO_EDITS,
  type ProposalEdits,
  parseEdit,
  propose,
  readPasted,
} from '../../src/index.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'cordon-propose-'));
after(() => rmSync(ROOT, { recursive: true }));
const HOME = join(ROOT, 'home');
const NOTES = join(HOME, 'notes');
mkdirSync(NOTES, { recursive: true });

const place = (environment: Readonly<Record<string, string>> = {}) => ({
  folder: ROOT,
  home: HOME,
  environment,
});

/** For an entry as other clients write it. */
function proposed(entry: object, edits: ProposalEdits = NO_EDITS, environment = {}): AppProposal {
  const read = readPasted(JSON.stringify({ mcpServers: { it: entry } }), 'here', place(environment));
  const [server] = read.ok ? read.value : assert.fail(read.fault);
  return propose('it', server ?? assert.fail(), place(environment), edits);
}

const npx = (...args: readonly string[]) => ({ command: 'npx', args: ['-y', ...args] });
const rights = ({ grants }: AppProposal) => grants.map(({ kind, value }) => `${kind} ${value}`);
const urgent = ({ notes }: AppProposal) => notes.filter(({ isUrgent }) => isUrgent).map(({ text }) => text);
const env = (source: FoundSource | null) => (source?.kind === 'command' ? source.env : {});

test('the filesystem server writes in the folders of its arguments, and nowhere else', () => {
  const proposal = proposed(npx('@modelcontextprotocol/server-filesystem', NOTES, '/nowhere/at/all'));
  assert.deepEqual(rights(proposal), [`write ${NOTES}`]);
  assert.match(urgent(proposal)[0] ?? '', /nothing at `\/nowhere\/at\/all`/);
});

test('a package that nobody looked up reads what its arguments name, and writes where they say so', () => {
  assert.deepEqual(rights(proposed(npx('some-mcp', NOTES))), [`read ${NOTES}`]);
  assert.deepEqual(rights(proposed(npx('some-mcp', '--db', NOTES))), [`write ${NOTES}`]);
  assert.deepEqual(rights(proposed(npx('some-mcp', `--root=${NOTES}`))), [`read ${NOTES}`]);
  assert.deepEqual(rights(proposed(npx('some-mcp', 'notes'))), []);
});

test('nobody proposes the whole home folder, or one that holds it', () => {
  for (const path of [HOME, '~', '/']) {
    const proposal = proposed(npx('@modelcontextprotocol/server-filesystem', path));
    assert.deepEqual(rights(proposal), []);
    assert.match(urgent(proposal)[0] ?? '', /holds your whole home folder/);
  }
});

test('a path that begins at the home or the current folder reaches the app in full', () => {
  const { source, grants } = proposed(npx('@modelcontextprotocol/server-filesystem', '~/notes', './home'));
  assert.deepEqual(source?.kind === 'command' && source.args.slice(2), [NOTES, HOME]);
  assert.deepEqual(
    grants.map(({ value }) => value),
    [NOTES],
  );
});

test('the script of a program is its code, and no right', () => {
  assert.deepEqual(rights(proposed({ command: 'node', args: [`${NOTES}/server.js`, NOTES] })), [
    `read ${NOTES}`,
  ]);
});

test('the memory server keeps its file in its own folder, or where the user has one already', () => {
  const own = proposed(npx('@modelcontextprotocol/server-memory'));
  assert.deepEqual(env(own.source), { MEMORY_FILE_PATH: '${state}/memory.jsonl' });
  assert.equal(own.state, 'it keeps memory.jsonl there');
  const example = {
    ...npx('@modelcontextprotocol/server-memory'),
    env: { MEMORY_FILE_PATH: '/path/to/custom/file.jsonl' },
  };
  assert.deepEqual(env(proposed(example).source), { MEMORY_FILE_PATH: '${state}/memory.jsonl' });
  const kept = { ...npx('@modelcontextprotocol/server-memory'), env: { MEMORY_FILE_PATH: NOTES } };
  assert.deepEqual(env(proposed(kept).source), { MEMORY_FILE_PATH: NOTES });
  assert.deepEqual(rights(proposed(kept)), [`write ${NOTES}`]);
});

test('hosts come from variables and addresses, each with its port', () => {
  const mail = {
    ...npx('@codefuturist/email-mcp', 'stdio'),
    env: {
      MCP_EMAIL_IMAP_HOST: 'imap.example.org',
      MCP_EMAIL_SMTP_HOST: 'smtp.example.org',
      MCP_EMAIL_SMTP_PORT: '587',
    },
  };
  assert.deepEqual(rights(proposed(mail)), ['network imap.example.org:993', 'network smtp.example.org:587']);
  assert.deepEqual(
    rights(proposed(npx('@modelcontextprotocol/server-postgres', 'postgresql://db.example.org/mine'))),
    ['network db.example.org:5432'],
  );
  assert.deepEqual(rights(proposed({ ...npx('some-mcp'), env: { API_URL: 'https://example.org/v1' } })), [
    'network =example.org',
  ]);
  assert.deepEqual(rights(proposed({ ...npx('some-mcp'), env: { HOST: 'not a host', MODE: 'https' } })), []);
});

test('what a package always asks is proposed, and its key is asked for once', () => {
  const { grants, secrets, source } = proposed(npx('@modelcontextprotocol/server-brave-search'));
  assert.deepEqual(
    grants.map(({ value }) => value),
    ['=api.search.brave.com'],
  );
  assert.deepEqual(
    secrets.map(({ key, value }) => [key, value]),
    [['BRAVE_API_KEY', null]],
  );
  assert.deepEqual(env(source), { BRAVE_API_KEY: '${secret:it.BRAVE_API_KEY}' });
});

test('a secret of the other file does not come into cordon.json; an example is asked for', () => {
  const entry = {
    ...npx('some-mcp'),
    env: { API_TOKEN: 'ghp_0123456789', KEY_ID: 'abc', PASSWORD: '<your password>' },
  };
  const { secrets, source } = proposed(entry);
  assert.deepEqual(env(source), {
    API_TOKEN: '${secret:it.API_TOKEN}',
    KEY_ID: 'abc',
    PASSWORD: '${secret:it.PASSWORD}',
  });
  assert.deepEqual(
    secrets.map(({ name, value }) => [name, value]),
    [
      ['it.API_TOKEN', 'ghp_0123456789'],
      ['it.PASSWORD', null],
    ],
  );
});

test('a variable that the user has set already is taken for an example', () => {
  const { source, secrets } = proposed(npx('@modelcontextprotocol/server-brave-search'), NO_EDITS, {
    BRAVE_API_KEY: 'x',
  });
  assert.deepEqual(env(source), { BRAVE_API_KEY: '${env:BRAVE_API_KEY}' });
  assert.deepEqual(secrets, []);
});

test('an address with a password in it is a secret, and a header with a token too', () => {
  const { source, grants } = proposed({
    ...npx('some-mcp'),
    env: { DATABASE_URL: 'postgres://me:pw@db.example.org/x' },
  });
  assert.deepEqual(env(source), { DATABASE_URL: '${secret:it.DATABASE_URL}' });
  assert.deepEqual(rights({ grants } as AppProposal), ['network db.example.org:5432']);
  const remote = proposed({
    url: 'https://example.org/mcp',
    headers: { Authorization: 'Bearer abc123', 'X-Region': 'eu' },
  });
  assert.deepEqual(remote.source, {
    kind: 'url',
    url: 'https://example.org/mcp',
    headers: { Authorization: 'Bearer ${secret:it.Authorization}', 'X-Region': 'eu' },
  });
});

test('what only another system needs is taken off', () => {
  const started = (entry: object) => {
    const { source } = proposed(entry);
    return source?.kind === 'command' ? [source.command, ...source.args].join(' ') : source?.url;
  };
  assert.equal(started({ command: 'cmd', args: ['/c', 'npx', '-y', 'a-mcp'] }), 'npx -y a-mcp');
  assert.equal(
    started({ command: 'C:\\Windows\\System32\\cmd.exe', args: ['/C', 'npx -y a-mcp'] }),
    'npx -y a-mcp',
  );
  assert.equal(started({ command: 'npx.cmd', args: ['a-mcp'] }), 'npx a-mcp');
  assert.equal(started({ command: 'bunx', args: ['a-mcp'] }), 'bunx a-mcp');
  assert.equal(started(npx('mcp-remote', 'https://example.org/mcp')), 'https://example.org/mcp');
});

test('the header of a bridge to a remote server becomes a header, its token a secret', () => {
  const entry = {
    ...npx('mcp-remote@latest', 'https://example.org/mcp', '--header', 'Authorization: Bearer ${TOKEN}'),
    env: { TOKEN: 'abc123' },
  };
  const { source, secrets } = proposed(entry);
  assert.deepEqual(source?.kind === 'url' && source.headers, {
    Authorization: 'Bearer ${secret:it.Authorization}',
  });
  assert.equal(secrets[0]?.value, 'abc123');
});

test('what cannot be confined is refused with what to do instead', () => {
  const refusal = (entry: object) => {
    const proposal = proposed(entry);
    assert.equal(proposal.source, null);
    return urgent(proposal).join();
  };
  assert.match(
    refusal({ command: 'docker', args: ['run', '-i', '--rm', 'mcp/github'] }),
    /npx -y @modelcontextprotocol\/server-github/,
  );
  assert.match(
    refusal({ command: 'docker', args: ['run', 'acme/own'] }),
    /name the program that the container starts/,
  );
  assert.match(
    refusal({ command: 'uv', args: ['--directory', '/src/weather', 'run', 'weather.py'] }),
    /start it with `\/src\/weather\/\.venv\/bin\/python weather\.py`/,
  );
  assert.match(refusal({ command: 'cmd', args: ['/c', 'npx a && del b'] }), /given to a Windows shell/);
  assert.match(refusal(npx('github:someone/something')), /not the name of a package/);
});

test('an app that another client restricts or does not start is taken over only if the user says so', () => {
  const restricted = proposed({ ...npx('a-mcp'), disabledTools: ['delete_all'] });
  assert.equal(restricted.isTaken, false);
  assert.match(restricted.notes[0]?.text ?? '', /restricts it there: delete_all/);
  assert.equal(proposed({ ...npx('a-mcp'), disabled: true }).isTaken, false);
  assert.equal(proposed({ ...npx('a-mcp'), disabledTools: [] }).isTaken, true);
});

const memory = npx('@modelcontextprotocol/server-memory');

/** After these lines of the user. */
function edited(entry: object, ...lines: readonly string[]): AppProposal {
  let edits = NO_EDITS;
  for (const line of lines) {
    const edit = parseEdit(line, [proposed(entry, edits)], place());
    edits = edit.ok ? edit.value.change(edits) : assert.fail(edit.fault);
  }
  return proposed(entry, edits);
}

test('the user leaves an app out, takes it in, and leaves out a single right', () => {
  assert.equal(edited(memory, '1').isTaken, false);
  assert.equal(edited(memory, '1', '1').isTaken, true);
  assert.equal(edited(memory, '1 a').state, null);
  assert.deepEqual(edited(memory, '1 b').labels, []);
  assert.notEqual(edited(memory, '1 a', '1 reset').state, null);
});

test('the user adds a folder and a host, and replaces a word of the command', () => {
  assert.deepEqual(rights(edited(memory, '1 +read ~/notes')), [`read ${NOTES}`]);
  assert.deepEqual(rights(edited(memory, '1 +host example.org:993')), ['network example.org:993']);
  const moved = edited(
    npx('@modelcontextprotocol/server-filesystem', '/nowhere/at/all'),
    `1 /nowhere/at/all ${NOTES}`,
  );
  assert.deepEqual(rights(moved), [`write ${NOTES}`]);
  assert.deepEqual(urgent(moved), []);
  const shorter = edited(
    npx('@modelcontextprotocol/server-filesystem', NOTES, '/nowhere'),
    '1 without /nowhere',
  );
  assert.deepEqual(shorter.source?.kind === 'command' && shorter.source.args.slice(2), [NOTES]);
  assert.deepEqual(urgent(shorter), []);
  assert.equal(edited(memory, '1 says Remembers birthdays.').description, 'Remembers birthdays.');
});

// Attack: tools are labelled as sending nothing out because the app has no network, and then it gets one.
test('a host that is added takes back that the tools send nothing out', () => {
  assert.deepEqual(proposed(memory).labels[0]?.says, { readOnly: true, outward: false });
  assert.deepEqual(edited(memory, '1 +host example.org').labels[0]?.says, { readOnly: true });
  assert.deepEqual(edited(memory, '1 +host example.org', '1 a').labels[0]?.says, {
    readOnly: true,
    outward: false,
  });
});

test('a change that is none says what can be typed', () => {
  const refused = (line: string) => {
    const edit = parseEdit(line, [proposed(memory)], place());
    return edit.ok ? assert.fail() : edit.fault;
  };
  assert.match(refused('2'), /there is no app 2/);
  assert.match(refused('1 z'), /has no line z/);
  assert.match(refused('1 +host *'), /cannot be allowed/);
  assert.match(refused('1 +everything x'), /there is no `\+everything`/);
  assert.match(refused('1 nothere x'), /no word of its command/);
});

test('ids are names that Cordon takes, each once', () => {
  const taken = new Set(['notes']);
  assert.equal(appIdOf('My Server!', taken), 'My-Server');
  assert.equal(appIdOf('Notes', taken), 'Notes-2');
  assert.equal(appIdOf('日本', taken), 'app');
});

// Attack: a file of a stranger names the secret of another app, or has an input with the name of another file's.
test('a secret that another file names belongs to the app alone', () => {
  const values = { ONE: '${secret:mail.PASSWORD}', TWO: '${input:token}' };
  assert.deepEqual(env(proposed({ ...npx('some-mcp'), env: values }).source), {
    ONE: '${secret:it.mail-PASSWORD}',
    TWO: '${secret:it.token}',
  });
  const read = readPasted(JSON.stringify({ it: { ...npx('some-mcp'), env: values } }), 'here', place());
  const [server] = read.ok ? read.value : assert.fail(read.fault);
  const own = propose('it', server ?? assert.fail(), { ...place(), isOwnEntry: true });
  assert.deepEqual(env(own.source), { ONE: '${secret:mail.PASSWORD}', TWO: '${secret:token}' });
});
