/** A session that serves no query: its events are recorded, and the command says itself what comes of it. */
import type { Configuration } from '@cordon/config';
import { type Consent, fault } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { closeRuntime, openRuntime } from '@cordon/runtime';
import type { Composed } from '@cordon/runtime/compose';
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit.ts';
import { composeReviewed } from './with-session.ts';

export interface QuietSession {
  /** Answers what rules ask. */
  readonly consent: Consent;
  /** What the session is for, in the journal. */
  readonly notice: string;
}

/** The user has agreed to the configuration. Where the session cannot be opened, the reason is reported. */
export async function withQuietSession(
  context: CommandContext,
  configuration: Configuration,
  { consent, notice }: QuietSession,
  use: (session: Session, composed: Composed) => Promise<ExitCode>,
): Promise<ExitCode> {
  const runtime = await openRuntime(configuration, context.dialler);
  if (!runtime.ok) return context.reportSetupError(runtime.fault);
  try {
    const composed = await composeReviewed(context, configuration, consent, runtime.value);
    if (!composed.ok) return context.reportSetupError(composed.fault);
    const session = composed.value.hub.openSession({ isolation: 'spokes', notices: [notice] });
    if (!session.ok)
      return context.reportFault(fault('journal-unavailable', session.fault.message, session.fault.help));
    try {
      return await use(session.value, composed.value);
    } finally {
      await session.value.close('end');
    }
  } finally {
    await closeRuntime(runtime.value);
  }
}
