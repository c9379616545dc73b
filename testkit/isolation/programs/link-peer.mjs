/** A peer on the hub's link, confined as the agent loop is: the loop's own channel, asking as in `bare-peer.mjs`. */
import { Socket } from 'node:net';
import { openChannel } from '@cordon/spoke';

const channel = openChannel(
  new Socket({ fd: 3, readable: true, writable: true }),
  async (turn) => {
    if (turn.type !== 'turn') return;
    const [times, bytes] = turn.context.query.split(' ').map(Number);
    const text = 'x'.repeat(bytes);
    for (let left = times; left > 0; left--) {
      const answer = await channel.ask({ type: 'tool', name: 'echo', arguments: { text } });
      if (answer.text.length !== bytes) process.exit(1);
    }
    channel.send({ type: 'answer', id: turn.id, text: 'done' });
  },
  () => process.exit(0),
);
channel.send({ type: 'ready', versions: [2] });
