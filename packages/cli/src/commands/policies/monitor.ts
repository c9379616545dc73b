/** `cordon monitor`: one decision for each message that comes in, before it happens. */

import { ExplainingMonitor, type PolicyDecision, type PolicyReason } from '@cordon/policy-tools';
import { jsonLine, written } from '@cordon/print';
import type { Answerers } from '@cordon/scan/answerers';
import {
  type Answer,
  MessageStream,
  MOST_LINE_BYTES,
  type StreamLine,
  streamLines,
} from '@cordon/scan/traces';
import { type AskingOptions, answerersAskedFor } from '../../context/answerers-asked-for.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { type PolicyOptions, policyInUse } from '../../context/policy-in-use.ts';
export interface MonitorOptions extends PolicyOptions, AskingOptions {
  /** The answer to questions, for lines that hold none. */
  readonly consent: Answer;
  /** Tell of each reason how it came about. */
  readonly explain?: boolean;
}

/** What is printed about one line. */
interface LineDecision {
  readonly line: number;
  readonly verdict: PolicyDecision['verdict'];
  /** What is wrong with the line; it is denied. */
  readonly error?: string;
  readonly reasons: readonly Reason[];
  readonly warnings: readonly Reason[];
}

type Reason = Omit<PolicyReason, 'explanation'> & Partial<PolicyReason>;

/** 0: all was allowed; 1: something was denied or asked; 2: an unusable policy or parameter, a line that is no message, or no line at all. */
export async function monitor(
  context: CommandContext,
  policyFile: string,
  options: MonitorOptions,
): Promise<ExitCode> {
  const asked = await answerersAskedFor(context, options);
  if (asked === null) return EXIT.failed;
  const inUse = policyInUse(context, policyFile, options, asked?.asking);
  if (inUse === null) return EXIT.failed;
  const watch = new Watch(new ExplainingMonitor(inUse.policy, inUse.parameters), options, asked);
  context.onInterrupt = () => process.exit(watch.exitCode);
  for await (const line of streamLines(process.stdin, MOST_LINE_BYTES)) {
    const decision = await watch.decide(line);
    if (decision !== null) await written(process.stdout, jsonLine(decision));
  }
  if (watch.isIdle) {
    const help = 'write one message a line to its standard input';
    return context.noteFault({ kind: 'usage', message: 'no message arrived, so nothing was checked', help });
  }
  return watch.exitCode;
}

/** The trace so far, and what the lines before amount to. */
class Watch {
  readonly #monitor: ExplainingMonitor;
  readonly #options: MonitorOptions;
  readonly #messages: MessageStream;
  readonly #asked: Answerers | undefined;
  #exitCode: ExitCode = EXIT.done;
  #lines = 0;

  constructor(explaining: ExplainingMonitor, options: MonitorOptions, asked: Answerers | undefined) {
    this.#monitor = explaining;
    this.#options = options;
    this.#messages = new MessageStream(options.dialect);
    this.#asked = asked;
  }

  get exitCode(): ExitCode {
    return this.#exitCode;
  }

  /** Whether all of its input was empty. */
  get isIdle(): boolean {
    return this.#lines === 0;
  }

  /** Null for a line without anything on it. */
  async decide({ number, text }: StreamLine): Promise<LineDecision | null> {
    if (text.ok && text.value.trim() === '') return null;
    this.#lines++;
    const pending = text.ok ? this.#messages.read(text.value) : text;
    if (!pending.ok) {
      this.#exitCode = EXIT.failed;
      return { line: number, verdict: 'deny', error: pending.fault, reasons: [], warnings: [] };
    }
    const { events, consent, happened } = pending.value;
    await this.#asked?.judged((awaited) => this.#monitor.decide(events, awaited));
    const { verdict, reasons, warnings } = this.#monitor.admit(events, consent ?? this.#options.consent);
    if (verdict === 'allow') happened();
    else if (this.#exitCode === EXIT.done) this.#exitCode = EXIT.refused;
    const told = this.#options.explain === true ? (reason: PolicyReason) => reason : withoutStory;
    return { line: number, verdict, reasons: reasons.map(told), warnings: warnings.map(told) };
  }
}

function withoutStory({ explanation: _, ...reason }: PolicyReason): Reason {
  return reason;
}
