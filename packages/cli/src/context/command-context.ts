/**
 * What every command is given: the streams and the environment of the process, and the options that all commands share.
 */
import { homedir } from 'node:os';
import {
  type AgreementQuestions,
  agreementTo,
  type Configuration,
  type ConfigurationOptions,
  type ConfigurationSources,
  isInEffect,
  loadConfiguration,
  ownDataFolderOf,
} from '@cordon/config';
import { configurationCandidates, type Environment } from '@cordon/config/reading';
import { Terminal, TerminalAgreement, TerminalConsent, terminalClock } from '@cordon/console';
import { Screen } from '@cordon/console/text';
import {
  type AppId,
  type Diagnostic,
  type Event,
  type EventKind,
  type Fault,
  fault,
  harmlessText,
} from '@cordon/core';
import { type Dialler, type HubNetwork, hubNetwork } from '@cordon/dialler';
import { eventLine, jsonLine } from '@cordon/print';
import type { SetupError } from '@cordon/runtime';
import { renderDiagnostics } from '../print/diagnostics.ts';
import { EventRenderer } from '../print/render.ts';
import { ShownAnswer } from '../print/shown-answer.ts';
import { repeatedly, StatusLine } from '../print/status-line.ts';
import { EXIT, type ExitCode } from './exit.ts';

/** As commander parses them. */
export interface Options extends ConfigurationOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly isolation?: string;
  readonly private?: boolean;
  readonly answers?: string;
  readonly denyWarned?: boolean;
  readonly allowRest?: boolean;
  readonly denyAll?: boolean;
  /** True, or for how long. */
  readonly wait?: string | boolean;
  readonly pinUnseen?: boolean;
}

export class CommandContext {
  #options: Options;
  /** Events of which the command says itself what they say. */
  readonly saysItself = new Set<EventKind>();
  readonly home = homedir();
  readonly network: HubNetwork = hubNetwork(process.env.CORDON_DIAL);
  /** For people, beside what a command puts out: standard error, so that standard output can be piped. */
  readonly notes: Screen;
  /** What a command puts out, for people. */
  readonly output: Screen;
  readonly terminal: Terminal;
  /** Says on a terminal that something happens. */
  readonly status: StatusLine;
  readonly #renderer: EventRenderer;
  readonly #answer: ShownAnswer;
  readonly #ending = new AbortController();
  readonly #noticed = new Set<string>();
  readonly #diagnosed = new Set<string>();
  /** Why effects of the last query were denied, as it was printed. */
  readonly #denials = new Set<string>();
  readonly #ends: (() => Promise<void>)[] = [];
  #consent: TerminalConsent | null = null;
  /** Rights that the user was asked for in this process, whatever the answer. */
  readonly offered = new Set<string>();
  /** Entries of apps, as canonical JSON, that the user agreed to when granting a right. */
  readonly grantedEntries = new Map<AppId, string>();
  /** Hears every event of the session, before it is printed. */
  onEvent: (event: Event) => void = () => undefined;
  /** Ctrl-C while nothing is asked. */
  onInterrupt: () => void = () => process.exit(EXIT.refused);

  constructor(options: Options) {
    this.#options = options;
    this.status = new StatusLine({
      output: options.json !== true && hasColor(process.stderr) ? process.stderr : null,
      columns: () => process.stderr.columns ?? 80,
      isFree: () => this.terminal.isFree && !this.notes.isLineOpen && !this.output.isLineOpen,
      hasUnicode: this.hasUnicode,
      repeat: repeatedly,
    });
    this.notes = screen(process.stderr, this.status);
    this.output = screen(process.stdout, this.status);
    this.terminal = new Terminal({
      input: process.stdin,
      output: process.stderr,
      screen: this.notes,
      isInteractive: process.stdin.isTTY === true,
      marksPastes: canReplaceLines(process.stderr),
      clock: terminalClock,
      onInterrupt: () => this.onInterrupt(),
    });
    this.#answer = new ShownAnswer(this.output);
    this.#renderer = new EventRenderer(this.notes, { isVerbose: options.verbose === true, isLive: true });
    process.on('SIGINT', () => this.onInterrupt());
    process.on('SIGTERM', () => {
      this.#ending.abort();
      this.onInterrupt();
    });
    process.stdout.on('error', (error: NodeJS.ErrnoException) => this.#cannotTell(error));
    process.stderr.on('error', () => process.exit(EXIT.failed));
    // Also where a signal or a fault ends the process.
    process.once('exit', () => this.terminal.restore());
    // A terminal that is gone, a folder instead of a file: nothing more will come.
    process.stdin.on('error', () => this.terminal.close());
  }

  /** Where the reader has gone, nobody waits for a reason; where a disk is full, someone does. */
  #cannotTell({ code, message }: NodeJS.ErrnoException): never {
    const reason = code === 'ENOSPC' ? 'there is no room left' : (code ?? message);
    if (code !== 'EPIPE') this.notes.say('cordon: ', `standard output cannot be written: ${reason}`, 'bad');
    return process.exit(EXIT.failed);
  }

