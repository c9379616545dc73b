/** `cordon check`: what is wrong with policies, and what is probably not what was meant. */

import type { Configuration } from '@cordon/config';
import { jsonFault, openBytes, readStream } from '@cordon/config/reading';
import { type Diagnostic, failed, ok, parseJson, type Result } from '@cordon/core';
import { type Asking, standardDetectors } from '@cordon/detectors';
import { lint, parseTools, type ToolSchema } from '@cordon/policy-tools';
import { counted, drawExcerpt, SourceLines } from '@cordon/print';
import { loadedPolicy } from '@cordon/runtime/policies';
import type { Dialect } from '@cordon/scan/traces';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { countsOf, renderDiagnostic } from '../../print/diagnostics.ts';

export interface CheckOptions {
  readonly json?: boolean;
  readonly dialect: Dialect;
  /** Warnings fail, too. */
  readonly strict?: boolean;
  /** What the configuration says about tools is used, as with `--config`. */
  readonly apps?: boolean;
  readonly config?: string;
  /** Files with descriptions of tools. */
  readonly tools: readonly string[];
  /** Modules of the user's predicates. */
  readonly detectors: readonly string[];
}

const STANDARD_INPUT = '-';
const MOST_BYTES = 16 * 1024 * 1024;

interface Checked {
  readonly lines: SourceLines;
  readonly diagnostics: readonly Diagnostic[];
}

/** 0: no errors, and with `--strict` no warnings; 2: some, or something cannot be read. Every file is looked at. */
export async function check(
  context: CommandContext,
  files: readonly string[],
  options: CheckOptions,
): Promise<ExitCode> {
  const configuration = configurationFor(context, options);
  const known = await knownTools(context, options, configuration);
  const own = await ownAsking(context, configuration);
  const diagnostics = [...known.diagnostics, ...(own.ok ? [] : own.fault)];
  const checked: Checked[] = [{ lines: new SourceLines(''), diagnostics }];
  const asking = own.ok ? own.value : undefined;
  for (const file of new Set(files)) checked.push(await checkOne(file, options.dialect, known, asking));
  const all = checked.flatMap(({ diagnostics }) => diagnostics);
  if (options.json === true) context.json({ diagnostics: all.map(flat) });
  else {
    for (const one of checked) for (const diagnostic of one.diagnostics) print(context, one, diagnostic);
    printSummary(context, all, new Set(files).size);
  }
  const isBad = all.some(({ severity }) => severity === 'error' || options.strict === true);
  return isBad || !known.isUsable ? EXIT.failed : EXIT.done;
}

function usesConfiguration({ apps, config }: CheckOptions): boolean {
  return apps === true || config !== undefined;
}

/** Null: none is needed, or it is wrong, and the reason is reported. */
function configurationFor(context: CommandContext, options: CheckOptions): Configuration | null {
  if (usesConfiguration(options)) return context.configuration();
  return options.detectors.length > 0 ? context.configuration({ withoutFile: true }) : null;
}

/** The user's predicates by name, which their modules declare. A file without agreement starts none. */
async function ownAsking(
  context: CommandContext,
  configuration: Configuration | null,
): Promise<Result<Asking | undefined, readonly Diagnostic[]>> {
  if (configuration === null) return ok(undefined);
  const { asking, namedModules } = configuration;
  if (asking.modules.length + namedModules.length === 0) return ok(undefined);
  const { isInEffect } = await import('@cordon/config');
  const isAgreed = isInEffect(configuration, context.now);
  const modules = isAgreed ? asking.modules : [];
  if (modules.length + namedModules.length === 0) return ok(undefined);
  const { answerersFor } = await import('@cordon/scan/answerers');
  const answerers = await answerersFor({ ...configuration, asking: { ...asking, modules } }, context.dialler);
  if (!answerers.ok) return answerers;
  context.atEnd(async () => answerers.value?.close());
  return ok(answerers.value?.asking);
}

async function checkOne(
  file: string,
  dialect: Dialect,
  { tools, isComplete }: KnownTools,
  asking: Asking | undefined,
): Promise<Checked> {
  const text = await read(file, 'split it into several policies');
  if (!text.ok) return { lines: new SourceLines(''), diagnostics: [text.fault] };
  const lines = new SourceLines(text.value);
  const policy = loadedPolicy(text.value, { file, dialect }, asking);
  if (!policy.ok) return { lines, diagnostics: policy.fault };
  const known = tools === null ? {} : { tools, isComplete };
  const found = lint(policy.value, { ...known, detectors: standardDetectors(asking) });
  return { lines, diagnostics: merged(policy.value.warnings, found) };
}

/** In the order of the text; what both report is printed once. */
function merged(loaded: readonly Diagnostic[], found: readonly Diagnostic[]): readonly Diagnostic[] {
  const places = new Map(
    [...loaded, ...found].map((one) => [`${one.code} ${JSON.stringify(one.range)}`, one]),
  );
  return [...places.values()].sort(
    (a, b) =>
      (a.range?.line ?? 0) - (b.range?.line ?? 0) ||
      (a.range?.column ?? 0) - (b.range?.column ?? 0) ||
      (a.code < b.code ? -1 : 1),
  );
}

