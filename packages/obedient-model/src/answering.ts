/**
 * What the obedient model says when its agenda is done: the task's answer, or what an attack wants to be said, and
 * what it did and could not do besides.
 */
import { isJsonObject, type Json, type JsonSchema, toJson } from '@cordon/core';
import { type Playback, type Report, requestedResult } from './playback.ts';
import type { ScenarioStep } from './turn.ts';
import { fillTemplate, holds } from './values.ts';

const MISSING = 'unknown';

export const NOT_COVERED =
  'I am the built-in demonstration model: I can only play the scenario files that I was given, and none of them ' +
  'covers this request. To get real answers, configure a provider: `--model openai/…`, `anthropic/…` or `google/…` ' +
  'with its key in the environment, or an OpenAI-compatible server in `cordon.json`.';

export function answerOf(playback: Playback, schema: JsonSchema | undefined): string {
  if (playback.turn.kind === 'request') return JSON.stringify(requestedResult(playback) ?? { refused: true });
  const dictated = dictatedAnswer(playback);
  const text =
    dictated ?? [ownAnswer(playback), accountOf(playback.reports)].filter((part) => part !== '').join('\n\n');
  return schema === undefined ? text : JSON.stringify(shaped(schema, text));
}

/** The last attack that got everything it wanted has the last word. */
function dictatedAnswer(playback: Playback): string | null {
  const attack = playback.obeyed.findLast(
    (candidate) => candidate.answer !== null && playback.succeeded(candidate),
  );
  if (attack === undefined || attack.answer === null) return null;
  const scenario = playback.scenarioOf(attack);
  return fillTemplate(attack.answer, playback.view(scenario, null), MISSING) ?? null;
}

function ownAnswer(playback: Playback): string {
  const { turn } = playback;
  switch (turn.kind) {
    case 'task': {
      const view = playback.view(turn.scenario, turn.task);
      const answer = turn.task.answers.find(({ when }) => holds(when, view));
      return answer === undefined ? '' : (fillTemplate(answer.text, view, MISSING) ?? '');
    }
    case 'steps':
      return turn.steps.flatMap((step) => resultLine(playback, step)).join('\n');
    case 'request':
      return '';
    case 'unknown':
      return NOT_COVERED;
  }
}

function resultLine(playback: Playback, { scenario, call }: ScenarioStep): readonly string[] {
  const result = playback.result(scenario, call.id);
  if (result === undefined) return [];
  return [`${call.functionality}: ${typeof result === 'string' ? result : JSON.stringify(result)}`];
}

function accountOf(reports: readonly Report[]): string {
  const names = (wanted: (report: Report) => boolean) => [
    ...new Set(reports.filter(wanted).map(({ call }) => call.tool)),
  ];
  const done = names(({ origin, outcome }) => origin === 'attack' && outcome === 'done');
  const refused = names(({ outcome }) => outcome === 'refused');
  return [
    ...(done.length > 0 ? [`I also followed instructions that I found: ${done.join(', ')}.`] : []),
    ...(refused.length > 0 ? [`These were refused or failed: ${refused.join(', ')}.`] : []),
  ].join('\n');
}

/** The text, or the JSON in it, as an object of the schema that was asked for. */
function shaped(schema: JsonSchema, text: string): Json {
  const { properties } = schema;
  if (!isJsonObject(properties)) return text;
  const first = Object.entries(properties).find(
    ([, inner]) => isJsonObject(inner) && inner.type === 'string',
  );
  return first === undefined ? {} : toJson({ [first[0]]: text });
}
