/** A pair as a scenario of the obedient model, which it plays as it was recorded. */
import type { ArgumentSource, JsonObject } from '@cordon/core';
import type { Condition, Scenario, ScenarioCall, Task, Value } from '@cordon/obedient-model';
import { innerFields, isWrittenField, leavesOf, recordFields } from '@cordon/policy';
import { planOfCalls, type ScriptedCall } from '../../plans/scripted-plans.ts';
import type { Adapted } from './adaptation.ts';
import type { Pair, PairCall } from './pair.ts';

/** @param appOf the app of each call, as the planner is told it */
export function scenarioOf(
  { pair, told, waitsFor, isQuoted }: Adapted,
  appOf: (call: PairCall) => string,
): Scenario {
  const followed = followedIn(pair);
  const sources = sourcesIn(pair, appOf);
  const of = (origin: PairCall['origin'], when: Condition | null) =>
    pair.calls.flatMap((call, index) =>
      call.origin === origin
        ? [
            {
              ...planned(call, index, appOf(call), when, passedTo(index, pair.calls)),
              follows: index === followed,
              ...(origin === 'user' ? { sources: sources(call) } : {}),
            },
          ]
        : [],
    );
  const first = pair.calls.find(({ origin }) => origin === 'user');
  const answer = isQuoted ? `${pair.answer} It also says: ${pair.attack}` : pair.answer;
  const task = taskOf('task', pair.query, null, of('user', null), answer);
  const before = told === null ? [] : [taskOf('before', told, null, [], 'I have noted it.')];
  const after =
    waitsFor === null
      ? []
      : [taskOf('later', waitsFor, first === undefined ? null : appOf(first), [], 'You are welcome.')];
  const attackers = of('injection', waitsFor === null ? null : { kind: 'sees', text: waitsFor });
  const attack = { id: 'attack', text: pair.attack, calls: attackers, beliefs: new Map(), answer: null };
  return {
    name: 'pair',
    description: '',
    curious: false,
    tasks: [...before, task, ...after],
    attacks: pair.attack === '' ? [] : [attack],
  };
}

function taskOf(
  id: string,
  query: string,
  app: string | null,
  calls: readonly ScenarioCall[],
  text: string,
): Task {
  return { id, query, app, calls, beliefs: new Map(), answers: [{ when: null, text: [text] }] };
}

function planned(
  { tool, arguments: args }: PairCall,
  index: number,
  app: string,
  when: Condition | null,
  passes: readonly number[],
): ScenarioCall {
  return {
    id: `call-${index}`,
    app,
    tool,
    functionality: tool,
    purpose: `${tool} of ${app} (call ${index})`,
    when,
    arguments: new Map(
      Object.entries(args).map(([key, value]): [string, Value] => [key, { kind: 'literal', value }]),
    ),
    passes: passes.map((before) => `call-${before}`),
    needs: [],
    finds: null,
  };
}

/** Where the user's calls take their arguments from, as a planner of their app would say it. */
function sourcesIn(
  { query, calls }: Pair,
  appOf: (call: PairCall) => string,
): (call: PairCall) => ReadonlyMap<string, readonly string[]> {
  const own = calls.filter(({ origin }) => origin === 'user');
  const plan = planOfCalls(query, own.map(scripted));
  const apps = new Map(own.map((call) => [call.tool, appOf(call)]));
  return (call) => {
    const spoken = (source: ArgumentSource) => {
      if (source.kind !== 'result') return source.kind;
      const isOwn = source.tool !== null && apps.get(source.tool) === appOf(call);
      return `${source.within} of ${isOwn ? source.tool : 'another app'}`;
    };
    const entries = Object.entries(plan.get(call.tool) ?? {});
    return new Map(entries.map(([argument, all]) => [argument, [...new Set(all.map(spoken))]]));
  };
}

/** Fields as rules know them: a program filled them in. */
function scripted({ tool, arguments: args, output }: PairCall): ScriptedCall {
  const known = (recordFields(output) ?? [])
    .flatMap((field) => innerFields(field))
    .filter(({ name }) => !isWrittenField(name));
  return { tool, args, output, fields: new Set(known.map(({ text }) => text.trim().toLowerCase())) };
}

/**
 * The calls before one, of the same origin, of whose results it says a word: what a planner would tell from "send them to Ada". Numbers,
 * codes and long words count, those that the task has not said itself.
 */
function passedTo(index: number, calls: readonly PairCall[]): readonly number[] {
  const call = calls[index];
  if (call === undefined) return [];
  const said = wordsOf(JSON.stringify(call.arguments));
  return calls.slice(0, index).flatMap(({ origin, arguments: args, output }, before) => {
    const asked = wordsOf(JSON.stringify(args));
    const isPassed = [...wordsOf(output)].some((word) => said.has(word) && !asked.has(word));
    return origin === call.origin && isPassed ? [before] : [];
  });
}

/** What a user says who leaves to a text what is to be done: "do the tasks on that page", "fulfil her request". */
const DELEGATES =
  /\b(?:follow|do|perform|achieve|complete|fulfill?|carry out|execute)\b[^.?!]{0,30}\b(?:instructions?|tasks? (?:i have )?on|actions specified|requests?|what (?:he|she|they) needs?)\b/i;

/**
 * The first own call that the query points at, by an argument or a word of its name, and whose output says something of what later calls
 * do that the query does not say: this output is carried out. -1: the query leaves nothing to a text.
 */
function followedIn({ query, calls }: Pair): number {
  if (!DELEGATES.test(query)) return -1;
  const isSaid = (text: string) => text.length >= 3 && query.includes(text);
  const isNew = (text: string) => text.length >= 3 && !query.includes(text);
  return calls.findIndex(({ origin, tool, arguments: args, output }, index) => {
    const later = calls.slice(index + 1).filter((call) => call.origin === 'user');
    const tells = later.some((call) =>
      textsOf(call.arguments).some((text) => isNew(text) && output.includes(text)),
    );
    const words = tool.split('_').map((word) => word.replace(/s$/, ''));
    const isNamed = textsOf(args).some(isSaid) || words.some((word) => word.length > 4 && isSaid(word));
    return origin === 'user' && tells && isNamed;
  });
}

function textsOf(args: JsonObject): readonly string[] {
  return leavesOf(args, Number.POSITIVE_INFINITY) ?? [];
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\p{L}\p{N}+/=]{8,}|\d{4,}/gu) ?? []);
}
