/**
 * `serve`: listens on a port, which it prints; answers `echo N` with N bytes, and ends with `bye`. Otherwise a client of such a server, at the
 * address and port that it is given: prints the milliseconds of connections, of round trips on one connection, and of 16 MB.
 */
import { connect, createServer } from 'node:net';

const [host, port, count] = process.argv.slice(2);
const MEGABYTES = 16;

function serve() {
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined).on('data', (data) => {
      const [, bytes] = /^echo (\d+)\n/.exec(String(data)) ?? [];
      if (bytes === undefined) return client.end();
      client.write(Buffer.alloc(Number(bytes), 'x'));
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

/** Resolves when so many bytes have come. */
function asked(socket, bytes) {
  return new Promise((resolve, reject) => {
    let missing = bytes;
    const take = (data) => {
      missing -= data.length;
      if (missing > 0) return;
      socket.off('data', take);
      resolve();
    };
    socket.on('data', take).once('close', () => reject(new Error('the connection was closed')));
    socket.write(`echo ${bytes}\n`);
  });
}

async function timed(act) {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

/** A connection, and 100 bytes through it. */
async function connectAndAsk() {
  const socket = connect({ host, port: Number(port), noDelay: true });
  await asked(socket, 100);
  socket.destroy();
}

async function series(times, act) {
  for (let n = 0; n < 20; n++) await act();
  const taken = [];
  for (let n = 0; n < times; n++) taken.push(await timed(act));
  return taken;
}

async function measure() {
  const connections = await series(Number(count), connectAndAsk);
  const socket = connect({ host, port: Number(port), noDelay: true });
  const roundTrips = await series(Number(count), () => asked(socket, 100));
  const transfer = [];
  for (let n = 0; n < 5; n++) transfer.push(await timed(() => asked(socket, MEGABYTES * 1_000_000)));
  socket.destroy();
  console.log(JSON.stringify({ connections, roundTrips, transfer }));
}

if (host === 'serve') serve();
else await measure();
