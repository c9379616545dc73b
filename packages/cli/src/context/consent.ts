/** Who answers questions for the user, as the options say. */
import { setTimeout } from 'node:timers/promises';
import { type Configuration, consentFrom, loadAnswers, parseEnd } from '@cordon/config';
import { LineAnswers, WaitingConsent } from '@cordon/console';
import { type Consent, type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { Review, Reviewer } from '@cordon/hub';
import type { OtherApp } from '@cordon/runtime/compose';
import type { CommandContext } from './command-context.ts';

/** Null: an option or the answers file is wrong, and that has been reported. */
export function consentOf(context: CommandContext, configuration: Configuration): Consent | null {
  const { answers, denyAll, denyWarned, allowRest } = context.options;
  const waiting = waitingConsent(context);
  if (!waiting.ok) {
    context.reportFault(waiting.fault);
    return null;
  }
  const flags = {
    now: context.now,
    ...(waiting.value === null ? {} : { waiting: waiting.value }),
    denyAll: denyAll === true,
    denyWarned: denyWarned === true,
    allowRest: allowRest === true,
  };
  if (answers === undefined) return consentFrom({ rules: null, ...flags }, context.terminalConsent());
  if (answers === '-') return consentFrom({ rules: null, ...flags }, lineAnswers(context));
  const parsed = loadAnswers(answers, { cwd: process.cwd(), home: context.home }, configuration);
  if (!parsed.ok) {
    context.reportDiagnostics(parsed.fault);
    return null;
  }
  return consentFrom({ rules: parsed.value, ...flags }, context.terminalConsent());
}

function lineAnswers(context: CommandContext): LineAnswers {
  const { terminal, now } = context;
  return new LineAnswers({ terminal, now, onRefused: (reason) => context.reportRefusedLine(reason) });
}

/** Waits for an answer from another process, for the time of `--wait`; null if that is not set. */
function waitingConsent(context: CommandContext): Result<Consent | null, Fault> {
  const { wait } = context.options;
  if (wait === undefined || wait === false) return ok(null);
  // A terminal waits anyway, and the question can be answered from elsewhere meanwhile.
  if (context.terminal.isInteractive) return ok(context.terminalConsent());
  const now = context.now();
  const end = parseEnd(wait === true ? '1d' : wait, now);
  if (!end.ok) return failed(fault('usage', `\`--wait\` takes a span: ${end.fault}`));
  const onWaiting: ConstructorParameters<typeof WaitingConsent>[0]['onWaiting'] = ({ id, question }) => {
    if (context.wantsJson) return;
    context.notes.say('? ', `${question} Answer it with: cordon prompts answer ${id} allow`, 'warn');
  };
  const pause = (milliseconds: number, signal: AbortSignal) =>
    setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
  return ok(new WaitingConsent({ waitMs: end.value - now, onWaiting, pause }));
}

/** Who looks at new apps; null if no person is here. */
export function reviewerOf(
  { terminal, notes, options, grantedEntries }: CommandContext,
  apps: () => readonly OtherApp[],
): Reviewer | null {
  if (!terminal.isInteractive || options.denyAll === true) return null;
  // Loaded when there is something to look at: the scan needs the detectors.
  return {
    agrees: async (review, signal) => {
      if (grantedEntries.size > 0) {
        const { isJustGranted } = await import('./rights/run-time-grant.ts');
        if (isJustGranted(review, grantedEntries)) return true;
      }
      const [{ TerminalReviewer }, { scannedDescription }] = await Promise.all([
        import('@cordon/console/review'),
        import('@cordon/scan/description'),
      ]);
      const findings = ({ app, description }: Review) => scannedDescription(description, app.id, apps());
      const isAgreed = await new TerminalReviewer({ screen: notes, terminal, findings }).agrees(
        review,
        signal,
      );
      if (isAgreed && lacksLabels(review)) notes.say(`${review.app.id}: `, NO_LABELS, 'dim');
      return isAgreed;
    },
  };
}

/** Said once: at the first review of an app about whose tools the user's files say nothing. */
function lacksLabels({ app: { manifest }, before }: Review): boolean {
  return before === null && manifest.irreversible === null && (manifest.labels ?? []).length === 0;
}

const NO_LABELS =
  'has no labels, so Cordon asks before each tool that does not call itself read-only; `cordon init` proposes labels';
