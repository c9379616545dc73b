/**
 * A session from the command line: opened, used, and closed whatever happens. Its events are told as they happen, and
 * what is weaker than usual is said first.
 *
 * Ring 1.
 */
import { type Consent, type Fault, id, ok, type Result } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { beginSession, endUnused, type SessionRecord } from '@cordon/hub/session-record';
import type { Store } from '@cordon/trace';
import type { Composed } from '../compose.ts';
import type { Configuration } from '../config.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type Ground, layGround, leaveGround, type Obstacle } from '../ground.ts';
import { optionsAgain } from '../options-again.ts';
import { missingFor } from '../unfinished.ts';
import { visibleLine } from '../visible-text.ts';
import { weakerNotices } from '../weaker.ts';
import { confirmed } from './confirmation.ts';
import type { Surroundings } from './surroundings.ts';

const BASELINE_NOTICE =
  'BASELINE: no isolation. All apps share one context; Cordon checks no policy and asks no questions. For comparison only.';

const UNSEEN_NOTICE = 'Cordon trusts new and reconfigured apps without review (--pin-unseen).';

const LOSS =
  'The lost events may include calls that took effect. In this session, Cordon asks before every call that cannot be undone, and repeats this warning.';
const GO_ON = 'Resume it anyway?';

/** How a command leaves its session: `suspend` lets it be gone on with. */
export interface Left {
  readonly exit: ExitCode;
  readonly how: 'end' | 'suspend';
}

/** A session that the journal has, and the rest of its hub when it is wanted. */
export interface Opening {
  readonly configuration: Configuration;
  readonly store: Store;
  /** What the query that was left needs and is not there; null: it can be gone on with, or there is none. */
  readonly missing: Fault | null;
  /**
   * Loads and puts together what acts, the first time; every time the same session. Nothing can be asked before. A
   * refusal has not been told, and nothing is left to do but to leave.
   */
  session(): Promise<Result<Session, Obstacle>>;
}

/** Opens a session for `use` and closes it behind it. Where it cannot be opened, why has been told. */
export function withSession(
  surroundings: Surroundings,
  resume: string | undefined,
  use: (session: Session, configuration: Configuration) => Promise<Left>,
  needsAll = false,
): Promise<ExitCode> {
  const used = async (opening: Opening): Promise<Left> => {
    const session = await opening.session();
    return session.ok
      ? use(session.value, opening.configuration)
      : { exit: surroundings.tellObstacle(session.fault), how: 'end' };
  };
  return withOpening(surroundings, resume, used, needsAll);
}

/**
 * The same for `use` that has something to say before the hub is loaded. `needsAll`: where something is missing that the
 * query which was left needs, the session stays as it was.
 */
export async function withOpening(
  surroundings: Surroundings,
  resume: string | undefined,
  use: (opening: Opening) => Promise<Left>,
  needsAll = false,
): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await surroundings.agrees(configuration))) return EXIT.failed;
  const consent = surroundings.consent(configuration);
  if (consent === null) return EXIT.failed;
  const laid = await layGround(configuration);
  if (!laid.ok) return surroundings.tellObstacle(laid.fault);
  const ground = laid.value;
  try {
    const missing =
      resume === undefined ? null : missingFor(ground.store, id<'session'>(resume), configuration);
    if (needsAll && missing !== null) {
      surroundings.tellFault(missing);
      return EXIT.failed;
    }
    const begun = await beginTold(surroundings, ground, resume);
    if (begun === null) return EXIT.failed;
    let opened: ReturnType<Opening['session']> | null = null;
    const session = () => {
      opened ??= sessionOn(surroundings, configuration, consent, ground, begun);
      return opened;
    };
    return await usedUp(
      surroundings,
      () => opened,
      use({ configuration, store: ground.store, missing, session }),
    );
  } finally {
    await leaveGround(ground);
  }
}

