export { createObedientModel } from './obedient-model.ts';
export type { Variant } from './playback.ts';
export { canonicalText } from './recogniser.ts';
export type { Condition, Scenario, ScenarioCall, Task, Value } from './scenario.ts';
export { decodeScenario, parseScenario } from './scenario-reader.ts';
