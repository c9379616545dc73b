/**
 * One spoke on its link, from the version to the end of its turn: the state machine of docs/protocol.md as the spoke
 * sees it. What the hub may not say in a state ends the spoke.
 */
import type { Duplex } from 'node:stream';
import { PROTOCOL_VERSIONS, type TurnContext } from '@cordon/protocol';
import { runTurn } from './agent-loop.ts';
import { openChannel } from './channel.ts';

type State = 'started' | 'idle' | 'in-turn' | 'over';

/** Says that it is ready, and serves the turns that come. `end` is called once: the process is to end. */
export function runSpoke(link: Duplex, end: () => void): void {
  let state: State = 'started';
  let turn = 0;
  const stop = () => {
    if (state === 'over') return;
    state = 'over';
    end();
  };
  const serve = async (id: number, context: TurnContext) => {
    state = 'in-turn';
    turn = id;
    const result = await runTurn(context, channel.ask);
    if (state !== 'in-turn') return;
    state = 'idle';
    channel.send({ ...{ type: result.type, id }, ...result });
  };
  const channel = openChannel(
    link,
    (notice) => {
      switch (notice.type) {
        case 'welcome':
          if (state !== 'started' || !PROTOCOL_VERSIONS.includes(notice.version)) return stop();
          state = 'idle';
          return;
        case 'turn':
          return state === 'idle' ? void serve(notice.id, notice.context) : stop();
        case 'cancel':
          // One that crossed the answer on its way is of a turn that is over.
          return state === 'idle' && notice.id === turn ? undefined : stop();
        case 'unsupported':
          return stop();
        default:
          notice satisfies never;
      }
    },
    stop,
  );
  channel.send({ type: 'ready', versions: PROTOCOL_VERSIONS });
}
