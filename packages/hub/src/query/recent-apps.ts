/** Which apps were used last, told from the journal: those are likely to be needed again. */
import type { AppId } from '@cordon/core';
import type { Store } from '@cordon/trace';

/** So far back is looked: newest sessions, and their newest events. */
const SESSIONS = 3;
const EVENTS = 300;

/** Last used first. */
export function recentApps(store: Store): readonly AppId[] {
  const sessions = [...store.sessions.list()].sort((a, b) => b.lastAt - a.lastAt).slice(0, SESSIONS);
  const used = sessions.flatMap(({ id, events }) =>
    store.journal
      .events(id, Math.max(0, events - EVENTS))
      .filter(({ kind }) => kind === 'tool-call.executed' || kind === 'app.started')
      .flatMap(({ app }) => app ?? [])
      .reverse(),
  );
  return [...new Set(used)];
}
