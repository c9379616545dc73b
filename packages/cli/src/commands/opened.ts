/**
 * A session from the command line: opened, used, and closed whatever happens. Its events are told as they happen, and
 * what is weaker than usual is said first.
 *
 * Ring 1.
 */
import { type Consent, id, type Result } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { type Composed, compose, knownApps, type Obstacle } from '../compose.ts';
import type { Configuration } from '../config.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { weakerNotices } from '../weaker.ts';
import type { Surroundings } from './surroundings.ts';

const BASELINE_NOTICE =
  'BASELINE: no isolation. All apps share one context, no policy is in force, nobody is asked. For comparison only.';

const UNSEEN_NOTICE =
  'Apps that are new or configured anew are taken at their word: what they say is not shown (--pin-unseen).';

/** How a command leaves its session: `suspend` lets it be gone on with. */
export interface Left {
  readonly exit: ExitCode;
  readonly how: 'end' | 'suspend';
}

/** Opens a session for `use` and closes it behind it. Where it cannot be opened, why has been told. */
export async function withSession(
  surroundings: Surroundings,
  resume: string | undefined,
  use: (session: Session, configuration: Configuration) => Promise<Left>,
): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await surroundings.agrees(configuration))) return EXIT.failed;
  const consent = surroundings.consent(configuration);
  if (consent === null) return EXIT.failed;
  const composed = composeReviewed(surroundings, configuration, consent);
  if (!composed.ok) return surroundings.tellObstacle(composed.fault);
  try {
    const session = openTold(surroundings, composed.value, resume);
    return session === null ? EXIT.failed : await usedUp(surroundings, session, use(session, configuration));
  } finally {
    composed.value.store.close();
  }
}

/** With the person at the terminal as the one who looks at new and changed apps. */
export function composeReviewed(
  surroundings: Surroundings,
  configuration: Configuration,
  consent: Consent,
): Result<Composed, Obstacle> {
  const others = () => (composed.ok ? knownApps(configuration, composed.value.store) : []);
  const reviewer = surroundings.reviewer(others);
  const pinsUnseen = surroundings.options.pinUnseen === true;
  const composed = compose(configuration, consent, surroundings.home, configuration.apps, {
    reviewer,
    pinsUnseen,
  });
  return composed;
}

async function usedUp(surroundings: Surroundings, session: Session, using: Promise<Left>): Promise<ExitCode> {
  let left: Left | null = null;
  try {
    left = await using;
    return left.exit;
  } finally {
    // Also after a bug of ours: its message must not wait for processes that nobody would end any more.
    const how = left?.how ?? 'suspend';
    try {
      await session.close(how);
    } finally {
      if (how === 'suspend') tellHowToGoOn(surroundings, session);
    }
  }
}

function tellHowToGoOn({ notes }: Surroundings, { id: session, unfinished }: Session): void {
  if (unfinished !== null) notes.say('', `finish the query: cordon resume ${session}`, 'dim');
  notes.say('', `go on with it later: cordon chat --resume ${session}`, 'dim');
}

/** Null: the session cannot be opened, and why has been told. */
function openTold(
  surroundings: Surroundings,
  composed: Composed,
  resume: string | undefined,
): Session | null {
  const { hub, store, weaker } = composed;
  const isolation = surroundings.options.isolation === 'none' ? 'none' : 'spokes';
  const notices = [
    ...(isolation === 'none' ? [BASELINE_NOTICE] : []),
    ...(surroundings.options.pinUnseen === true ? [UNSEEN_NOTICE] : []),
    ...weakerNotices(weaker),
  ];
  surroundings.tellDiagnostics(composed.warnings);
  surroundings.tellNotices(notices);
  store.journal.subscribe((event) => surroundings.tell(event));
  const opened = hub.openSession({
    isolation,
    notices,
    ...(resume === undefined ? {} : { resume: id<'session'>(resume) }),
  });
  if (opened.ok) return opened.value;
  const { message, help } = opened.fault;
  surroundings.tellFault({ kind: 'journal-unavailable', message, help });
  return null;
}
