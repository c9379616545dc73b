/**
 * A session from the command line: opened, used, and closed whatever happens. Its events are printed as they happen, and
 * it first reports what is weaker than usual.
 */

import type { Configuration } from '@cordon/config';
import { type Consent, type Fault, id, ok, type Result, type SessionId, visibleLine } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { beginSession, endUnused, type SessionRecord } from '@cordon/hub/session-record';
import { closeRuntime, openRuntime, type Runtime, type SetupError } from '@cordon/runtime';
import type { Composed } from '@cordon/runtime/compose';
import { weakerNotices } from '@cordon/runtime/weaker';
import type { Store } from '@cordon/trace';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../confirmation.ts';
import { consentOf, reviewerOf } from '../consent.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { optionsAgain } from '../options-again.ts';
import { missingFor } from './unfinished.ts';

const BASELINE_NOTICE =
  'BASELINE: no isolation. All apps share one context; Cordon checks no policy and asks no questions. For comparison only.';

const UNSEEN_NOTICE = 'Cordon trusts new and reconfigured apps without review (--pin-unseen).';

const LOSS =
  'The lost events may include calls that took effect. In this session, Cordon asks before every call that cannot be undone, and repeats this warning.';
const RESUME_ANYWAY = 'Resume it anyway?';

/** As commander parses them. */
export interface ResumeOptions {
  /** A session. */
  readonly resume?: string;
}

/** How a command leaves its session: `suspend` keeps it resumable. */
export interface Left {
  readonly exit: ExitCode;
  readonly how: 'end' | 'suspend';
  /** This process opens it again at once. */
  readonly isContinued?: true;
}

/** A session that the journal has, and the rest of its hub when it is wanted. */
export interface Opening {
  readonly configuration: Configuration;
  readonly store: Store;
  readonly id: SessionId;
  /** What the unfinished query needs and lacks; null if it can be resumed, or if there is none. */
  readonly missing: Fault | null;
  /**
   * Loads the hub the first time, and returns the same session each time. Nothing can be asked before. The caller reports
   * a refusal, and can then only leave.
   */
  session(): Promise<Result<Session, SetupError>>;
}

/** Opens a session for `use` and closes it behind it. Where it cannot be opened, the reason is reported. */
export function withSession(
  context: CommandContext,
  resume: string | undefined,
  use: (session: Session, configuration: Configuration) => Promise<Left>,
  needsAll = false,
): Promise<ExitCode> {
  const used = async (opening: Opening): Promise<Left> => {
    const session = await opening.session();
    return session.ok
      ? use(session.value, opening.configuration)
      : { exit: context.reportSetupError(session.fault), how: 'end' };
  };
  return withOpening(context, resume, used, needsAll);
}

/**
 * The same for `use` that has something to say before the hub is loaded. `needsAll`: where something is missing that the
 * query which was left needs, the session stays as it was.
 */
export async function withOpening(
  context: CommandContext,
  resume: string | undefined,
  use: (opening: Opening) => Promise<Left>,
  needsAll = false,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await context.agrees(configuration))) return EXIT.failed;
  const consent = consentOf(context, configuration);
  if (consent === null) return EXIT.failed;
  const open = await openRuntime(configuration, context.dialler);
  if (!open.ok) return context.reportSetupError(open.fault);
  const runtime = open.value;
  try {
    const missing =
      resume === undefined ? null : missingFor(runtime.store, id<'session'>(resume), configuration);
    if (needsAll && missing !== null) return context.reportFault(missing);
    const begun = await beginOrReport(context, runtime, resume);
    if (begun === null) return EXIT.failed;
    let opened: ReturnType<Opening['session']> | null = null;
    const session = () => {
      opened ??= sessionOn(context, configuration, consent, runtime, begun);
      return opened;
    };
    return await runAndClose(
      context,
      () => opened,
      use({ configuration, store: runtime.store, id: begun.id, missing, session }),
    );
  } finally {
    await closeRuntime(runtime);
  }
}

