/** `cordon fmt`: policies in canonical form, in place or from standard input to standard output. */

import { readStream, readTextFile } from '@cordon/config/reading';
import { diffLines } from '@cordon/console/text';
import { type Diagnostic, failed, type Result, visibleLine } from '@cordon/core';
import { format } from '@cordon/policy-tools';
import { written } from '@cordon/print';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { replaceTextFile } from '../../context/replaced-file.ts';
export interface FormatOptions {
  /** Nothing is written. */
  readonly check?: boolean;
}

const STANDARD_INPUT = '-';
const MOST_BYTES = 16 * 1024 * 1024;
/** Of one file; a user who wants to see all of it formats the file. */
const MOST_DIFF_LINES = 40;
const MOST_LINE = 200;

type Outcome = 'unchanged' | 'changed' | 'unusable';

/** 0: all is formatted; 1: with `--check`, something is not; 2: a file that cannot be read, formatted or written. */
export async function fmt(
  context: CommandContext,
  files: readonly string[],
  options: FormatOptions,
): Promise<ExitCode> {
  const isCheck = options.check === true;
  const outcomes = new Set<Outcome>();
  for (const file of new Set(files)) outcomes.add(await formatOne(context, file, isCheck));
  if (outcomes.has('unusable')) return EXIT.failed;
  return isCheck && outcomes.has('changed') ? EXIT.refused : EXIT.done;
}

async function formatOne(context: CommandContext, file: string, isCheck: boolean): Promise<Outcome> {
  const text = await read(file);
  const formatted = text.ok ? format(text.value, { file }) : failed([text.fault]);
  if (!text.ok || !formatted.ok) return unusable(context, file, formatted.ok ? [] : formatted.fault);
  const isChanged = formatted.value !== text.value;
  if (file === STANDARD_INPUT && !isCheck) {
    if (context.wantsJson) printJson(context, file, isChanged, { text: formatted.value });
    else await written(process.stdout, formatted.value);
    return isChanged ? 'changed' : 'unchanged';
  }
  if (isChanged && !isCheck) {
    const replaced = replaceTextFile(file, formatted.value);
    if (!replaced.ok) return unusable(context, file, [replaced.fault]);
  }
  if (context.wantsJson) printJson(context, file, isChanged);
  else if (isChanged && isCheck) printDiff(context, file, text.value, formatted.value);
  else if (isChanged) context.output.line(`formatted ${visibleLine(file)}`);
  return isChanged ? 'changed' : 'unchanged';
}

async function read(file: string): Promise<Result<string, Diagnostic>> {
  return file === STANDARD_INPUT ? await readStream(file, process.stdin, MOST_BYTES) : readTextFile(file);
}

function unusable(context: CommandContext, file: string, diagnostics: readonly Diagnostic[]): Outcome {
  context.noteDiagnostics(diagnostics);
  if (context.wantsJson) printJson(context, file, false, { diagnostics: diagnostics.map(flat) });
  return 'unusable';
}

function printJson(context: CommandContext, file: string, changed: boolean, more: object = {}): void {
  context.json({ file, changed, ...more });
}

/** As `cordon check` writes them. */
function flat({ file, range, severity, code, message, help }: Diagnostic): object {
  return { file, ...range, severity, code, message, ...(help === undefined ? {} : { help }) };
}

function printDiff(context: CommandContext, file: string, before: string, after: string): void {
  const { output } = context;
  const lines = diffLines(before, after);
  output.line(`${visibleLine(file)} is not formatted`);
  for (const { kind, text } of lines.slice(0, MOST_DIFF_LINES)) {
    const shown = visibleLine(text, MOST_LINE);
    if (kind === 'place') output.line(output.style('dim', `@@ ${shown}`));
    else if (kind === 'same') output.line(`  ${shown}`);
    else if (kind === 'removed') output.line(output.style('bad', `- ${shown}`));
    else output.line(output.style('good', `+ ${shown}`));
  }
  const rest = lines.length - MOST_DIFF_LINES;
  if (rest > 0) output.line(output.style('dim', `… and ${rest} more lines`));
}