async function read(file: string, ifTooLarge: string): Promise<Result<string, Diagnostic>> {
  const bytes = file === STANDARD_INPUT ? process.stdin : openBytes(file);
  const text = await readStream(file, bytes, MOST_BYTES);
  return text.ok || text.fault.code !== 'CFG002' ? text : failed({ ...text.fault, help: ifTooLarge });
}

// ── tools ───────────────────────────────────────────────────────────────────────────────────────────────────────

interface KnownTools {
  /** Null: nothing is known. */
  readonly tools: readonly ToolSchema[] | null;
  /** Whether there are no others. */
  readonly isComplete: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** Whether everything that was named could be read. */
  readonly isUsable: boolean;
}

async function knownTools(
  context: CommandContext,
  options: CheckOptions,
  configuration: Configuration | null,
): Promise<KnownTools> {
  const tools: ToolSchema[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const file of new Set(options.tools)) {
    const described = await readTools(file);
    if (described.ok) tools.push(...described.value);
    else diagnostics.push(described.fault);
  }
  const hasDescriptions = options.tools.length > 0 && diagnostics.length === 0;
  if (!usesConfiguration(options)) {
    return { tools: hasDescriptions ? tools : null, isComplete: true, diagnostics, isUsable: true };
  }
  if (configuration === null) return { tools: null, isComplete: true, diagnostics, isUsable: false };
  const named = toolsOfManifests(configuration);
  if (hasDescriptions)
    return { tools: withApps(tools, named), isComplete: true, diagnostics, isUsable: true };
  context.notes.say(
    '',
    named.length === 0
      ? 'the tools of the installed apps are not known before the apps are started; describe them with `--tools FILE`'
      : 'of the installed apps’ tools only the names in manifests are known; describe them with `--tools FILE`',
    'dim',
  );
  return { tools: named.length === 0 ? null : named, isComplete: false, diagnostics, isUsable: true };
}

async function readTools(file: string): Promise<Result<readonly ToolSchema[], Diagnostic>> {
  const text = await read(file, 'leave out the tools that no rule speaks of');
  if (!text.ok) return text;
  const refused = (code: string, message: string): Result<never, Diagnostic> =>
    failed({
      code,
      severity: 'error',
      file,
      message,
      help: 'write a JSON list of tools as OpenAI, Anthropic, Gemini or MCP describe them',
    });
  const value = parseJson(text.value);
  if (!value.ok) return refused('CFG003', `this ${jsonFault(value.fault).predicate}`);
  const tools = parseTools(value.value);
  return tools.ok ? ok(tools.value) : refused('CFG005', tools.fault);
}

/** Apps are not started for this. A manifest may say nothing of most tools, and never the whole schema of one. */
function toolsOfManifests({ apps }: Configuration): readonly ToolSchema[] {
  const owners = new Map<string, readonly string[]>();
  for (const { id, manifest } of apps) {
    const names = [
      ...manifest.functionalities.flatMap(({ tool }) => tool ?? []),
      ...(manifest.irreversible ?? []),
      ...(manifest.untrusted ?? []),
      ...(manifest.private ?? []),
      ...(manifest.labels ?? []).flatMap(({ tool }) => (tool.includes('*') ? [] : [tool])),
    ];
    for (const name of new Set(names)) owners.set(name, [...(owners.get(name) ?? []), id]);
  }
  return [...owners].map(([name, apps]) => ({ name, parameters: null, apps }));
}

/** Descriptions do not say whose a tool is; a manifest that names it does. */
function withApps(tools: readonly ToolSchema[], named: readonly ToolSchema[]): readonly ToolSchema[] {
  const owners = new Map(named.map(({ name, apps }) => [name, apps]));
  return tools.map((tool) => {
    const apps = owners.get(tool.name);
    return apps === undefined ? tool : { ...tool, apps };
  });
}

// ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────────

/** Every key is there, whatever the diagnostic says; a file that cannot be read has no place in it. */
function flat({ file, range, severity, code, message, help }: Diagnostic): object {
  return {
    file,
    line: range?.line ?? null,
    column: range?.column ?? null,
    endLine: range?.endLine ?? null,
    endColumn: range?.endColumn ?? null,
    severity,
    code,
    message,
    help: help ?? null,
  };
}

function print({ output }: CommandContext, { lines }: Checked, diagnostic: Diagnostic): void {
  const { range } = diagnostic;
  renderDiagnostic(output, diagnostic, (style) => {
    if (range !== undefined) drawExcerpt(output, lines, range, style);
  });
  output.line();
}

function printSummary({ output }: CommandContext, all: readonly Diagnostic[], files: number): void {
  const hasErrors = all.some(({ severity }) => severity === 'error');
  const found = countsOf(all).join(' and ') || 'no problem';
  output.say(
    '',
    `${found} in ${counted(files, 'file')}`,
    hasErrors ? 'bad' : all.length > 0 ? 'warn' : 'good',
  );
}
