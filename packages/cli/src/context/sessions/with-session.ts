/**
 * A session from the command line: opened, used, and closed whatever happens. Its events are printed as they happen, and
 * it first reports what is weaker than usual.
 */

import { type Configuration, modelChoices, modelInUse, providerOf, withModel } from '@cordon/config';
import {
  type Consent,
  type Fault,
  failed,
  id,
  ok,
  type Result,
  type SessionId,
  visibleLine,
} from '@cordon/core';
import type { Session } from '@cordon/hub';
import { beginSession, endUnused, type SessionRecord } from '@cordon/hub/session-record';
import { closeRuntime, modelFault, openRuntime, type Runtime, type SetupError } from '@cordon/runtime';
import type { Composed } from '@cordon/runtime/compose';
import { weakerNotices } from '@cordon/runtime/weaker';
import type { Store } from '@cordon/trace';
import type { CommandContext, Options } from '../command-context.ts';
import { confirmed } from '../confirmation.ts';
import { consentOf, reviewerOf } from '../consent.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { optionsAgain } from '../options-again.ts';
import { type BegunWith, begunWith, missingFor } from './unfinished.ts';

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
  /** As the session uses it: with the model that the user switched to. */
  readonly configuration: Configuration;
  /** Models that the user can switch to. */
  readonly models: readonly string[];
  readonly store: Store;
  readonly id: SessionId;
  /** What the unfinished query needs and lacks; null if it can be resumed, or if there is none. */
  readonly missing: Fault | null;
  /** Another model of a provider that the configuration knows serves the next queries. A fault: why it cannot. */
  switchModel(name: string): Promise<Result<Session, SetupError>>;
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
    const left = resume === undefined ? null : begunWith(runtime.store, id<'session'>(resume));
    const missing = left === null ? null : missingFor(left, configuration);
    if (needsAll && missing !== null) return context.reportFault(missing);
    const begun = await beginOrReport(context, runtime, resume);
    if (begun === null) return EXIT.failed;
    const opening = new OpenedHere({ context, configuration, consent, runtime, begun, left });
    return await runAndClose(context, opening, use(opening));
  } finally {
    await closeRuntime(runtime);
  }
}

interface OpeningParts {
  readonly context: CommandContext;
  readonly configuration: Configuration;
  readonly consent: Consent;
  readonly runtime: Runtime;
  readonly begun: SessionRecord;
  readonly left: BegunWith | null;
}

class OpenedHere implements Opening {
  readonly #parts: OpeningParts;
  #configuration: Configuration;
  #opened: ReturnType<Opening['session']> | null = null;

  constructor(parts: OpeningParts) {
    this.#parts = parts;
    this.#configuration = parts.configuration;
  }

  get configuration(): Configuration {
    return this.#configuration;
  }

  get models(): readonly string[] {
    return modelChoices(this.#parts.configuration);
  }

  get store(): Store {
    return this.#parts.runtime.store;
  }

  get id(): SessionId {
    return this.#parts.begun.id;
  }

  get missing(): Fault | null {
    const { left } = this.#parts;
    return left === null ? null : missingFor(left, this.#configuration);
  }

  /** Null: nobody has wanted the session. */
  get opened(): ReturnType<Opening['session']> | null {
    return this.#opened;
  }

  session(): ReturnType<Opening['session']> {
    const { context, consent, runtime, begun } = this.#parts;
    this.#opened ??= sessionOn(context, this.#configuration, consent, runtime, begun);
    return this.#opened;
  }

  /** The options with which a new process would have the same apps, and this model; null: the one in use. */
  optionsAgain(named: string | null): Options {
    const { context, configuration } = this.#parts;
    const [before, model] = [modelInUse(configuration), named ?? modelInUse(this.#configuration)];
    if (model === before) return context.options;
    // `--base-url` is the address of the provider with which this process began.
    const { baseURL, ...others } = context.options;
    return { ...others, model, ...(providerOf(model) === providerOf(before) ? { baseURL } : {}) };
  }

  async switchModel(name: string): Promise<Result<Session, SetupError>> {
    const next = withModel(this.#parts.configuration, name);
    if (!next.ok) return failed({ kind: 'fault', fault: next.fault });
    const fault = modelFault(this.#parts.runtime.model, modelInUse(next.value));
    if (fault !== null) return failed({ kind: 'fault', fault });
    const session = await this.session();
    if (!session.ok) return session;
    const { modelChoiceOf } = await import('@cordon/runtime/compose');
    session.value.useModel(modelChoiceOf(next.value));
    this.#configuration = next.value;
    return session;
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
  opening: OpenedHere,
  using: Promise<Left>,
): Promise<ExitCode> {
  let left: Left | null = null;
  try {
    left = await using;
    return left.exit;
  } finally {
    // Also after a bug of Cordon's: its message must not wait for processes that nothing ends.
    const how = left?.how ?? 'suspend';
    const session = await opening.opened;
    if (session?.ok === true) await closed(context, opening, session.value, how, left?.isContinued === true);
  }
}

async function closed(
  context: CommandContext,
  opening: OpenedHere,
  session: Session,
  how: Left['how'],
  isContinued: boolean,
): Promise<void> {
  try {
    await session.close(how);
  } finally {
    if (how === 'suspend' && !isContinued) printHowToResume(context, opening, session);
  }
}

/** With the options that say what there is: without them the same session would have other apps and another model. */
function printHowToResume(
  { notes }: CommandContext,
  opening: OpenedHere,
  { id: session, unfinished }: Session,
): void {
  const options = (model: string | null) => visibleLine(optionsAgain(opening.optionsAgain(model)));
  // Not wrapped: what is copied must stay one line.
  const say = (text: string) => notes.line(notes.style('dim', text));
  if (unfinished !== null) say(`finish the query: cordon resume ${session}${options(unfinished.model)}`);
  say(`resume it later: cordon chat --resume ${session}${options(null)}`);
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
