import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkPath, type Network } from '../src/index.ts';
import { folder, printed, sandbox, script, spec } from './confined.ts';

const ask = `require('node:http').get('http://good.com/', (answer) => {
    answer.on('data', (data) => console.log(answer.statusCode, String(data)));
  }).on('error', (error) => console.log(error.code));`;

async function proxy(context: Parameters<typeof folder>[0]): Promise<Network> {
  const path = join(folder(context), 'egress.sock');
  const server = createServer((incoming, response) => response.end(`asked ${incoming.url}`));
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o666);
  const socket = checkPath(path);
  if (!socket.ok) throw new Error(socket.fault.message);
  return { kind: 'proxy', socket: socket.value };
}

test('an app with a network finds the proxy, an app without finds nothing', async (context) => {
  const network = await proxy(context);
  assert.equal(await printed(script(ask, { network })), '200 asked http://good.com/');
  assert.equal(await printed(script(ask)), 'EAI_AGAIN');
});

test('the proxy variables are there only with a network, and the exit code passes the forwarder', async (context) => {
  const network = await proxy(context);
  const env = 'console.log(process.env.HTTPS_PROXY, process.env.no_proxy)';
  assert.equal(await printed(script(env, { network })), 'http://127.0.0.1:3128');
  assert.equal(await printed(script(env)), 'undefined undefined');
  const code = spec({ executable: '/bin/sh', args: ['-c', 'echo "$http_proxy"'], usr: true, network });
  assert.equal(await printed(code), 'http://127.0.0.1:3128');
});

test('a tight process can have no network', async (context) => {
  const network = await proxy(context);
  const started = await sandbox.spawn(
    script('0', { profile: 'tight', network }),
    new AbortController().signal,
  );
  assert.equal(
    started.ok ? 'started' : started.fault.message,
    'a process of the profile `tight` cannot have a network',
  );
});
