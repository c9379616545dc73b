/** Behaves until it is asked not to: each tool breaks one rule. */
import { echo, send, speak } from './lines.mjs';

const forever = (text) => {
  const write = () => {
    while (process.stdout.write(text));
  };
  process.stdout.on('drain', write);
  write();
};
const notification = `${JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'tick' },
})}\n`;

speak({
  echo,
  hang: () => undefined,
  stop: () => void process.kill(process.pid, 'SIGSTOP'),
  grumble: () => {
    const write = () => {
      while (process.stderr.write('out of paper\n'.repeat(1000)));
    };
    process.stderr.on('drain', write);
    write();
  },
  crash: () => {
    console.error('out of paper');
    process.exit(4);
  },
  chatter: () => forever('tick tock\n'.repeat(1000)),
  notify: () => forever(notification.repeat(1000)),
  bytes: () => void process.stdout.write(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a])),
  'huge-line': () => 'x'.repeat(20 * 1024 * 1024),
  'forged-answer': () => {
    send({ id: 999_999, result: { content: [] } });
    send({ id: null, method: 'tools/call', result: 5, __proto__: null });
    return 'still here';
  },
});
