/**
 * From the need of an app to its first tool call executed, told from the events that `--json` prints. The need is
 * `plan.made`: before it nobody knows which app it will be.
 */
import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import { WatchedProcess } from '@cordon/testkit/watched-process.ts';
import { CONFIGURATION, CORDON, type Home, SCENARIO } from './places.ts';

/** All in milliseconds. */
export interface FirstCall {
  readonly app: string;
  /** From the user's words, through planning, to the call. */
  readonly sinceQuery: number;
  /** From the plan that names the app to the call. */
  readonly sinceNeed: number;
  /** Within that: the app from nothing to its list of tools. */
  readonly start: number;
}

interface Task {
  readonly app: string;
  readonly query: string;
}

/** The apps of the scenario, each with the query that needs it and no other. */
export const TASKS: readonly Task[] = readTasks();
export const APPS: readonly string[] = TASKS.map(({ app }) => app);

const OPTIONS = [
  '--config',
  CONFIGURATION,
  '--scenario',
  SCENARIO,
  '--deny-warned',
  '--allow-rest',
  '--json',
];
const PROMPT = 'cordon> ';
const ENDED = '"kind":"query.ended"';
/** A person takes longer to type; the agent loop starts meanwhile. */
const TYPING_MS = 250;

/** `cordon ask`: nothing of the session is warm when the query comes. */
export async function inAsk(app: string, { environment }: Home): Promise<FirstCall> {
  const asking = new WatchedProcess({
    command: CORDON,
    args: ['ask', queryOf(app), ...OPTIONS],
    environment,
  });
  await asking.done();
  return firstCall(app, eventsIn(asking.output.text));
}

/** One session of `cordon chat` in which all apps are needed, one after the other, each for the first time. */
export async function inChat(apps: readonly string[], { environment }: Home): Promise<readonly FirstCall[]> {
  const chat = new WatchedProcess({ command: CORDON, args: ['chat', ...OPTIONS], environment });
  for (const [before, app] of apps.entries()) {
    await chat.errors.until(PROMPT, before + 1);
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    chat.say(queryOf(app));
    await chat.output.until(ENDED, before + 1);
  }
  await chat.errors.until(PROMPT, apps.length + 1);
  chat.say('/exit');
  await chat.done();
  const events = eventsIn(chat.output.text);
  return apps.map((app) => firstCall(app, queryThatStarted(app, events)));
}

function firstCall(app: string, events: readonly JsonObject[]): FirstCall {
  const find = (kind: string, of: string | null) => {
    const found = events.find((event) => event.kind === kind && (of === null || event.app === of));
    if (found === undefined) throw new Error(`no \`${kind}\` in the query for ${app}`);
    return found;
  };
  const outcome = find('query.ended', null).outcome;
  if (outcome !== 'answered') throw new Error(`the query for ${app} was ${String(outcome)}`);
  const executed = numberOf(find('tool-call.executed', app), 'time');
  return {
    app,
    sinceQuery: executed - numberOf(find('user.message', null), 'time'),
    sinceNeed: executed - numberOf(find('plan.made', null), 'time'),
    start: numberOf(find('app.started', app), 'milliseconds'),
  };
}

/** The events from the user's words that made the app start to the end of that query. */
function queryThatStarted(app: string, events: readonly JsonObject[]): readonly JsonObject[] {
  const started = events.findIndex((event) => event.kind === 'app.started' && event.app === app);
  const from = events.findLastIndex((event, at) => at < started && event.kind === 'user.message');
  const to = events.findIndex((event, at) => at > started && event.kind === 'query.ended');
  if (from < 0 || to < 0) throw new Error(`the chat did not start ${app}`);
  return events.slice(from, to + 1);
}

function eventsIn(output: string): readonly JsonObject[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const parsed = parseJson(line);
      if (!parsed.ok || !isJsonObject(parsed.value))
        throw new Error(`this is no event: ${line.slice(0, 200)}`);
      return parsed.value;
    });
}

function numberOf(event: JsonObject, key: string): number {
  const value = event[key];
  if (typeof value !== 'number') throw new Error(`\`${key}\` of \`${String(event.kind)}\` is no number`);
  return value;
}

function queryOf(app: string): string {
  const task = TASKS.find((one) => one.app === app);
  if (task === undefined) throw new Error(`the scenario has no task for ${app}`);
  return task.query;
}

/** In the scenario the id of each task is the app that it needs. */
function readTasks(): readonly Task[] {
  const parsed = parseJson(readFileSync(SCENARIO, 'utf8'));
  const tasks = parsed.ok && isJsonObject(parsed.value) ? parsed.value.tasks : null;
  if (!Array.isArray(tasks)) throw new Error('the scenario has no tasks');
  return tasks.map((task: unknown) => {
    if (!isJsonObject(task) || typeof task.id !== 'string' || typeof task.query !== 'string')
      throw new Error('a task of the scenario has no id or query');
    return { app: task.id, query: task.query };
  });
}
