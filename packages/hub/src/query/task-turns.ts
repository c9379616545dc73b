/**
 * Serves another context's request by a context of the app: its own model call, its own history, no other data.
 */
import { ok } from '@cordon/core';
import type { ServingTask, TaskServer } from '../exchange/serving.ts';
import { recordInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Preparation } from './preparation.ts';
import type { Releases } from './releases.ts';
import type { Turns } from './turns.ts';

export interface TaskServerParts {
  readonly recorder: Recorder;
  readonly preparation: Preparation;
  readonly releases: Releases;
  readonly turns: Turns;
}

export function taskServer({ recorder, preparation, releases, turns }: TaskServerParts): TaskServer {
  return async (query, task, peers) => {
    const { app, depth, cause, label, origins } = task;
    const prepared = await preparation.app(query, app.id, [], { depth, cause });
    if (!prepared.ok) return prepared;
    const { context, owner } = prepared.value;
    for (const origin of origins) context.sees(label, origin);
    if (task.holdsOthersValues) context.learnsOthersValues();
    context.sees(label, null);
    const text = servingPrompt(task);
    // To rules it is that request, and never a message of the user.
    recordInput(recorder, context, text, { causes: [cause], label });
    // Facts are for the user's own words: what another app's context asks is not worth them.
    const isUsers = label.integrity === 'trusted' && origins.length === 0 && !query.isPrivate;
    const data = isUsers ? await releases.facts(context, query, owner) : [];
    const start = { text, data, history: [], task, opening: null };
    const answer = await turns.run(query, prepared.value, start, peers);
    return answer.ok ? ok({ text: answer.value, context }) : answer;
  };
}

/** The prompt of a context that serves another's request. */
function servingPrompt({ functionality: { description, response }, message }: ServingTask): string {
  return `Serve this request: ${description}\nThe request: ${JSON.stringify(message)}\nAnswer with one JSON value of this schema and nothing else: ${JSON.stringify(response)}`;
}
