export { type Ask, runTurn, type TurnResult } from './agent-loop.ts';
export { runSpoke } from './spoke.ts';
