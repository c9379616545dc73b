/** `cordon scan`: what a policy finds in logs of any size. See docs/cli.md. */

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readLabelFile } from '@cordon/config/labels';
import { BASE_PACK, DEFAULT_PACKS } from '@cordon/config/packs';
import { type Diagnostic, failed, type JsonObject, ok, type Result, type ToolLabelEntry } from '@cordon/core';
import type { TraceFormat } from '@cordon/policy-tools';
import { Drawing } from '@cordon/print';
import { packFile } from '@cordon/runtime/policies';
import {
  AskingScanner,
  type Beginning,
  digestOf,
  EXAMPLES,
  FileOutput,
  findInputs,
  freshBeginning,
  type Input,
  JsonReport,
  PART_BYTES,
  ProgressBar,
  type RecordOptions,
  SarifReport,
  type ScanEnd,
  ScanMemory,
  type ScannerPool,
  type ScanOutput,
  type ScanReport,
  type ScanTask,
  SoleScanner,
  StreamOutput,
  SummaryReport,
  scan as scanInputs,
  sortedArguments,
  type TaskPrint,
  WorkerPool,
} from '@cordon/scan';
import type { Answerers } from '@cordon/scan/answerers';
import {
  type Dialect,
  emptinessWarnings,
  formatNamed,
  NOTHING_READ,
  type ParameterOptions,
  type PolicyFiles,
  parameterWarnings,
  readParameters,
  readPolicyFiles,
} from '@cordon/scan/traces';
import { type AskingOptions, answerersAskedFor } from '../../context/answerers-asked-for.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { VERSION } from '../../context/version.ts';

/** As commander parses them. */
export interface ScanOptions extends ParameterOptions, AskingOptions {
  readonly policy: readonly string[];
  readonly dialect: Dialect;
  readonly json?: boolean;
  readonly sarif?: boolean;
  readonly all?: boolean;
  readonly jobs?: string;
  readonly out?: string;
  readonly resume?: string;
  readonly format?: string;
  readonly labels?: string;
  readonly maxLine?: string;
}

type Form = 'json' | 'sarif' | 'summary';

const DEFAULT_MAX_LINE = 64 * 1024 * 1024;
const MOST_MAX_LINE = 256 * 1024 * 1024;
const MOST_JOBS = 256;
/** A worker takes as long to start as this many bytes take to scan. */
const BYTES_A_WORKER = 4 * 1024 * 1024;
const SAVE_INTERVAL = 2000;

/** What was asked for, once it is clear that it can be done. */
interface Request {
  readonly files: PolicyFiles;
  readonly parameters: JsonObject;
  readonly inputs: readonly Input[];
  readonly jobs: number;
  readonly maxLine: number;
  readonly form: Form;
  readonly format: TraceFormat | undefined;
  readonly labels: readonly ToolLabelEntry[] | null;
  /** Undefined: rules that ask are undecided. */
  readonly asked: Answerers | undefined;
  readonly options: ScanOptions;
}

/** 0: no violation; 1: violations; 2: something could not be used or read, there was nothing, or the scan did not come to its end. */
export async function scan(
  context: CommandContext,
  files: readonly string[],
  options: ScanOptions,
): Promise<ExitCode> {
  const asked = await answerersAskedFor(context, options);
  if (asked === null) return EXIT.failed;
  const request = requestOf(files, options, asked);
  if (!request.ok) {
    context.noteDiagnostics(request.fault);
    return EXIT.failed;
  }
  const { policy, parameters: read } = request.value.files;
  context.noteDiagnostics([
    ...policy.warnings,
    ...emptinessWarnings(policy),
    ...parameterWarnings(request.value.parameters, read),
  ]);
  const { resume } = options;
  const memory = resume === undefined ? null : new ScanMemory(resume, printOf(request.value));
  const beginning = memory?.recall(request.value.inputs) ?? ok(freshBeginning(request.value.inputs));
  const output = beginning.ok ? outputOf(options, beginning.value) : beginning;
  if (!beginning.ok || !output.ok) {
    context.noteDiagnostics(output.ok ? [] : output.fault);
    return EXIT.failed;
  }
  try {
    const end = await run(context, request.value, beginning.value, output.value, memory);
    return exitCodeOf(end, isContinued(beginning.value));
  } finally {
    output.value.close();
  }
}

/** A scan that continues an earlier one may find nothing new: that one found traces. */
function exitCodeOf({ result, fault }: ScanEnd, continued: boolean): ExitCode {
  const isWhole =
    fault === null && result.isComplete && result.unreadable === 0 && result.counts.broken === 0;
  if (!isWhole || (result.counts.traces === 0 && !continued)) return EXIT.failed;
  return result.counts.violations > 0 ? EXIT.refused : EXIT.done;
}

function isContinued({ inputs }: Beginning): boolean {
  return inputs.some(({ progress }) => progress.bytes > 0);
}

