/** `cordon analyze`: every violation in recorded traces, and what could not be decided. */

import type { Awaited } from '@cordon/detectors';
import { analyzeEvents } from '@cordon/policy-tools';
import { counted, Drawing, jsonLine, written } from '@cordon/print';
import {
  addEvents,
  analysisLine,
  countEvents,
  FindingsRenderer,
  NO_EVENTS,
  readTraces,
  readWords,
} from '@cordon/scan/traces';
import { type AskingOptions, answerersAskedFor } from '../../context/answerers-asked-for.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { type PolicyOptions, policyInUse } from '../../context/policy-in-use.ts';
import { type TraceReadingOptions, traceReading } from '../../context/trace-reading.ts';
/** 0: no violation, perhaps something undecided; 1: violations; 2: a policy, parameter or trace that cannot be used, or holds nothing. */
export async function analyze(
  context: CommandContext,
  policyFile: string,
  traceFiles: readonly string[],
  options: PolicyOptions & TraceReadingOptions & AskingOptions,
): Promise<ExitCode> {
  const asked = await answerersAskedFor(context, options);
  if (asked === null) return EXIT.failed;
  const inUse = policyInUse(context, policyFile, options, asked?.asking);
  const reading = traceReading(context, options);
  if (inUse === null || reading === null) return EXIT.failed;
  const { policy, parameters } = inUse;
  const renderer = new FindingsRenderer(new Drawing(context.output, context.hasUnicode), policy);
  const count = { files: traceFiles.length, traces: 0, unusable: 0, violations: 0, undecided: 0 };
  let read = NO_EVENTS;
  for (const file of traceFiles) {
    for await (const trace of readTraces(file, reading)) {
      if (!trace.ok) {
        count.unusable++;
        context.noteDiagnostics([trace.fault]);
        continue;
      }
      const { events } = trace.value;
      const analyzed = (awaited?: Awaited) => analyzeEvents(policy, events, parameters, awaited);
      const analysis = asked === undefined ? analyzed() : await asked.judged(analyzed);
      count.traces++;
      read = addEvents(read, countEvents(events));
      count.violations += analysis.errors.length;
      count.undecided += analysis.undecided.length;
      if (!context.wantsJson) renderer.render(trace.value, analysis);
      else for (const piece of analysisLine(trace.value.name, analysis)) await written(process.stdout, piece);
    }
  }
  if (context.wantsJson)
    await written(process.stdout, jsonLine({ kind: 'analyze.result', ...count, events: read }));
  else {
    const isGood = count.violations + count.unusable === 0;
    context.output.say('', summary(count), isGood ? 'good' : 'bad');
    context.output.say('', readWords(read), 'dim');
  }
  if (count.unusable > 0) return EXIT.failed;
  return count.violations > 0 ? EXIT.refused : EXIT.done;
}

interface Count {
  readonly files: number;
  readonly traces: number;
  readonly unusable: number;
  readonly violations: number;
  readonly undecided: number;
}

function summary({ files, traces, unusable, violations, undecided }: Count): string {
  const found = violations === 0 ? 'no violation' : counted(violations, 'violation');
  const open = undecided === 0 ? '' : `, ${undecided} undecided`;
  const broken = unusable === 0 ? '' : `; ${counted(unusable, 'trace')} cannot be used`;
  const several = files > 1 ? ` of ${counted(files, 'file')}` : '';
  return `${found}${open} in ${counted(traces, 'trace')}${several}${broken}`;
}
