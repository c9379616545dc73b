/**
 * Runs before an app that has a network: opens the port that HTTP(S)_PROXY names in the sandbox's own network, hands the
 * listener to the hub over Node's channel, and closes both before any code of the app is loaded. From then on the hub
 * takes the app's connections itself, and the app needs no Unix socket for them. Where the app connects directly, too, there are
 * more listeners: of each port that it may use somewhere, and of a name server.
 *
 * For a JavaScript app it runs in the app's process (`node --import`), or, where options or variables of the app would run
 * code of its before that, as a program that becomes the app's. Any other program is its child: Node ignores SIGPIPE,
 * and a program that Node becomes would ignore it, too.
 *
 * Without a type annotation: it is mounted as JavaScript, so that no app waits for Node's type stripper.
 */
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';

// Threads and programs that the app starts with its own options come here too, and have nothing to hand over.
const later = isMainThread ? process.env.CORDON_HANDOVER : undefined;
if (later !== undefined) {
  delete process.env.CORDON_HANDOVER;
  const { CORDON_PROXY_PORT, CORDON_NAME_SERVER, CORDON_DIRECT_PORTS } = process.env;
  delete process.env.CORDON_PROXY_PORT;
  delete process.env.CORDON_NAME_SERVER;
  delete process.env.CORDON_DIRECT_PORTS;
  const listeners = new Map([['proxy', createServer().listen(Number(CORDON_PROXY_PORT), '127.0.0.1')]]);
  const ports = CORDON_DIRECT_PORTS?.split(',').filter(Boolean) ?? [];
  if (CORDON_NAME_SERVER !== undefined) listeners.set('names', createServer().listen(53, CORDON_NAME_SERVER));
  // At every address; node:net takes `0.0.0.0` where the machine has no IPv6.
  for (const port of ports) listeners.set(port, createServer().listen(Number(port)));
  await Promise.all(
    Array.from(listeners.values(), (each) => new Promise((resolve) => each.once('listening', resolve))),
  );
  for (const [name, listener] of listeners) process.send?.(name, listener);
  const sockets = [];
  for (const port of CORDON_NAME_SERVER === undefined ? [] : ['53', ...ports]) {
    // Loaded for those alone that need it: it takes some milliseconds.
    const socket = process.getBuiltinModule('node:dgram').createSocket('udp4');
    const isBound = await new Promise((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(Number(port), port === '53' ? CORDON_NAME_SERVER : '0.0.0.0', () => resolve(true));
    });
    if (!isBound) break; // the app may have no datagrams
    sockets.push(socket);
    process.send?.(`udp:${port}`, socket);
  }
  process.send?.('all');
  await new Promise((resolve) => process.once('message', resolve));
  for (const listener of listeners.values()) listener.close();
  for (const socket of sockets) socket.close();
  process.disconnect();
  // Programs take it for a sign that another Node started them.
  delete process.send;
  // The channel's descriptor is closed in the next round of the loop.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const { CORDON_COMPILED } = process.env;
  delete process.env.CORDON_COMPILED;
  if (CORDON_COMPILED !== undefined)
    process.getBuiltinModule('node:module').enableCompileCache(CORDON_COMPILED);
  if (later !== '') {
    const [program = '', ...args] = process.argv.slice(2);
    const env = { ...process.env, ...JSON.parse(later) };
    if (program === process.execPath) process.execve?.(program, [program, ...args], env);
    // Descriptor 3 is the link to the hub where there is one, and /dev/null or closed where there is none.
    let hasLink = false;
    try {
      hasLink = fstatSync(3).isSocket();
    } catch {
      // closed
    }
    const child = spawn(program, args, {
      stdio: ['inherit', 'inherit', 'inherit', hasLink ? 3 : 'ignore'],
      env,
    });
    child.on('error', () => process.exit(127));
    child.on('exit', (code, signal) =>
      process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  }
}
