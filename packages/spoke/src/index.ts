export { type Ask, runTurn } from './agent-loop.ts';
export { openChannel } from './channel.ts';
export { runSpoke } from './spoke.ts';
