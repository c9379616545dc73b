/**
 * The program that runs inside a spoke's sandbox. It says it is ready, and then serves one turn after the other
 * until the hub closes the link.
 *
 * Ring 0.
 */
import { PROTOCOL_VERSION } from '@cordon/protocol';
import { runTurn } from './agent-loop.ts';
import { openChannel } from './channel.ts';

const channel = openChannel(
  async (message) => {
    if (message.type !== 'turn') return;
    const result = await runTurn(message.context, channel.ask);
    channel.send(
      result.kind === 'answer'
        ? { type: 'answer', id: message.id, text: result.text }
        : { type: 'exhausted', id: message.id, steps: result.steps },
    );
  },
  () => process.exit(0),
);
channel.send({ type: 'ready', version: PROTOCOL_VERSION });
