/** `cordon sessions`: what was asked, and what can be gone on with. Ring 1. */
import { openJournal } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { minuteOf, renderTable } from '../table.ts';
import type { Surroundings } from './surroundings.ts';

const MOST_SESSIONS = 50;

export function sessions(surroundings: Surroundings): ExitCode {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  const store = openJournal(configuration);
  if (!store.ok) return surroundings.tellObstacle({ kind: 'fault', fault: store.fault });
  const listed = store.value.sessions.list(MOST_SESSIONS);
  store.value.close();
  if (surroundings.wantsJson) {
    for (const session of listed) surroundings.json({ kind: 'session', ...session });
  } else if (listed.length === 0) surroundings.output.say('', 'there are no sessions yet');
  else {
    const rows = listed.map(({ id, status, startedAt, firstQuery }) => [
      id,
      status,
      minuteOf(startedAt),
      firstQuery ?? '(nothing asked)',
    ]);
    renderTable(surroundings.output, ['id', 'state', 'begun', 'first query'], rows);
  }
  return EXIT.done;
}