/** Loads the rest of the hub, and opens in it the session that was begun. */
async function sessionOn(
  context: CommandContext,
  configuration: Configuration,
  consent: Consent,
  runtime: Runtime,
  begun: SessionRecord,
): Promise<Result<Session, SetupError>> {
  const composed = await composeReviewed(context, configuration, consent, runtime);
  if (!composed.ok) {
    endUnused(runtime.store, begun);
    return composed;
  }
  // Those of rules that the user wrote have been told.
  if (runtime.rules === null) context.reportDiagnostics(composed.value.warnings);
  return ok(composed.value.hub.sessionOf(begun));
}

/** With the person at the terminal as the one who looks at new and changed apps. */
export async function composeReviewed(
  context: CommandContext,
  configuration: Configuration,
  consent: Consent,
  runtime: Runtime,
): Promise<Result<Composed, SetupError>> {
  const { composeOn, knownApps } = await import('@cordon/runtime/compose');
  const reviewer = reviewerOf(context, () => knownApps(configuration, runtime.store));
  const pinsUnseen = context.options.pinUnseen === true;
  const installer = async () => (await import('../installer.ts')).installerOf(context, configuration);
  const reviewing = { reviewer, pinsUnseen, installer };
  return composeOn(runtime, configuration, { consent, home: context.home, reviewing });
}

async function runAndClose(
  context: CommandContext,
  opened: () => ReturnType<Opening['session']> | null,
  using: Promise<Left>,
): Promise<ExitCode> {
  let left: Left | null = null;
  try {
    left = await using;
    return left.exit;
  } finally {
    // Also after a bug of Cordon's: its message must not wait for processes that nothing ends.
    const how = left?.how ?? 'suspend';
    const session = await opened();
    if (session?.ok === true) await closed(context, session.value, how, left?.isContinued === true);
  }
}

async function closed(
  context: CommandContext,
  session: Session,
  how: Left['how'],
  isContinued: boolean,
): Promise<void> {
  try {
    await session.close(how);
  } finally {
    if (how === 'suspend' && !isContinued) printHowToResume(context, session);
  }
}

/** With the options that say what there is: without them the same session would have other apps and another model. */
function printHowToResume({ notes, options }: CommandContext, { id: session, unfinished }: Session): void {
  const more = visibleLine(optionsAgain(options));
  // Not wrapped: what is copied must stay one line.
  const say = (text: string) => notes.line(notes.style('dim', text));
  if (unfinished !== null) say(`finish the query: cordon resume ${session}${more}`);
  say(`resume it later: cordon chat --resume ${session}${more}`);
}

/** Null: the session cannot be opened, and the reason is reported. */
async function beginOrReport(
  context: CommandContext,
  { store, modelId, weaker, rules }: Runtime,
  resume: string | undefined,
): Promise<SessionRecord | null> {
  const isolation = context.options.isolation === 'none' ? 'none' : 'spokes';
  const notices = [
    ...(isolation === 'none' ? [BASELINE_NOTICE] : []),
    ...(context.options.pinUnseen === true ? [UNSEEN_NOTICE] : []),
    ...weakerNotices(weaker),
  ];
  context.reportDiagnostics(rules?.policy.warnings ?? []);
  context.printNotices(notices);
  store.journal.subscribe((event) => context.printEvent(event));
  const begin = (acceptsLoss: boolean) =>
    beginSession(store, modelId, {
      isolation,
      notices,
      acceptsLoss,
      ...(resume === undefined ? {} : { resume: id<'session'>(resume) }),
    });
  let begun = begin(false);
  if (!begun.ok && begun.fault.kind === 'session-shortened' && context.terminal.isInteractive) {
    context.notes.say('!! ', begun.fault.message, 'bad');
    context.notes.say('', LOSS);
    if (!(await confirmed(context, RESUME_ANYWAY, false, 'the session is unchanged'))) return null;
    begun = begin(true);
  }
  if (begun.ok) return begun.value;
  const { message, help } = begun.fault;
  context.reportFault({ kind: 'journal-unavailable', message, help });
  return null;
}
