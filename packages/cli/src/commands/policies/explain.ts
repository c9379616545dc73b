/** `cordon explain`: plays recorded traces event by event and tells why the policy would not have allowed some. */

import type { Style } from '@cordon/console/text';
import type { TraceEvent } from '@cordon/policy';
import { ExplainingMonitor, type PolicyDecision, type PolicyReason } from '@cordon/policy-tools';
import { counted, Drawing, jsonLine, written } from '@cordon/print';
import {
  addEvents,
  countEvents,
  EventSummaries,
  NO_EVENTS,
  readTraces,
  readWords,
  type TraceInput,
} from '@cordon/scan/traces';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { type PolicyInUse, type PolicyOptions, policyInUse } from '../../context/policy-in-use.ts';
import { type TraceReadingOptions, traceReading } from '../../context/trace-reading.ts';
import { type Decided, ExplanationRenderer } from '../../print/explanation.ts';
export interface ExplainOptions extends PolicyOptions, TraceReadingOptions {
  /** Only this rule, and then also if it only warns. */
  readonly rule?: string;
  /** Only this event, or what is in it. */
  readonly event?: string;
}

const EVENT_HELP = 'name it by its path, as reports do: `3` for the message at position 3, from 0';

/** 0: everything is allowed; 1: something is not; 2: a policy, parameter, rule, event or trace that cannot be used. */
export async function explain(
  context: CommandContext,
  policyFile: string,
  traceFile: string,
  options: ExplainOptions,
): Promise<ExitCode> {
  const inUse = policyInUse(context, policyFile, options);
  const reading = traceReading(context, options);
  if (inUse === null || reading === null) return EXIT.failed;
  const { rule, event } = options;
  const rules = inUse.policy.rules.map(({ id }) => id);
  if (rule !== undefined && !rules.includes(rule)) {
    const help = `its rules: ${rules.join(', ')}`;
    return context.noteFault({ kind: 'usage', message: `the policy has no rule \`${rule}\``, help });
  }

  const renderer = new ExplanationRenderer(new Drawing(context.output, context.hasUnicode), inUse.policy);
  const count = { traces: 0, explained: 0, unusable: 0, refused: 0 };
  let read = NO_EVENTS;
  for await (const trace of readTraces(traceFile, reading)) {
    if (!trace.ok) {
      count.unusable++;
      context.noteDiagnostics([trace.fault]);
      continue;
    }
    count.traces++;
    read = addEvents(read, countEvents(trace.value.events));
    if (event !== undefined && !trace.value.events.some((one) => isWanted(one, event))) {
      count.unusable++;
      context.noteFault({
        kind: 'usage',
        message: `the trace has no event \`${event}\``,
        help: EVENT_HELP,
      });
      continue;
    }
    for (const decided of decisions(inUse, trace.value, options)) {
      count.explained++;
      if (decided.decision.verdict !== 'allow') count.refused++;
      if (context.wantsJson) await written(process.stdout, jsonLine(shapeOf(trace.value, decided)));
      else renderer.render(trace.value, decided);
    }
  }
  if (context.wantsJson)
    await written(process.stdout, jsonLine({ kind: 'explain.result', ...count, events: read }));
  else {
    const { words, style } = summaryOf(count);
    context.output.say('', words, style);
    context.output.say('', readWords(read), 'dim');
  }
  if (count.unusable > 0) return EXIT.failed;
  return count.refused > 0 ? EXIT.refused : EXIT.done;
}

interface Count {
  readonly explained: number;
  readonly unusable: number;
}

/** Who reads that all is allowed must be able to believe it: not where a trace, or the event, could not be looked at. */
function summaryOf({ explained, unusable }: Count): { readonly words: string; readonly style: Style } {
  if (explained > 0) return { words: counted(explained, 'decision'), style: 'plain' };
  if (unusable > 0) return { words: 'nothing to explain: some input cannot be used', style: 'bad' };
  return { words: 'nothing to explain: everything is allowed', style: 'good' };
}

/** What was denied is appended all the same: in a recorded trace it has happened. */
function* decisions(
  { policy, parameters }: PolicyInUse,
  trace: TraceInput,
  options: ExplainOptions,
): Generator<Decided> {
  const monitor = new ExplainingMonitor(policy, parameters);
  const summaries = new EventSummaries(trace.events);
  for (const event of trace.events) {
    const decision = monitor.decide([event]);
    monitor.append([event]);
    const wanted = isWanted(event, options.event) ? restrictedTo(decision, options) : null;
    const reference = event.path ?? event.id ?? '';
    if (wanted !== null) yield { event: reference, summary: summaries.of(reference), decision: wanted };
  }
}

/** `3` is also asked for by `3.tool_calls.0`, which is decided with it. */
function isWanted({ path, id }: TraceEvent, wanted: string | undefined): boolean {
  if (wanted === undefined || wanted === id) return true;
  return path !== undefined && `${wanted}.`.startsWith(`${path}.`);
}

/** Null: there is nothing to explain. A warning is explained to who asks for its rule or its event. */
function restrictedTo(decision: PolicyDecision, { rule, event }: ExplainOptions): PolicyDecision | null {
  const isAsked = (reason: PolicyReason) => rule === undefined || reason.rule === rule;
  const reasons = decision.reasons.filter(isAsked);
  const showsWarnings = rule !== undefined || event !== undefined;
  const warnings = showsWarnings ? decision.warnings.filter(isAsked) : [];
  return reasons.length + warnings.length === 0 ? null : { verdict: decision.verdict, reasons, warnings };
}

function shapeOf({ name }: TraceInput, { event, decision }: Decided): object {
  return { trace: name, event, ...decision };
}
