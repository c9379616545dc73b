export { type Ask, runTurn, type TurnResult } from './agent-loop.ts';
export { openChannel } from './channel.ts';
export { runSpoke } from './spoke.ts';
