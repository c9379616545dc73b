/** `cordon grants list|revoke`: what the user agreed to, and taking it back. Ring 1. */
import { id, type PermissionSubject } from '@cordon/core';
import { openJournal } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { minuteOf, renderTable } from '../table.ts';
import type { Surroundings } from './surroundings.ts';

export function listGrants(surroundings: Surroundings): ExitCode {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  const store = openJournal(configuration);
  if (!store.ok) return surroundings.tellObstacle({ kind: 'fault', fault: store.fault });
  const grants = store.value.grants.list({ live: true });
  store.value.close();
  if (surroundings.wantsJson) {
    for (const grant of grants) surroundings.json({ kind: 'grant', ...grant });
  } else if (grants.length === 0) surroundings.output.say('', 'nothing is granted');
  else {
    const rows = grants.map((grant) => [
      grant.id,
      subjectOf(grant.subject),
      grant.duration,
      minuteOf(grant.givenAt),
    ]);
    renderTable(surroundings.output, ['id', 'what', 'how long', 'given'], rows);
  }
  return EXIT.done;
}

export function revokeGrant(surroundings: Surroundings, grant: string): ExitCode {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  const store = openJournal(configuration);
  if (!store.ok) return surroundings.tellObstacle({ kind: 'fault', fault: store.fault });
  const isRevoked = store.value.grants.revoke(id(grant));
  store.value.close();
  if (surroundings.wantsJson) surroundings.json({ kind: 'grant.revoked', grant, revoked: isRevoked });
  else
    surroundings.output.say(
      '',
      isRevoked
        ? `${grant} is revoked`
        : `there is no grant ${grant} that could be revoked; see \`cordon grants list\``,
    );
  return isRevoked ? EXIT.done : EXIT.failed;
}

function subjectOf({ scope, from, to, what }: PermissionSubject): string {
  return `${scope}: ${from ?? 'assistant'} → ${to ?? 'user'}, ${what}`;
}
