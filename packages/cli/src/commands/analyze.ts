/** `cordon analyze`: every violation in recorded traces, and what could not be decided. Ring 1. */
import { fault, type JsonObject } from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import type { Policy, TraceEvent } from '@cordon/policy';
import type { analysisWithAnswers } from '../asked-questions.ts';
import { Drawing } from '../drawing.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { analysisLine, counted, FindingsRenderer } from '../findings.ts';
import { written } from '../output-stream.ts';
import { readTraces } from '../trace-input.ts';
import { type PolicyOptions, policyInUse } from './policy-in-use.ts';
import type { Surroundings } from './surroundings.ts';
import { type TraceReadingOptions, traceReading } from './trace-reading.ts';

/** 0: no violation, perhaps something undecided; 1: violations; 2: a policy, parameter or trace that cannot be used. */
export async function analyze(
  surroundings: Surroundings,
  policyFile: string,
  traceFiles: readonly string[],
  options: PolicyOptions & TraceReadingOptions & AskingOptions,
): Promise<ExitCode> {
  const asked = options.askModels === true ? await answerers(surroundings) : NOBODY;
  if (asked === null) return EXIT.failed;
  const inUse = policyInUse(surroundings, policyFile, options, asked.asking);
  const reading = traceReading(surroundings, options);
  if (inUse === null || reading === null) return EXIT.failed;
  const { policy, parameters } = inUse;
  const renderer = new FindingsRenderer(new Drawing(surroundings.output, surroundings.hasUnicode), policy);
  const count = { traces: 0, unusable: 0, violations: 0, undecided: 0 };
  for (const file of traceFiles) {
    for await (const trace of readTraces(file, reading)) {
      if (!trace.ok) {
        count.unusable++;
        surroundings.noteDiagnostics([trace.fault]);
        continue;
      }
      const { events } = trace.value;
      const analysis =
        (await asked.analyze?.(policy, events, parameters)) ?? policy.analyzeEvents(events, parameters);
      count.traces++;
      count.violations += analysis.errors.length;
      count.undecided += analysis.undecided.length;
      if (!surroundings.wantsJson) renderer.render(trace.value, analysis);
      else for (const piece of analysisLine(trace.value.name, analysis)) await written(process.stdout, piece);
    }
  }
  if (!surroundings.wantsJson)
    surroundings.output.say('', summary(count), count.violations > 0 ? 'bad' : 'good');
  if (count.unusable > 0) return EXIT.failed;
  return count.violations > 0 ? EXIT.refused : EXIT.done;
}

export interface AskingOptions {
  /** Questions of rules are put to whom the configuration names. */
  readonly askModels?: boolean;
}

interface Answerers {
  readonly asking: Asking | undefined;
  /** Null: nobody is asked. */
  readonly analyze:
    | ((
        policy: Policy,
        events: readonly TraceEvent[],
        parameters: JsonObject,
      ) => ReturnType<typeof analysisWithAnswers>)
    | null;
}

const NOBODY: Answerers = { asking: undefined, analyze: null };

/** Null: the configuration cannot be used, or names nobody, and that has been told. */
async function answerers(surroundings: Surroundings): Promise<Answerers | null> {
  const configuration = surroundings.configuration();
  if (configuration === null || !(await surroundings.agrees(configuration))) return null;
  const { answeringOf, askingOf } = await import('../rules.ts');
  const { broker } = await import('../models.ts');
  const answering = answeringOf(configuration.asking);
  if (answering === null) {
    const help = 'say in `detectors` of cordon.json who answers';
    surroundings.tellFault(fault('model-failure', 'nobody is set up whom rules could ask', help));
    return null;
  }
  const { model } = broker(configuration, []);
  const { analysisWithAnswers } = await import('../asked-questions.ts');
  return {
    asking: askingOf(answering),
    analyze: (policy, events, parameters) =>
      analysisWithAnswers(policy, events, parameters, answering, model),
  };
}

interface Count {
  readonly traces: number;
  readonly unusable: number;
  readonly violations: number;
  readonly undecided: number;
}

function summary({ traces, unusable, violations, undecided }: Count): string {
  const found = violations === 0 ? 'no violation' : counted(violations, 'violation');
  const open = undecided === 0 ? '' : `, ${undecided} undecided`;
  const broken = unusable === 0 ? '' : `; ${counted(unusable, 'trace')} cannot be used`;
  return `${found}${open} in ${counted(traces, 'trace')}${broken}`;
}
