/**
 * A pair as a scenario of the obedient model, which it plays as it was recorded.
 *
 * Ring 2.
 */
import type { Scenario, ScenarioCall, Value } from '@cordon/llm';
import type { Pair, PairCall } from './pair.ts';

/** @param appOf the app of each call, as the planner is told it */
export function scenarioOf(pair: Pair, appOf: (call: PairCall) => string): Scenario {
  const calls = pair.calls.map((call, index) => ({
    origin: call.origin,
    call: planned(call, index, appOf(call)),
  }));
  const of = (origin: PairCall['origin']) =>
    calls.filter((one) => one.origin === origin).map(({ call }) => call);
  const task = {
    id: 'task',
    query: pair.query,
    app: null,
    calls: of('user'),
    beliefs: new Map(),
    answers: [{ when: null, text: [pair.answer] }],
  };
  const attack = {
    id: 'attack',
    text: pair.attack,
    calls: of('injection'),
    beliefs: new Map(),
    answer: null,
  };
  return {
    name: 'pair',
    description: '',
    curious: false,
    tasks: [task],
    attacks: pair.attack === '' ? [] : [attack],
  };
}

function planned({ tool, arguments: args }: PairCall, index: number, app: string): ScenarioCall {
  return {
    id: `call-${index}`,
    app,
    tool,
    functionality: tool,
    purpose: `${tool} of ${app} (call ${index})`,
    when: null,
    arguments: new Map(
      Object.entries(args).map(([key, value]): [string, Value] => [key, { kind: 'literal', value }]),
    ),
    needs: [],
    finds: null,
  };
}