async function run(
  context: CommandContext,
  request: Request,
  beginning: Beginning,
  output: ScanOutput,
  memory: ScanMemory | null,
): Promise<ScanEnd> {
  const report = reportOf(context, request);
  const pool = poolOf(request);
  const bar = progressBarOf(context, request, beginning);
  const interruption = new AbortController();
  context.onInterrupt = () => {
    // The second time it is meant seriously.
    if (interruption.signal.aborted) process.exit(EXIT.failed);
    interruption.abort();
  };
  let savedAt = performance.now();
  try {
    await begin(report, output);
    const end = await scanInputs({
      inputs: beginning.inputs,
      rules: request.files.policy.rules.map(({ id }) => id),
      before: beginning.before,
      pool,
      parts: { partBytes: PART_BYTES, maxLine: request.maxLine, standardInput: process.stdin },
      report,
      output,
      progress: bar,
      onDelivered: (soFar) => {
        if (memory === null || performance.now() - savedAt < SAVE_INTERVAL) return;
        output.settle();
        memory.save(soFar(), output.length, false);
        savedAt = performance.now();
      },
      signal: interruption.signal,
      now: () => performance.now(),
    });
    bar?.clear();
    await finish(report, output, end, memory);
    printEnd(context, request, end);
    return end;
  } finally {
    bar?.clear();
    await pool.close();
  }
}

async function begin(report: ScanReport, output: ScanOutput): Promise<void> {
  const beginning = report.begin();
  if (output.length === null || output.length === 0) return output.write(beginning);
  if (output.length > Buffer.byteLength(beginning)) report.resume();
}

/** What the next scan overwrites is not part of the length that is remembered. */
async function finish(
  report: ScanReport,
  output: ScanOutput,
  { result, soFar }: ScanEnd,
  memory: ScanMemory | null,
): Promise<void> {
  const { isComplete } = result;
  const kept = report.isReplaced || !isComplete ? output.length : null;
  await output.write(report.end(result));
  output.settle();
  memory?.save(soFar, kept ?? output.length, isComplete);
}

/** What standard output does not say. */
function printEnd(context: CommandContext, { form, options }: Request, { result, fault }: ScanEnd): void {
  const { notes } = context;
  if (fault !== null) notes.say('cordon: ', `the scan ended early: ${fault}`, 'bad');
  else if (!result.isComplete) {
    const how = options.resume === undefined ? '' : '; run the same command again to continue from here';
    notes.say('cordon: ', `interrupted${how}`, 'warn');
  }
  const { broken, traces } = result.counts;
  if (traces + broken === 0) notes.say('cordon: ', NOTHING_READ, 'bad');
  if (form === 'summary') return;
  if (broken > 0) notes.say('cordon: ', `${broken} of ${broken + traces} lines cannot be used`, 'warn');
  if (result.unreadable > 0) {
    notes.say('cordon: ', `${result.unreadable} inputs could not be read to the end`, 'bad');
  }
  if (result.unfinished > 0) {
    notes.say('cordon: ', `${result.unfinished} last lines are not finished and left for next time`, 'dim');
  }
}

function requestOf(
  files: readonly string[],
  options: ScanOptions,
  asked: Answerers | undefined,
): Result<Request, readonly Diagnostic[]> {
  const sorted = sortedArguments(files);
  const policies = readPolicyFiles(policiesWanted(sorted.policies, options), options.dialect, asked?.asking);
  const parameters = readParameters(options);
  const { inputs, problems } = findInputs(
    sorted.inputs,
    [options.out, options.resume].filter((file) => file !== undefined),
  );
  const jobs = numberOf(options.jobs, '--jobs', availableParallelism(), MOST_JOBS);
  const maxLine = numberOf(options.maxLine, '--max-line', DEFAULT_MAX_LINE, MOST_MAX_LINE);
  const format = formatNamed(options.format);
  const labels = options.labels === undefined ? ok(null) : readLabelFile(options.labels);
  const all = [
    ...[policies, parameters, labels].flatMap((read) => (read.ok ? [] : read.fault)),
    ...problems,
    ...[jobs, maxLine, format].flatMap((read) => (read.ok ? [] : [read.fault])),
    ...misuse(sorted.inputs, options),
  ];
  if (!policies.ok || !parameters.ok || !labels.ok) return failed(all);
  if (!jobs.ok || !maxLine.ok || !format.ok || all.length > 0) return failed(all);
  return ok({
    files: policies.value,
    parameters: parameters.value,
    inputs,
    jobs: jobs.value,
    maxLine: maxLine.value,
    format: format.value,
    labels: labels.value,
    asked,
    form: options.json === true ? 'json' : options.sarif === true ? 'sarif' : 'summary',
    options,
  });
}

/** If the user names none, it is what a new session would have. */
function policiesWanted(named: readonly string[], options: ScanOptions): readonly string[] {
  const wanted = [...named, ...options.policy];
  return wanted.length > 0 ? wanted : [BASE_PACK.name, ...DEFAULT_PACKS].map(packFile);
}

