/**
 * What a context recalls: the earlier turns of its owner in this session, and those of the app's earlier sessions.
 */
import { type EventId, HUB_LABEL } from '@cordon/core';
import type { Query } from '../context/query.ts';
import { recordUserInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { RememberedTurns, StoredMemory } from '../memory/stored-memory.ts';
import type { Prepared } from './preparation.ts';
import type { Releases } from './releases.ts';

/** What a private query recalls. */
const NOTHING: RememberedTurns = { messages: [], label: HUB_LABEL, sources: [], holdsOthersValues: false };

/** The query becomes visible in a context, after the earlier turns of its owner. */
export function hearQuery(
  { memory, recorder }: { readonly memory: Pick<StoredMemory, 'turns'>; readonly recorder: Recorder },
  query: Query,
  said: EventId,
  { context, owner }: Prepared,
): RememberedTurns {
  const earlier = query.isPrivate ? NOTHING : memory.turns(owner, said);
  context.recalls(earlier.label, earlier.holdsOthersValues);
  recordUserInput(recorder, context, query.text, said, earlier);
  return earlier;
}

/**
 * The app's earlier sessions become visible again. Their events stand in other journals, where no rule of this session
 * sees them: so it is a release, which the policy decides, with the app as the origin and with the label of all of it.
 */
export async function recallEarlierSessions(
  { memory, releases }: { readonly memory: Pick<StoredMemory, 'carried'>; readonly releases: Releases },
  query: Query,
  said: EventId,
  { context, owner }: Prepared,
): Promise<RememberedTurns['messages']> {
  const carried = query.isPrivate ? null : memory.carried(owner, said);
  if (carried === null) return [];
  const { messages, label, holdsOthersValues, turns, sessions } = carried;
  // How much it is, and not what: a session that is deleted leaves no copy in the journal of another.
  const value = `${turns} messages of ${sessions} earlier sessions`;
  const item = { name: 'earlier sessions', value, origin: context.app, label };
  const released = await releases.release(context, [item], null);
  if (released.length === 0) return [];
  context.recalls(label, holdsOthersValues);
  return messages;
}
