/** Ways to talk to the host and to the network that are not the proxy. */
import { type Attempt, call, zeros } from '../attempt.ts';
import { node, quoted, SHARED } from './words.ts';

/** Connects, and gets through when somebody answers with the bait. */
function connects(where: string): ReturnType<typeof node> {
  return node(`let heard = '';
    require('node:net').connect(${where})
      .on('data', (data) => { heard += data; if (heard.includes('cordon-bait')) through(); })
      .on('error', (error) => refused(error.code)).on('end', () => refused('closed'));
    setTimeout(() => refused('silence'), 2000)`);
}

/** What an app may do: talk to a server of its own. */
const ownServer: Attempt['twin'] = () =>
  node(`const server = require('node:net').createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1', () =>
    require('node:net').connect(server.address().port, '127.0.0.1').on('data', () => through()).on('error', (error) => refused(error.code)))`);

/** `socket(domain, type, protocol)` with kinds that the kernel would give. */
function socket(
  id: string,
  title: string,
  [domain, type, protocol]: readonly [number, number, number],
  changes: Partial<Attempt> = {},
): Attempt {
  return {
    id,
    group: 'sockets',
    title,
    program: () => ({ kind: 'calls', calls: [call('socket', domain, type, protocol)] }),
    twin: () => ({ kind: 'calls', calls: [call('socket', 2, 1, 0)] }),
    stops: ['EAFNOSUPPORT'],
    layers: ['seccomp'],
    setting: SHARED,
    ...changes,
  };
}

export const SOCKETS: readonly Attempt[] = [
  {
    id: 'loopback',
    group: 'sockets',
    title: "connects to a server on the host's 127.0.0.1",
    program: ({ baits }) => connects(`${baits.tcpPort}, '127.0.0.1'`),
    twin: ownServer,
    stops: ['ECONNREFUSED'],
    layers: ['network-namespace'],
    setting: SHARED,
  },
  {
    id: 'loopback-6',
    group: 'sockets',
    title: "connects to a server on the host's ::1",
    program: ({ baits }) => connects(`${baits.tcpPort}, '::1'`),
    twin: ownServer,
    stops: ['ECONNREFUSED', 'EADDRNOTAVAIL'],
    layers: ['network-namespace'],
    kernelMayRefuse: ['ECONNREFUSED', 'EADDRNOTAVAIL'],
    setting: SHARED,
  },
  {
    id: 'name-server',
    group: 'sockets',
    title: 'asks a name server of the host by UDP, with what it stole as the name',
    program: ({ baits }) =>
      node(`const socket = require('node:dgram').createSocket('udp4')
        .on('message', () => through()).on('error', (error) => refused(error.code));
        socket.connect(${baits.udpPort}, '127.0.0.1', () => socket.send('stolen.example'));
        setTimeout(() => refused('silence'), 1000)`),
    twin: () =>
      node(`const server = require('node:dgram').createSocket('udp4').on('message', () => through());
        server.bind(0, '127.0.0.1', () => require('node:dgram').createSocket('udp4').send('x', server.address().port, '127.0.0.1'))`),
    stops: ['ECONNREFUSED', 'silence'],
    layers: ['network-namespace'],
    setting: SHARED,
  },
  {
    id: 'names',
    group: 'sockets',
    title: 'resolves a name (DNS)',
    program: () =>
      node(`require('node:dns').lookup('example.com', (error) => error ? refused(error.code) : through())`),
    twin: () =>
      node(`require('node:dns').lookup('localhost', (error) => error ? refused(error.code) : through())`),
    stops: ['EAI_AGAIN', 'ENOTFOUND'],
    layers: [],
    also: 'bubblewrap',
    cordonOnly: true,
    setting: SHARED,
  },
  {
    id: 'abstract-socket',
    group: 'sockets',
    title: "connects to an abstract Unix socket of the user's session",
    program: ({ baits }) => connects(`{ path: ${quoted(`\0${baits.abstractSocket}`)} }`),
    twin: ownServer,
    stops: ['EAFNOSUPPORT', 'ECONNREFUSED'],
    layers: ['seccomp', 'network-namespace'],
    setting: SHARED,
  },
  {
    id: 'path-socket',
    group: 'sockets',
    title: "connects to a Unix socket of the user's agent",
    program: ({ baits }) => connects(`{ path: ${quoted(baits.socket)} }`),
    twin: ownServer,
    stops: ['EAFNOSUPPORT', 'ENOENT'],
    layers: ['seccomp', 'file-view', 'separate-user'],
    setting: SHARED,
  },
  {
    id: 'socket-for-reading',
    group: 'sockets',
    title: 'connects to a Unix socket in a folder that it may only read',
    program: ({ code }) => connects(`{ path: ${quoted(`${code}/agent.sock`)} }`),
    // A child is given pairs of sockets for its streams.
    twin: () =>
      node(`require('node:child_process').spawn(process.execPath, ['-p', '1'])
        .on('error', (error) => refused(error.code)).on('exit', () => through())`),
    stops: ['EAFNOSUPPORT'],
    layers: ['seccomp'],
    setting: SHARED,
    cordonOnly: true,
  },
  {
    id: 'datagram-pair',
    group: 'sockets',
    title: 'gets a pair of sockets of which one can be connected anew, to a Unix socket of the host',
    program: () => ({ kind: 'calls', calls: [call('socketpair', 1, 2, 0, zeros(8))] }),
    twin: () => ({ kind: 'calls', calls: [call('socketpair', 1, 1, 0, zeros(8))] }),
    stops: ['EAFNOSUPPORT'],
    layers: ['seccomp'],
    setting: SHARED,
    cordonOnly: true,
  },
  {
    id: 'interfaces',
    group: 'sockets',
    title: 'finds a network beyond its own loopback',
    program: () =>
      node(`const names = fs.readFileSync('/proc/net/dev', 'latin1').split('\\n').slice(2)
          .map((line) => line.split(':')[0].trim()).filter(Boolean);
        names.some((name) => name !== 'lo') ? through() : refused('absent')`),
    twin: () =>
      node(`fs.readFileSync('/proc/net/dev', 'latin1').includes('lo:') ? through() : refused('absent')`),
    stops: ['absent'],
    layers: ['network-namespace'],
    kernelMayRefuse: ['absent'],
    setting: SHARED,
  },
  socket('raw', 'opens a raw socket', [2, 3, 1], {
    layers: ['seccomp', 'capabilities'],
    kernelMayRefuse: ['EPERM'],
  }),
  socket('packet', 'listens to all packets', [17, 3, 3], {
    layers: ['seccomp', 'capabilities'],
    kernelMayRefuse: ['EPERM'],
  }),
  socket('netlink', 'talks to the kernel about networks (netlink)', [16, 3, 0]),
  socket('vsock', 'talks to the host of a virtual machine (vsock)', [40, 1, 0], {
    kernelMayRefuse: ['EAFNOSUPPORT', 'EPERM'],
  }),
  socket('crypto-socket', "uses the kernel's ciphers (AF_ALG)", [38, 5, 0], {
    kernelMayRefuse: ['EAFNOSUPPORT'],
  }),
  socket('bluetooth', 'opens Bluetooth', [31, 3, 1], {
    kernelMayRefuse: ['EAFNOSUPPORT', 'EPROTONOSUPPORT'],
  }),
  socket('multipath', 'opens a connection of a rare kind (MPTCP)', [2, 1, 262], {
    kernelMayRefuse: ['EPROTONOSUPPORT'],
  }),
  socket('ping', 'sends pings', [2, 2, 1], { kernelMayRefuse: ['EACCES', 'EPERM'] }),
];