function misuse(inputs: readonly string[], options: ScanOptions): readonly Diagnostic[] {
  const problems: Diagnostic[] = [];
  const wrong = (message: string, help: string): void => {
    problems.push({ code: 'SCN002', severity: 'error', file: 'cordon scan', message, help });
  };
  if (inputs.length === 0) wrong('no input was named', 'name files, folders, or `-` for standard input');
  if (options.json === true && options.sarif === true) {
    wrong('only one output format can be chosen', 'choose `--json` or `--sarif`');
  }
  if (options.all === true && options.json !== true) wrong('`--all` needs `--json`', 'add `--json`');
  if (options.out !== undefined && options.json !== true && options.sarif !== true) {
    wrong('the summary cannot be written to a file', 'add `--json` or `--sarif`');
  }
  if (options.resume !== undefined && inputs.includes('-')) {
    wrong('a scan of standard input cannot be resumed', 'leave out `--resume`, or name a file');
  }
  return problems;
}

function numberOf(
  text: string | undefined,
  option: string,
  otherwise: number,
  most: number,
): Result<number, Diagnostic> {
  if (text === undefined) return ok(otherwise);
  const value = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return ok(value);
  const message = `\`${option}\` is a number from 1 to ${most}`;
  return failed({ code: 'SCN002', severity: 'error', file: option, message, help: 'write a whole number' });
}

/** What an earlier scan must have had in common with this one. */
function printOf({ files, parameters, form, format, labels, asked, options, maxLine }: Request): TaskPrint {
  const texts = files.policies.map(({ source }) => source.text);
  const out = options.out === undefined ? null : resolve(options.out);
  return {
    policy: digestOf([
      texts,
      options.dialect,
      ...(options.askModels === true ? ['asked'] : []),
      ...(asked?.modules ?? []),
    ]),
    parameters: digestOf(parameters),
    output: digestOf([form, options.all === true, out, maxLine, format ?? null, labels]),
  };
}

function outputOf(
  { out }: ScanOptions,
  { outputLength }: Beginning,
): Result<ScanOutput, readonly Diagnostic[]> {
  if (out === undefined) return ok(new StreamOutput(process.stdout));
  const opened = FileOutput.open(out, outputLength);
  if (opened.ok) return opened;
  const help = 'name a file that can be written, and leave it as the earlier scan left it';
  return failed([{ code: 'SCN002', severity: 'error', file: out, message: opened.fault, help }]);
}

function reportOf(context: CommandContext, { form, files }: Request): ScanReport {
  switch (form) {
    case 'json':
      return new JsonReport();
    case 'sarif':
      return new SarifReport(files.policy, { folder: process.cwd(), version: VERSION });
    case 'summary':
      return new SummaryReport(new Drawing(context.output, context.hasUnicode), files.policy);
  }
}

function poolOf(request: Request): ScannerPool {
  const task = taskOf(request);
  // Answers are awaited far longer than anything is computed, and are kept in one process.
  if (request.asked !== undefined) return new AskingScanner(task, request.asked);
  const isKnown = request.inputs.every(({ kind }) => kind === 'lines' || kind === 'json');
  const bytes = request.inputs.reduce((sum, { size }) => sum + size, 0);
  const useful = isKnown ? Math.ceil(bytes / BYTES_A_WORKER) : request.jobs;
  const jobs = Math.min(request.jobs, useful);
  return jobs <= 1 ? new SoleScanner(task) : new WorkerPool(jobs - 1, task, new SoleScanner(task));
}

function taskOf({ files, parameters, options, maxLine, form, format, labels }: Request): ScanTask {
  return {
    policies: files.policies.map(({ source: { file, text } }) => ({ file, text })),
    dialect: options.dialect,
    parameters,
    format,
    labels,
    maxLine,
    records: recordsOf(form, options),
  };
}

function recordsOf(form: Form, { all, resume }: ScanOptions): RecordOptions {
  return {
    hasClean: all === true,
    hasDigest: form === 'sarif',
    waitsForRest: resume !== undefined,
    examples: form === 'summary' ? EXAMPLES : null,
  };
}

/** Only where a person looks at it. */
function progressBarOf(
  context: CommandContext,
  { options }: Request,
  beginning: Beginning,
): ProgressBar | null {
  const { stderr, stdout } = process;
  const isMixed =
    stdout.isTTY === true && options.out === undefined && (options.json ?? options.sarif) === true;
  if (stderr.isTTY !== true || isMixed) return null;
  const taken = beginning.inputs.reduce(
    (sum, { input, progress }) =>
      sum + (progress.isComplete ? input.size : Math.min(input.size, progress.bytes)),
    0,
  );
  return new ProgressBar(
    {
      write: (text) => stderr.write(text),
      columns: () => stderr.columns ?? 80,
      now: () => performance.now(),
      style: (style, text) => context.notes.style(style, text),
      hasUnicode: context.hasUnicode,
    },
    taken,
  );
}
