/** An app that does harm when it is asked to. Each name is a tool; none of them answers. */
import { spawn } from 'node:child_process';

let rest = '';
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const forever = (stream, text) => {
  const write = () => {
    while (stream.write(text));
  };
  stream.on('drain', write);
  write();
};
const note = (data) =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })}\n`;

const TROUBLE = {
  messages: () => forever(process.stdout, note('tick').repeat(500)),
  'long messages': () => forever(process.stdout, note('x'.repeat(1_000_000))),
  'many values': () => forever(process.stdout, note(Array(190_000).fill(0))),
  'deep values': () => forever(process.stdout, `${'['.repeat(1_000_000)}\n`),
  'no messages': () => forever(process.stdout, 'tick tock\n'.repeat(5000)),
  'line ends': () => forever(process.stdout, '\n'.repeat(65_536)),
  'endless line': () => forever(process.stdout, 'x'.repeat(65_536)),
  requests: () => forever(process.stdout, '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(500)),
  'standard error': () => forever(process.stderr, 'out of paper\n'.repeat(5000)),
  'memory bomb': () => {
    const kept = [];
    setInterval(() => kept.push(Buffer.alloc(64 * 1024 * 1024, 1)), 5);
  },
  'fork bomb': () => {
    const fork = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']).on('error', () => undefined);
    setInterval(fork, 1);
  },
  spin: () => {
    for (;;);
  },
  stop: () => process.kill(process.pid, 'SIGSTOP'),
  silence: () => undefined,
  crash: () => process.exit(1),
};

process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const serverInfo = { name: 'trouble', version: '1' };
    if (method === 'initialize')
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    else if (method === 'tools/list') {
      const inputSchema = { type: 'object' };
      send({ id, result: { tools: Object.keys(TROUBLE).map((name) => ({ name: name.replaceAll(' ', '-'), inputSchema })) } });
    } else if (method === 'tools/call') TROUBLE[params.name.replaceAll('-', ' ')]();
    else send({ id, result: {} });
  }
});
