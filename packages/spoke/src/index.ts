export { type Ask, runTurn, type TurnResult } from './agent-loop.ts';
