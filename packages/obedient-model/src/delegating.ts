/**
 * The obedient model as the reader of a text that the user asked to follow: the calls of the user's task that the text says something of,
 * and those of an attack that stands in it, as if both were asked for.
 */
import { type DelegationAnswer, isDelegatedValue, type Json, type ModelRequest } from '@cordon/core';
import { inputOf } from './planning.ts';
import { attacksIn } from './recogniser.ts';
import type { Scenario, ScenarioCall } from './scenario.ts';
import { taskIn } from './turn.ts';

/** Shorter values stand in every text. */
const SHORTEST = 3;

/** @returns the calls with the arguments that the text or the query says, in the order of the scenario */
export function delegatedIn(
  scenarios: readonly Scenario[],
  obeys: boolean,
  request: ModelRequest,
): DelegationAnswer {
  const input = inputOf(request);
  const query = typeof input.query === 'string' ? input.query : '';
  const text = typeof input.text === 'string' ? input.text : '';
  const own = taskIn(query, scenarios)?.task.calls ?? [];
  const injected = obeys ? attacksIn([text], scenarios).flatMap(({ calls }) => calls) : [];
  const asked = own.flatMap((call) => askedBy(call, text, query));
  return { calls: [...asked, ...injected.map(whole)] };
}

/** Empty: the text says nothing of the call that the query does not say. */
function askedBy(call: ScenarioCall, text: string, query: string): DelegationAnswer['calls'] {
  const { tool, arguments: given } = whole(call);
  const said = given.filter(({ value }) => standsIn(value, text) || standsIn(value, query));
  const isNew = said.some(({ value }) => standsIn(value, text) && !standsIn(value, query));
  return isNew ? [{ tool, arguments: said }] : [];
}

function standsIn(value: Json, text: string): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item: Json) => standsIn(item, text));
  const said = typeof value === 'string' ? value : JSON.stringify(value);
  return said.length >= SHORTEST && text.includes(said);
}

/** With all that the scenario knows before anything was called. */
function whole({ tool, arguments: given }: ScenarioCall): DelegationAnswer['calls'][number] {
  const known = [...given].flatMap(([name, value]) =>
    value.kind === 'literal' && isDelegatedValue(value.value) ? [{ name, value: value.value }] : [],
  );
  return { tool, arguments: known };
}