  /** Until `run` is done, Ctrl-C aborts its signal and does nothing else. Afterwards it does what it did before. */
  async untilInterrupted<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stopping = new AbortController();
    const before = this.onInterrupt;
    this.onInterrupt = () => stopping.abort();
    try {
      return await run(stopping.signal);
    } finally {
      this.onInterrupt = before;
    }
  }

  /** Aborts when a signal asks the process to end, and not only to stop its current work. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  get options(): Options {
    return this.#options;
  }

  /** From now on as if the user had typed these options, too. */
  choose(options: Partial<Options>): void {
    this.#options = { ...this.#options, ...options };
  }

  /** All that this process has of the network. */
  get dialler(): Dialler {
    return this.network.dialler;
  }

  /** Milliseconds since the epoch. */
  readonly now = (): number => Date.now();

  get wantsJson(): boolean {
    return this.options.json === true;
  }

  /** For those who need a variable that no configuration names: where programs and package managers are set up. */
  get environment(): Environment {
    return process.env;
  }

  /** Whether what reads our output understands UTF-8; if nothing says otherwise, it does. */
  get hasUnicode(): boolean {
    const { LC_ALL, LC_CTYPE, LANG } = process.env;
    const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '');
    return locale === undefined || /utf-?8/i.test(locale);
  }

  /** Where the user's own configuration is, or would be. */
  ownConfigurationFile(): string {
    return configurationCandidates(this.#sources()).at(-1) ?? '';
  }

  /** What Cordon keeps for the user, whatever a file says. */
  ownDataFolder(): string {
    return ownDataFolderOf(this.#sources());
  }

  #sources(overrides: ConfigurationOptions = {}): ConfigurationSources {
    const options = { ...this.options, ...overrides };
    return { environment: process.env, cwd: process.cwd(), home: this.home, options };
  }

  /** Null: what is wrong is reported. */
  configuration(overrides: ConfigurationOptions = {}): Configuration | null {
    const loaded = loadConfiguration(this.#sources(overrides));
    const diagnostics = loaded.ok ? loaded.value.warnings : loaded.fault;
    this.reportDiagnostics(diagnostics);
    return loaded.ok ? loaded.value : null;
  }

  /**
   * The same, for commands that ask nobody: as if a file in the current folder that the user has not agreed to were not
   * there, which is said.
   */
  configurationInEffect(): Configuration | null {
    const found = this.configuration();
    if (found === null || isInEffect(found, this.now)) return found;
    this.notes.say(
      '',
      `${found.file} is left out: you have not agreed to it (\`cordon apps review\`)`,
      'warn',
    );
    return this.configuration({ withoutFound: true });
  }

  /** Whether the configuration may take effect; false: the reason is reported. */
  async agrees(configuration: Configuration, agreesUnasked = false): Promise<boolean> {
    const refusal = await agreementTo(configuration, {
      asks: this.agreementQuestions(),
      now: this.now,
      agreesUnasked,
    });
    if (refusal !== null) this.reportFault(refusal);
    return refusal === null;
  }

  /** Asks the person at this terminal about files that were found in the current folder. */
  agreementQuestions(): AgreementQuestions {
    return new TerminalAgreement({ screen: this.notes, terminal: this.terminal, signal: this.ending });
  }

  /** One for all questions: those that are open at the same time are shown together. */
  terminalConsent(): TerminalConsent {
    this.#consent ??= new TerminalConsent({ screen: this.notes, terminal: this.terminal, now: this.now });
    return this.#consent;
  }

  /** A line of `--answers -` was neither a query nor an answer. */
  reportRefusedLine(reason: string): void {
    if (this.wantsJson) this.json({ kind: 'answer.refused', reason });
    else this.notes.say('no answer: ', reason, 'warn');
  }

  /** One event, as it happens. */
  printEvent(event: Event): void {
    this.onEvent(event);
    if (this.wantsJson) return this.write(eventLine(event));
    // Steps continue beside a question; their lines come when it is answered.
    this.terminal.whenFree(() => {
      this.#answer.see(event);
      if (!this.#isPrintedLater(event)) this.#renderer.render(event);
      this.#noteDenials(event);
    });
  }

  #noteDenials(event: Event): void {
    if (event.kind === 'user.message') this.#denials.clear();
    if ('verdict' in event && event.verdict === 'deny' && !event.kind.startsWith('answer'))
      for (const { message } of event.reasons) this.#denials.add(message);
  }

  /** Whether the person at this terminal has read this reason beside what was denied in the last query. */
  hasReadDenial(reason: string): boolean {
    return this.terminal.isInteractive && !this.wantsJson && this.#denials.has(reason);
  }

  /** Whether the user sees the answer while the model writes it: on a terminal. Others read it whole. */
  get streams(): boolean {
    return !this.wantsJson && process.stdout.isTTY === true;
  }

  /** `printOutcome` prints once what ended a query, with its remedy; printed twice it would read like two failures. */
  #isPrintedLater(event: Event): boolean {
    const { kind } = event;
    if (this.saysItself.has(kind)) return this.options.verbose !== true;
    // Warnings of rules stand before the answer.
    if (event.kind === 'answer.decided') return event.verdict === 'deny';
    if (kind.startsWith('answer.')) return true;
    return this.options.verbose !== true && (kind === 'query.ended' || kind === 'model-call.failed');
  }

  json(value: object): void {
    process.stdout.write(jsonLine(value));
  }

  /** Whole lines for readers of standard output, made for that. */
  write(lines: string): void {
    process.stdout.write(lines);
  }

  /** The answer: framed on a terminal, where text of others could otherwise act; in a pipe plain, but for what could act behind it. */
  answer(text: string): void {
    if (process.stdout.isTTY === true) this.#answer.end(text);
    else process.stdout.write(`${harmlessText(text)}\n`);
  }

  /** Each once, however often the files are read. */
  reportDiagnostics(diagnostics: readonly Diagnostic[]): void {
    const untold = diagnostics.filter((diagnostic) => !this.#diagnosed.has(JSON.stringify(diagnostic)));
    for (const diagnostic of untold) this.#diagnosed.add(JSON.stringify(diagnostic));
    if (untold.length === 0) return;
    if (this.wantsJson) for (const diagnostic of untold) this.json({ kind: 'diagnostic', ...diagnostic });
    renderDiagnostics(this.notes, untold);
  }

  /** Problems of a text, for people only: for commands whose standard output has lines of one shape and no other. */
  noteDiagnostics(diagnostics: readonly Diagnostic[]): void {
    renderDiagnostics(this.notes, diagnostics);
  }

  /** What is weaker than usual; each once, however many sessions are opened. In JSON the session's events say it. */
  printNotices(notices: readonly string[]): void {
    for (const notice of notices.filter((text) => !this.#noticed.has(text))) {
      this.#noticed.add(notice);
      if (!this.wantsJson) this.notes.say('!! ', notice, 'bad');
    }
  }

  /** Returns the exit code of a command that can do nothing more. */
  reportFault({ kind, message, help }: Fault): ExitCode {
    const told = fault(kind, message, help);
    if (this.wantsJson) this.json({ kind: 'fault', fault: told });
    return this.noteFault(told);
  }

  /** The same for people only. */
  noteFault({ message, help }: Fault): ExitCode {
    this.notes.say('cordon: ', message, 'bad');
    if (help !== undefined) this.notes.say('  help: ', help);
    return EXIT.failed;
  }

  reportSetupError(error: SetupError): ExitCode {
    if (error.kind === 'fault') return this.reportFault(error.fault);
    this.reportDiagnostics(error.diagnostics);
    return EXIT.failed;
  }

  /** To be done when the command is over, however it ended. */
  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    this.terminal.close();
    await Promise.all(this.#ends.map((end) => end()));
  }
}

function screen(stream: NodeJS.WriteStream, status: StatusLine): Screen {
  const output = stream.isTTY === true ? status.around(stream) : stream;
  return new Screen({ output, columns: () => stream.columns ?? 80, hasColor: hasColor(stream) });
}

/** Whether the user wants more than plain lines there. */
function hasColor(stream: NodeJS.WriteStream): boolean {
  return canReplaceLines(stream) && (process.env.NO_COLOR ?? '') === '';
}

/** Whether it is a terminal that obeys control sequences. */
function canReplaceLines(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env.TERM !== 'dumb';
}