/** The rest of the hub, on the ground that stands, and in it the session that was begun. */
async function sessionOn(
  surroundings: Surroundings,
  configuration: Configuration,
  consent: Consent,
  ground: Ground,
  begun: SessionRecord,
): Promise<Result<Session, Obstacle>> {
  const composed = await composeReviewed(surroundings, configuration, consent, ground);
  if (!composed.ok) {
    endUnused(ground.store, begun);
    return composed;
  }
  // Those of rules that the user wrote have been told.
  if (ground.rules === null) surroundings.tellDiagnostics(composed.value.warnings);
  return ok(composed.value.hub.sessionOf(begun));
}

/** With the person at the terminal as the one who looks at new and changed apps. */
export async function composeReviewed(
  surroundings: Surroundings,
  configuration: Configuration,
  consent: Consent,
  ground: Ground,
): Promise<Result<Composed, Obstacle>> {
  const { composeOn, knownApps } = await import('../compose.ts');
  const reviewer = surroundings.reviewer(() => knownApps(configuration, ground.store));
  const pinsUnseen = surroundings.options.pinUnseen === true;
  return composeOn(ground, configuration, consent, surroundings.home, configuration.apps, {
    reviewer,
    pinsUnseen,
    installer: async () => (await import('./apps-install.ts')).installerOf(surroundings, configuration),
  });
}

async function usedUp(
  surroundings: Surroundings,
  opened: () => ReturnType<Opening['session']> | null,
  using: Promise<Left>,
): Promise<ExitCode> {
  let left: Left | null = null;
  try {
    left = await using;
    return left.exit;
  } finally {
    // Also after a bug of ours: its message must not wait for processes that nobody would end any more.
    const how = left?.how ?? 'suspend';
    const session = await opened();
    if (session?.ok === true) await closed(surroundings, session.value, how);
  }
}

async function closed(surroundings: Surroundings, session: Session, how: Left['how']): Promise<void> {
  try {
    await session.close(how);
  } finally {
    if (how === 'suspend') tellHowToGoOn(surroundings, session);
  }
}

/** With the options that say what there is: without them the same session would have other apps and another model. */
function tellHowToGoOn({ notes, options }: Surroundings, { id: session, unfinished }: Session): void {
  const more = visibleLine(optionsAgain(options));
  // Not wrapped: what is copied must stay one line.
  const say = (text: string) => notes.line(notes.style('dim', text));
  if (unfinished !== null) say(`finish the query: cordon resume ${session}${more}`);
  say(`resume it later: cordon chat --resume ${session}${more}`);
}

/** Null: the session cannot be opened, and why has been told. */
async function beginTold(
  surroundings: Surroundings,
  { store, modelId, weaker, rules }: Ground,
  resume: string | undefined,
): Promise<SessionRecord | null> {
  const isolation = surroundings.options.isolation === 'none' ? 'none' : 'spokes';
  const notices = [
    ...(isolation === 'none' ? [BASELINE_NOTICE] : []),
    ...(surroundings.options.pinUnseen === true ? [UNSEEN_NOTICE] : []),
    ...weakerNotices(weaker),
  ];
  surroundings.tellDiagnostics(rules?.policy.warnings ?? []);
  surroundings.tellNotices(notices);
  store.journal.subscribe((event) => surroundings.tell(event));
  const begin = (acceptsLoss: boolean) =>
    beginSession(store, modelId, {
      isolation,
      notices,
      acceptsLoss,
      ...(resume === undefined ? {} : { resume: id<'session'>(resume) }),
    });
  let begun = begin(false);
  if (!begun.ok && begun.fault.kind === 'session-shortened' && surroundings.terminal.isInteractive) {
    surroundings.notes.say('!! ', begun.fault.message, 'bad');
    surroundings.notes.say('', LOSS);
    if (!(await confirmed(surroundings, GO_ON, false, 'the session is unchanged'))) return null;
    begun = begin(true);
  }
  if (begun.ok) return begun.value;
  const { message, help } = begun.fault;
  surroundings.tellFault({ kind: 'journal-unavailable', message, help });
  return null;
}
