/**
 * Runs inside a sandbox whose app has a network: listens on the port that HTTP(S)_PROXY names, hands every
 * connection to the hub's Unix socket, and runs the app as its child with the same descriptors. It decides
 * nothing: the app may talk to the socket itself, or end this process, and gains nothing by either.
 *
 * Ring 0. Without a type annotation: it is mounted as JavaScript, so that no app waits for Node's type stripper.
 */
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const PORT = 3128;

const [socket, executable, ...args] = process.argv.slice(2);
if (socket === undefined || executable === undefined) process.exit(125);

// Descriptor 3 is the link to the hub where there is one, and /dev/null or closed where there is none.
let hasLink = false;
try {
  hasLink = fstatSync(3).isSocket();
} catch {
  // closed
}

const server = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: socket, allowHalfOpen: true });
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
  inner.on('close', () => outer.destroy());
  outer.on('close', () => inner.destroy());
  inner.pipe(outer);
  outer.pipe(inner);
});
server.maxConnections = 64;

server.on('error', () => process.exit(125));
server.listen(PORT, '127.0.0.1', () => {
  const child = spawn(executable, args, {
    stdio: ['inherit', 'inherit', 'inherit', hasLink ? 3 : 'ignore'],
  });
  child.on('error', () => process.exit(127));
  child.on('exit', (code, signal) =>
    process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
  );
});
