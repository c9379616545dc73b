/**
 * The client that the conformance suite of MCP drives (`conformance client --command`): the real `cordon`, with a browser that says
 * yes to everything, and a user who follows what Cordon's messages say.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { calls, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { inTurns, planning, step } from './provider-script.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const [url = ''] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context: { client_id?: string; client_secret?: string } = JSON.parse(
  process.env.MCP_CONFORMANCE_CONTEXT ?? '{}',
);

/** The suite's own address of a client metadata document. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/** A person gives up after the second login in a row. */
const MOST_LOGINS = 2;

const root = mkdtempSync(join(tmpdir(), 'cordon-conformance-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
writeFileSync(
  join(root, 'cordon.json'),
  JSON.stringify({ apps: { server: { url, manifest: { limits: { startSeconds: 120 } } } } }),
);
mkdirSync(join(root, 'bin'));
const browser = join(root, 'bin/xdg-open');
writeFileSync(browser, `#!${process.execPath}\nfetch(process.argv[2]).then((answer) => answer.text());\n`);
chmodSync(browser, 0o700);

const environment = {
  PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
  HOME: root,
  DISPLAY: ':0',
  NO_COLOR: '1',
  CORDON_KEY: '6f'.repeat(32),
  OPENAI_API_KEY: 'none',
  ...(process.env.NODE_COMPILE_CACHE === undefined
    ? {}
    : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};

async function cordon(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  console.log(`$ cordon ${args.join(' ')}\n${out}${err}[${code}]`);
  return { isDone: code === 0, said: `${out}${err}`.replace(/\s+/g, ' ') };
}

let logins = 0;

/** Does it, and logs in as often as Cordon says so and a person would. */
async function persistent(...args: readonly string[]): Promise<void> {
  for (;;) {
    const { isDone, said } = await cordon(...args);
    if (isDone) return;
    const [, scope] = /`cordon apps login server(?: --scope "([^"]+)")?`/.exec(said) ?? [];
    if (!said.includes('cordon apps login server') || logins === MOST_LOGINS) process.exit(1);
    logins++;
    const wish = [...(scope === undefined ? [] : ['--scope', scope]), ...clientOptions()];
    const login = await cordon('apps', 'login', 'server', '--yes', ...wish);
    if (!login.isDone) process.exit(1);
  }
}

function clientOptions(): readonly string[] {
  if (scenario === 'auth/basic-cimd') return ['--client-metadata', DOCUMENT];
  const { client_id: id, client_secret: secret } = context;
  if (id === undefined || secret === undefined) return [];
  writeFileSync(join(root, 'secret'), secret, { mode: 0o600 });
  return ['--client-id', id, '--client-secret-file', join(root, 'secret')];
}

await persistent('apps', 'review', '--all', '--yes');
await persistent('apps', 'review', '--all', '--yes');
if (scenario === 'auth/scope-step-up') {
  const fake = await startFakeOpenAi({
    script: planning(
      [step('server', ['test-tool'])],
      inTurns(calls([{ name: 'test-tool', arguments: {} }]), says('done')),
    ),
  });
  await persistent('ask', 'Use the tool.', '--model', 'openai/x', '--base-url', fake.baseUrl, '--allow-rest');
  await fake.close();
}
process.exit(0);
