/**
 * Shell code: which commands it starts, and the constructs that fetch, hide, destroy or escalate. Code inside of code
 * (`sh -c`, `eval`, `xargs`, `find -exec`, here-documents, decoded payloads) is read in its turn. Nothing is run.
 */

import type * as Unbash from 'unbash';
import type { Assignment, Command, ParsedScript, Pipeline, Redirection, SyntaxNode, Word } from 'unbash';
import type { Stretch } from '../../text/finding.ts';
import { onDemand, parserOnDemand } from '../../text/on-demand.ts';
import { byWord } from '../../text/words.ts';
import { decodedBase64, decodedHex } from '../computed-text.ts';
import {
  AT_THE_START,
  CodeText,
  type Construct,
  type ConstructKind,
  ConstructReader,
  DEEPEST_CODE,
  inner,
  LONGEST_CODE,
  type Place,
  placed,
} from '../construct.ts';
import { fencesOf } from '../fences.ts';
import { sensitivePath } from '../sensitive-path.ts';
import {
  commandDanger,
  DECODING,
  FETCHERS,
  INTERPRETERS,
  type Interpreter,
  isCredentialVariable,
  isInstalling,
  type Language,
  LOADED_VARIABLES,
  SHELLS,
  WRAPPERS,
} from './shell-commands.ts';
import { joinedWords, type ShellWord, shellWord } from './shell-words.ts';

const UNBASH = parserOnDemand<typeof Unbash>('unbash');
/** Python and JavaScript read shell commands in turn: a type import back to them would be a cycle. */
type ReadCode = (text: string) => { readonly constructs: readonly Construct[] };
const PYTHON = onDemand<{ readonly pythonCode: ReadCode }>('../code/python/python.ts');
const JAVASCRIPT = onDemand<{ readonly javascriptCode: ReadCode }>('../code/javascript/javascript.ts');

export interface ShellCode {
  /** Names of the commands, without their folders, also of those inside of others. */
  readonly commands: readonly string[];
  /** What bash would say if it does not parse; null: it does. */
  readonly syntaxError: string | null;
  readonly constructs: readonly Construct[];
}

/** Reads a text as shell code, and what is in Markdown fences in it. Never throws. */
export function shellCode(text: string): ShellCode {
  const reader = new ShellReader();
  const fences = text.length > LONGEST_CODE ? [] : fencesOf(text, 'shell');
  let error = reader.read(text, AT_THE_START, 0, fences.length === 0);
  if (fences.length > 0) error = null;
  for (const { start, end, language } of fences) {
    const isSession = language === 'console' || language.includes('session') || language === 'terminal';
    const body = text.slice(start, end);
    const fault = reader.read(isSession ? commandsOf(body) : body, { kind: 'at', offset: start }, 0, true);
    error ??= fault;
  }
  return reader.result(error);
}

/** The constructs of code that stands inside of other code, at its place there. */
export function shellConstructs(text: string, place: Place, depth: number): readonly Construct[] {
  const reader = new ShellReader();
  reader.read(text, place, depth, true);
  return reader.result(null).constructs;
}

/** Of a recorded session what was typed behind the prompts; every place stays. */
function commandsOf(session: string): string {
  if (!/^[ \t]*[$#%>] /m.test(session)) return session;
  return session
    .split('\n')
    .map((line) => {
      const typedFrom = /^[ \t]*[$#%>] /.exec(line)?.[0].length ?? line.length;
      return ' '.repeat(typedFrom) + line.slice(typedFrom);
    })
    .join('\n');
}

/**
 * Each substitution and here-document has the rest of the text looked at once more, so their number times the length
 * bounds the work. In UTF-16 units.
 */
const MOST_WORK = 60_000_000;

/** Whether reading it would take too long: such a text counts as one that does not parse, and a rule is undecided. */
export function isTooMuchShell(text: string): boolean {
  if (text.length > LONGEST_CODE) return true;
  let openers = 0;
  for (let at = text.indexOf('('); at >= 0; at = text.indexOf('(', at + 1))
    if (at > 0 && '$<>'.includes(text.charAt(at - 1))) openers++;
  for (let at = text.indexOf('<<'); at >= 0; at = text.indexOf('<<', at + 2)) openers++;
  return openers > 16 && openers * text.length > MOST_WORK;
}

/** Commands that start each other in one line; no person writes more. */
const MOST_WRAPPERS = 12;

/** One command as it is seen: a name, the words behind it, and the stretch of both. */
interface Started extends Stretch {
  readonly name: string;
  readonly words: readonly ShellWord[];
  /** What it reads: a pipe, a here-document or here-string; null: nothing that the text shows. */
  readonly input: Input | null;
}

type Input =
  | { readonly kind: 'pipe'; readonly before: readonly Started[]; readonly start: number }
  | ({ readonly kind: 'text'; readonly text: string | null } & Stretch)
  | { readonly kind: 'file' };

class ShellReader extends ConstructReader {
  readonly commands = new Set<string>();

  result(syntaxError: string | null): ShellCode {
    return { commands: [...this.commands].sort(), syntaxError, constructs: this.constructs() };
  }

  /** Reads one text; what bash would refuse in it, else null. What stands before a fault is read all the same. */
  read(text: string, place: Place, depth: number, isReported: boolean): string | null {
    const whole = { start: 0, end: text.length };
    const refuse = (reason: string) => {
      if (isReported) this.add('UNPARSEABLE', 1, whole, place, reason);
      return reason;
    };
    if (depth > DEEPEST_CODE) return refuse('code inside of code, too deep');
    if (isTooMuchShell(text)) return refuse('too long, or too many substitutions');
    if (text.includes('\0')) return refuse('a null byte, behind which shells go on');
    try {
      const script = UNBASH().parse(text);
      const faults = new ShellText(this, text, place, depth).read(script);
      for (const { at, message } of faults)
        if (isReported) this.add('UNPARSEABLE', 1, { start: at, end: text.length }, place, message);
      return faults[0]?.message ?? null;
    } catch {
      return refuse('the text cannot be read');
    }
  }
}

interface Fault {
  readonly at: number;
  readonly message: string;
}

/** One parsed text. */
class ShellText extends CodeText<ShellReader> {
  private readonly source: string;
  private readonly values = new Map<string, string | null>();
  /** Files that were fetched, by their names without folders. */
  private readonly fetched = new Set<string>();
  private readonly piped = new Map<Command, { readonly before: Started[]; readonly start: number }>();

  constructor(reader: ShellReader, source: string, place: Place, depth: number) {
    super(reader, place, depth);
    this.source = source;
  }

  read(script: ParsedScript): readonly Fault[] {
    const faults: Fault[] = [];
    const nodes = this.nodesOf(script, faults);
    for (const node of nodes) if (node.type === 'Assignment') this.bind(node);
    for (const node of nodes) this.readNode(node);
    return faults;
  }

  /** In the order of the text. Substitutions whose text is not that of the source are read on their own. */
  private nodesOf(script: ParsedScript, faults: Fault[]): readonly SyntaxNode[] {
    const nodes: SyntaxNode[] = [];
    const open: SyntaxNode[] = [script];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node.type === 'Script') {
        for (const { message, pos } of node.errors ?? [])
          faults.push({ at: Math.max(0, Math.min(pos, this.source.length - 1)), message });
      }
      if (node.type === 'CommandExpansion' && node.script?.source !== undefined) {
        const place = inner(this.place, node.pos, node.end, false);
        const fault = this.reader.read(node.script.source, place, this.depth + 1, true);
        if (fault !== null) faults.push({ at: node.pos, message: fault });
        nodes.push(node);
        continue;
      }
      nodes.push(node);
      const children: SyntaxNode[] = [];
      UNBASH().forEachChild(node, (child) => {
        children.push(child);
      });
      for (const child of children.reverse()) open.push(child);
    }
    return nodes;
  }

  private word(word: Word): ShellWord {
    return shellWord(word, this.source, (name) => this.values.get(name) ?? null);
  }

  private bind({ name, value, append }: Assignment): void {
    const text = value.type === 'Word' ? this.word(value).value : null;
    this.values.set(name, this.values.has(name) || append === true ? null : text);
  }

  private readNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'Pipeline':
        return this.readPipeline(node);
      case 'Command':
        return this.readCommand(node);
      case 'Redirected':
        for (const redirect of node.redirects) this.readRedirect(redirect, false);
        return;
      case 'Assignment':
        return this.readAssignment(node);
      case 'Word':
        return this.readPath(node);
      case 'SimpleExpansion':
        if (isCredentialVariable(node.text.slice(1)))
          this.add('ENVIRONMENT', 0.6, { start: node.pos, end: node.end });
        return;
      case 'ParameterExpansion': {
        const stretch = { start: node.pos, end: node.end };
        if (node.prefix === '!') this.add('DYNAMIC_ACCESS', 0.8, stretch);
        else if (isCredentialVariable(node.parameter)) this.add('ENVIRONMENT', 0.6, stretch);
        if (node.operation?.type === 'Transform') this.add('DYNAMIC_CODE', 0.6, stretch);
        return;
      }
      case 'Function':
        return this.readFunction(node);
      default:
        return;
    }
  }

  /** What each command of a pipe reads: all that stands before it. */
  private readPipeline(pipeline: Pipeline): void {
    const before: Started[] = [];
    for (const command of pipeline.commands) {
      const plain = command.type === 'Command' ? command : null;
      if (plain !== null) {
        if (before.length > 0) this.piped.set(plain, { before: [...before.slice(-8)], start: pipeline.pos });
        const started = this.started(plain);
        if (started !== null) before.push(started);
      }
    }
  }

  /** A function that pipes into itself in the background fills the machine. */
  private readFunction(node: Extract<SyntaxNode, { type: 'Function' }>): void {
    const name = node.name.value;
    if (node.end - node.pos > 400 || name.length > 40) return;
    const body = this.source.slice(node.body.pos, node.body.end);
    if (body.includes(`${name}|${name}`) || body.replace(/\s/g, '').includes(`${name}|${name}&`))
      this.add('DESTRUCTIVE', 0.95, { start: node.pos, end: node.end });
  }

  private readAssignment({ name, value, pos, end }: Assignment): void {
    if (LOADED_VARIABLES.has(name)) this.add('DYNAMIC_CODE', 0.7, { start: pos, end });
    if (name === 'PATH' && value.type === 'Word' && /^(?:\.|\/tmp|\/dev\/shm|:)/.test(value.value))
      this.add('DYNAMIC_CODE', 0.7, { start: pos, end });
  }

  /** Any word that is the path of a file with credentials, also behind `=` and `@`. */
  private readPath(node: Word): void {
    if (node.end - node.pos > 4200) return;
    const { shape } = this.word(node);
    const known = [shape, shape.replace(/^[^=@]{0,40}[=@]/, ''), shape.replace(/^[\w.@-]{1,80}:/, '')]
      .map(sensitivePath)
      .find((one) => one !== null);
    if (known === undefined) return;
    this.add('SENSITIVE_FILE', 0.85, { start: node.pos, end: node.end });
  }

  private readRedirect(redirect: Redirection, isShell: boolean): void {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) return;
    const { shape } = this.word(redirect.target);
    const stretch = { start: redirect.pos, end: redirect.end };
    if (/^\/dev\/(?:tcp|udp)\//.test(shape)) {
      this.add('NETWORK', 0.95, stretch);
      this.add('REVERSE_SHELL', isShell ? 0.98 : 0.8, stretch);
      return;
    }
    if (redirect.operator === '<' || redirect.operator === '<&') return;
    if (redirect.operator === '>&' && /^[\d-]+$/.test(shape)) return;
    if (/^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)$/.test(shape)) return;
    if (/^\/dev\/(?:sd|hd|nvme|vd|xvd|disk|mem|kmem|mapper)/.test(shape))
      this.add('DESTRUCTIVE', 0.95, stretch);
    else this.add('FILE_WRITE', 0.6, stretch);
    if (sensitivePath(shape) === 'started') this.add('PERSISTENCE', 0.85, stretch);
  }

  private started(command: Command): Started | null {
    const { name } = command;
    if (name === undefined) return null;
    const words = command.suffix.flatMap((part) => {
      if (part.type === 'Word') return [this.word(part)];
      if (part.type !== 'Assignment') return [];
      const { pos: start, end } = part;
      const text = part.value.type === 'Word' ? this.word(part.value) : null;
      const value =
        text?.value == null ? null : `${part.name}${part.append === true ? '+' : ''}=${text.value}`;
      const shape = value ?? part.text;
      return [{ value, shape, bodyStart: null, hasSubstitution: text?.hasSubstitution ?? false, start, end }];
    });
    const named = this.word(name);
    const end = Math.max(named.end, words.at(-1)?.end ?? 0);
    return {
      name: named.value === null ? '' : baseName(named.value),
      words,
      start: named.start,
      end,
      input: this.inputOf(command),
    };
  }

  private inputOf(command: Command): Input | null {
    const typed = command.redirects.findLast((one) => one.type !== 'Redirect');
    // Expansions in a here-document are taken as they stand: the commands around them are what matters.
    if (typed?.type === 'HereDoc')
      return { kind: 'text', text: typed.body.text, start: typed.body.pos, end: typed.body.end };
    if (typed !== undefined) {
      const word = typed.target === undefined ? null : this.word(typed.target);
      const start = word?.bodyStart ?? typed.pos;
      return { kind: 'text', text: word?.value ?? null, start, end: typed.end };
    }
    const piped = this.piped.get(command);
    if (piped !== undefined) return { kind: 'pipe', ...piped };
    const isFed = command.redirects.some((one) => one.type === 'Redirect' && one.operator === '<');
    return isFed ? { kind: 'file' } : null;
  }

  private readCommand(command: Command): void {
    const started = this.started(command);
    const isShell = started !== null && (SHELLS.has(started.name) || started.name === 'exec');
    for (const redirect of command.redirects) {
      this.readRedirect(redirect, isShell);
      if (started !== null && FETCHERS.has(started.name) && redirect.type === 'Redirect')
        if (redirect.target !== undefined) this.keepFetched(this.word(redirect.target).shape);
    }
    if (started === null || command.name === undefined) return;
    const { shape, value, start, end } = this.word(command.name);
    if (value === null) {
      // A fence of Markdown: what is in it is read on its own.
      if (this.source.startsWith('```', start)) return;
      this.reader.commands.add(shape);
      this.add('DYNAMIC_CODE', 0.8, { start, end }, 'a command whose name is a value');
      return;
    }
    this.run(started, 0);
  }

  /** What one command does, with what it starts in its turn. */
  private run(started: Started, wrapped: number): void {
    const { name, words, input, end } = started;
    this.reader.commands.add(name);
    const danger = commandDanger(name);
    if (danger !== null && !isHarmlessUse(started)) this.add(danger.kind, danger.confidence, started);
    const values = words.map(({ value }) => value);
    if (isInstalling(name, values)) this.add('INSTALL', 0.85, started);
    if (FETCHERS.has(name)) this.readFetch(started);
    if (this.fetched.has(name) && wrapped < 8) this.add('DOWNLOAD_AND_RUN', 0.9, started);
    SPECIAL.get(name)?.(started, this, wrapped);
    this.readInterpreter(started);
    const wrapper = WRAPPERS.get(name);
    if (wrapper === undefined || wrapped >= MOST_WRAPPERS) return;
    const next = behind(started, wrapper.taking, wrapper.own);
    if (next !== null) this.start(next, wrapped + 1);
    // `… | parallel` runs every line; `… | xargs` alone only echoes.
    else if (name === 'parallel' && input?.kind === 'pipe')
      this.add('DYNAMIC_CODE', 0.8, { start: input.start, end });
  }

  /** A command that another one starts: its first word is the name. */
  start(words: readonly ShellWord[], wrapped: number): void {
    const [first, ...rest] = words;
    if (first === undefined) return;
    if (first.value === null) {
      this.add('DYNAMIC_CODE', 0.8, first, 'a command whose name is a value');
      return;
    }
    const end = Math.max(first.end, rest.at(-1)?.end ?? 0);
    this.run({ name: baseName(first.value), words: rest, start: first.start, end, input: null }, wrapped);
  }

  private keepFetched(path: string): void {
    const name = baseName(path);
    if (name !== '' && name !== '-') this.fetched.add(name);
  }

  private readFetch({ name, words }: Started): void {
    for (const [index, word] of words.entries()) {
      const next = words[index + 1]?.shape ?? '';
      const option = word.value ?? '';
      if (/^(?:-[a-zA-Z]*[oO]|--output|--output-document|--out)$/.test(option)) this.keepFetched(next);
      const isKept = name === 'wget' || /^-[a-zA-Z]*O/.test(option);
      if (/^https?:\/\//.test(word.shape) && (isKept || words.some((one) => /^-[a-zA-Z]*O$/.test(one.shape))))
        this.keepFetched(word.shape.replace(/[?#].*$/, ''));
      if (/^--(?:output|output-document)=/.test(option)) this.keepFetched(option.replace(/^[^=]*=/, ''));
    }
  }

  /** Shells and interpreters: the code that they are given, and where it comes from. */
  private readInterpreter(started: Started): void {
    const { name, words } = started;
    const isShell = SHELLS.has(name);
    const interpreter = isShell ? SHELL : INTERPRETERS.get(name);
    if (interpreter === undefined) return;
    const at = words.findIndex(({ value }) => value !== null && interpreter.options.test(value));
    const code = at < 0 ? undefined : words[at + 1];
    if (code !== undefined) {
      this.readCode(code, interpreter.language, started);
      return;
    }
    const file = words.find(({ value }) => value === null || !/^[-+]/.test(value));
    if (file === undefined || file.value === '-' || file.value === '/dev/stdin') {
      this.readInput(started, interpreter.language);
      return;
    }
    if (file.hasSubstitution) this.readSubstituted(file, started);
    else if (this.isFetched(file.shape)) this.add('DOWNLOAD_AND_RUN', 0.9, started);
    else if (file.value === null && isShell && /[$*]/.test(file.shape))
      this.add('DYNAMIC_CODE', 0.5, started);
  }

  /** Code in an argument. */
  readCode(word: ShellWord, language: Language, stretch: Stretch): void {
    if (word.value === null) {
      this.add('DYNAMIC_CODE', 0.8, stretch);
      if (word.hasSubstitution) this.readSubstituted(word, stretch);
      // What can be seen of it is looked at, too.
      if (language !== 'shell') return;
    }
    const isExact = word.bodyStart !== null;
    const from = word.bodyStart ?? word.start;
    const body = word.value ?? word.shape.replaceAll('*', ' ').replaceAll('~', ' ');
    const place = inner(this.place, from, isExact ? from + body.length : word.end, isExact);
    this.readInner(body, language, place, word.value !== null);
    if (language === 'other') this.add('DYNAMIC_CODE', 0.7, stretch);
  }

  private readInner(body: string, language: Language, place: Place, isWhole: boolean): void {
    if (language === 'shell') this.reader.read(body, place, this.depth + 1, isWhole);
    else if (this.depth >= DEEPEST_CODE) {
      const whole = { start: 0, end: body.length };
      this.reader.add('UNPARSEABLE', 1, whole, place, 'code inside of code, too deep');
    } else if (language === 'python') this.reader.addAll(moved(PYTHON().pythonCode(body).constructs, place));
    else if (language === 'javascript')
      this.reader.addAll(moved(JAVASCRIPT().javascriptCode(body).constructs, place));
  }

  /** `bash <(curl …)`, `sh -c "$(curl …)"`: who made the code. */
  readSubstituted(word: ShellWord, stretch: Stretch): void {
    const written = this.source.slice(word.start, Math.min(word.end, word.start + 4000));
    const names = written.match(/[A-Za-z0-9_.-]+/g)?.slice(0, 200) ?? [];
    if (names.some((name) => FETCHERS.has(name))) this.add('DOWNLOAD_AND_RUN', 0.95, stretch);
    if (names.some((name) => DECODING.has(name))) this.add('ENCODED_PAYLOAD', 0.9, stretch);
  }

  /** `… | sh`, `sh <<EOF` */
  private readInput(started: Started, language: Language): void {
    const { input } = started;
    if (input === null || input.kind === 'file') return;
    if (input.kind === 'text') {
      const { text, start, end } = input;
      if (text === null) this.add('DYNAMIC_CODE', 0.8, { start: started.start, end });
      else this.readTyped(text, language, { start, end });
      return;
    }
    const { before } = input;
    const stretch = { start: input.start, end: started.end };
    if (before.some(({ name }) => FETCHERS.has(name))) this.add('DOWNLOAD_AND_RUN', 0.95, stretch);
    if (before.some(({ name }) => DECODING.has(name))) this.add('ENCODED_PAYLOAD', 0.9, stretch);
    const made = madeText(before);
    if (made === null) {
      this.add('DYNAMIC_CODE', 0.85, stretch, 'runs what a pipe brings');
      return;
    }
    const [first] = before;
    const typed = first?.input?.kind === 'text' ? first.input : null;
    if (typed !== null) this.readTyped(made, language, typed);
    else {
      const { start, end } = first ?? stretch;
      this.readInner(made, language, inner(this.place, start, end, false), true);
    }
  }

  /** Code of a here-document or here-string, perhaps decoded: at its place, if it stands there letter by letter. */
  private readTyped(code: string, language: Language, { start, end }: Stretch): void {
    const isExact = this.source.startsWith(code, start);
    const place = inner(this.place, start, isExact ? start + code.length : end, isExact);
    this.readInner(code, language, place, true);
  }

  isFetched(path: string): boolean {
    return this.fetched.has(baseName(path));
  }
}

function moved(found: readonly Construct[], place: Place): readonly Construct[] {
  return found.map((construct) => ({ ...construct, ...placed(place, construct.start, construct.end) }));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The words behind a wrapper's own: its options, settings of variables, and what it needs before the command. */
function behind({ words }: Started, taking: RegExp, own: number): readonly ShellWord[] | null {
  let at = 0;
  for (; at < words.length; at++) {
    const value = words[at]?.value ?? null;
    if (value === null) break;
    if (value === '--') {
      at++;
      break;
    }
    if (taking.test(value)) at++;
    else if (!/^-./.test(value) && !/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(value)) break;
  }
  const rest = words.slice(at + own);
  return rest.length === 0 ? null : rest;
}

/** A use that only shows or lists. */
function isHarmlessUse({ name, words }: Started): boolean {
  const first = words[0]?.value ?? '';
  if (words.length === 1 && /^(?:--version|--help|-V)$/.test(first)) return true;
  if (name === 'crontab') return words.length === 1 && first === '-l';
  if (name === 'rpm') return first.startsWith('-q');
  if (name === 'dpkg') return /^-[lLsS]$|^--get|^--list/.test(first);
  return words.length === 0 && ['at', 'links', 'host', 'http', 'mail', 'mount'].includes(name);
}

/** The text that a pipe brings, where every command of it can be followed: `echo … | base64 -d`. */
function madeText(before: readonly Started[]): string | null {
  let text: string | null = null;
  for (const [index, { name, words, input }] of before.entries()) {
    const values = words.map(({ value }) => value);
    const options = values.filter((value) => value?.startsWith('-'));
    if (index === 0) {
      if (input?.kind === 'text' && (name === 'cat' || DECODING.has(name))) text = input.text;
      else if (name !== 'echo' && name !== 'printf') return null;
      else {
        const said = values.filter((value) => value === null || !/^-[neE]+$/.test(value));
        if (said.some((value) => value === null)) return null;
        text = said.join(' ');
        if (name === 'printf' || options.some((option) => option?.includes('e'))) text = unescaped(text);
        if (name === 'printf') text = text.replace(/^%s ?/, '');
        continue;
      }
      if (name === 'cat') continue;
    }
    if (text === null) return null;
    if (name === 'base64' || (name === 'openssl' && values.some((value) => value?.includes('base64'))))
      text = decodedBase64(text.trim());
    else if (name === 'xxd') text = decodedHex(text.trim());
    else if (name === 'rev') text = [...text.trim()].reverse().join('');
    else if (name !== 'cat' && name !== 'tee') return null;
  }
  return text;
}

function unescaped(text: string): string {
  return text
    .replace(
      /\\x([0-9a-fA-F]{1,2})|\\0?([0-7]{3})/g,
      (_, hex: string | undefined, octal: string | undefined) =>
        String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(hex, 16)),
    )
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t');
}

// ── commands whose danger depends on their arguments ──────────────────────────────────────────────────────────

const SHELL: Interpreter = { options: /^-[A-Za-z]*c$|^-Command$/i, language: 'shell' };

/** `wrapped`: how many commands have started each other before it. */
type Special = (started: Started, text: ShellText, wrapped: number) => void;

/** Whole systems, homes and everything in the current folder. */
const WIDE =
  /^(?:\/|\/\*|~|~\/|~\/\*|\*|\.|\.\/?\*?|\.\.|\.\.\/\*?|\/(?:etc|usr|var|home|bin|boot|lib|opt|root|srv)(?:\/\*?)?)$/;

const remove: Special = (started, text) => {
  const options = started.words.flatMap(({ value }) => (value?.startsWith('-') ? [value] : []));
  const isRecursive = options.some((option) => /^-[a-zA-Z]*[rR]|^--recursive$/.test(option));
  const isForced = options.some((option) => /^-[a-zA-Z]*f|^--force$/.test(option));
  const isWide = started.words.some(({ shape }) => WIDE.test(shape));
  if ((isRecursive && (isForced || isWide)) || options.includes('--no-preserve-root') || isWide)
    text.add('DESTRUCTIVE', 0.9, started);
};

const copyDisk: Special = (started, text) => {
  const target = started.words.find(({ shape }) => shape.startsWith('of='))?.shape ?? '';
  const isDevice = /^of=\/dev\/(?!null|stdout|stderr)/.test(target);
  if (isDevice) text.add('DESTRUCTIVE', 0.95, started);
  else if (target !== '' && target !== 'of=/dev/null') text.add('FILE_WRITE', 0.6, started);
};

const findFiles: Special = (started, text, wrapped) => {
  const { words } = started;
  for (let at = 0; at < words.length; at++) {
    const value = words[at]?.value ?? '';
    if (value === '-delete') text.add('FILE_DELETE', 0.85, started);
    if (/^-f(?:printf|print|ls)0?$/.test(value)) text.add('FILE_WRITE', 0.6, started);
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(value)) continue;
    let last = at + 1;
    while (last < words.length && words[last]?.value !== ';' && words[last]?.value !== '+') last++;
    if (wrapped < MOST_WRAPPERS) text.start(words.slice(at + 1, last), wrapped + 1);
    else text.add('DYNAMIC_CODE', 0.8, started);
    // What it starts has been looked at with it: each word once, however often it appears.
    at = last;
  }
};

const evaluate: Special = (started, text) => {
  const { words } = started;
  const [only] = words;
  if (only === undefined) return;
  if (words.length === 1) {
    text.readCode(only, 'shell', started);
    return;
  }
  const isKnown = words.every(({ value }) => value !== null);
  const substituted = words.find(({ hasSubstitution }) => hasSubstitution);
  if (!isKnown) text.add('DYNAMIC_CODE', 0.8, started);
  if (substituted !== undefined) text.readSubstituted(substituted, started);
  text.readCode({ ...joinedWords(words, only), hasSubstitution: false }, 'shell', started);
};

const source: Special = (started, text) => {
  const [file] = started.words;
  if (file === undefined) return;
  if (file.hasSubstitution) {
    text.add('DYNAMIC_CODE', 0.85, started);
    text.readSubstituted(file, started);
  } else if (text.isFetched(file.shape)) text.add('DOWNLOAD_AND_RUN', 0.9, started);
};

/** The argument behind an option, read as shell code. */
function codeBehind(pattern: RegExp): Special {
  return (started, text) => {
    const at = started.words.findIndex(({ value }) => value !== null && pattern.test(value));
    const code = started.words[at + 1];
    if (at >= 0 && code !== undefined) text.readCode(code, 'shell', started);
  };
}

/** `alias x='…'`, `trap '…' EXIT` */
const alias: Special = (started, text) => {
  for (const word of started.words) {
    const body = word.value?.replace(/^[^=]{0,64}=/, '') ?? null;
    if (body !== null && body !== word.value)
      text.readCode({ ...word, value: body, bodyStart: null }, 'shell', started);
  }
};

const trap: Special = (started, text) => {
  const [code, signal] = started.words;
  if (code !== undefined && signal !== undefined && code.value !== '-' && code.value !== '')
    text.readCode(code, 'shell', started);
};

const remote: Special = (started, text) => {
  const rest = behind(started, /^-[bcDEeFIiJLlmOopQRSWw]$/, 1);
  const [first] = rest ?? [];
  if (first !== undefined && rest !== null) text.readCode(joinedWords(rest, first), 'shell', started);
};

/** Whether a word has a form: as the command gets it, or as far as it can be seen. */
function telling(part: 'value' | 'shape', form: RegExp, kind: ConstructKind, confidence: number): Special {
  return (started, text) => {
    if (started.words.some((word) => form.test(word[part] ?? ''))) text.add(kind, confidence, started);
  };
}

const writeFiles: Special = (started, text) => {
  const targets = started.words.filter(({ value }) => !value?.startsWith('-'));
  if (targets.some(({ shape }) => shape !== '/dev/null' && shape !== '/dev/stderr' && shape !== '/dev/tty'))
    text.add('FILE_WRITE', 0.6, started);
  if (targets.some(({ shape }) => sensitivePath(shape) === 'started')) text.add('PERSISTENCE', 0.85, started);
  if (targets.some(({ shape }) => /^\/dev\/(?:sd|hd|nvme|vd|xvd|disk|mem)/.test(shape)))
    text.add('DESTRUCTIVE', 0.95, started);
};

const archive = telling(
  'shape',
  /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh|info-script|new-volume-script)/,
  'PROCESS',
  0.85,
);

const versions: Special = (started, text) => {
  const words = started.words.map(({ value }) => value ?? '');
  const verb = words.find((word) => !word.startsWith('-')) ?? '';
  if (['clone', 'push', 'fetch', 'pull', 'ls-remote', 'submodule'].includes(verb))
    text.add('NETWORK', 0.6, started);
  const isForced = words.some((word) => /^(?:-[a-zA-Z]*f[a-zA-Z]*|--force.*)$/.test(word));
  const isLost = verb === 'reset' && words.includes('--hard');
  if (isLost || (isForced && (verb === 'push' || verb === 'clean'))) text.add('DESTRUCTIVE', 0.7, started);
  if (
    words.some((word) =>
      /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|alias\.\w+|protocol\.ext)/i.test(word),
    )
  )
    text.add('DYNAMIC_CODE', 0.8, started);
};

const services: Special = (started, text) => {
  const words = started.words.map(({ value }) => value ?? '');
  if (words.some((word) => ['enable', 'link', 'preset', 'edit'].includes(word)))
    text.add('PERSISTENCE', 0.85, started);
  else if (words.some((word) => /^(?:stop|disable|mask|kill|isolate)$/.test(word)))
    text.add('PRIVILEGE', 0.7, started);
  else if (words.some((word) => /^(?:reboot|poweroff|halt|kexec)$/.test(word)))
    text.add('DESTRUCTIVE', 0.9, started);
};

const containers: Special = (started, text) => {
  const words = started.words.map(({ shape }) => shape);
  const isOpen = words.some((word, index) => {
    if (/^--(?:privileged|pid=host|net=host|network=host|cap-add.*|userns=host)$/.test(word)) return true;
    const mounted = /^(?:-v|--volume)$/.test(word)
      ? (words[index + 1] ?? '')
      : word.replace(/^--volume=/, '');
    return /^\/(?:etc|root|var\/run\/docker\.sock|proc|sys)?:/.test(mounted);
  });
  if (isOpen) text.add('PRIVILEGE', 0.85, started);
};

const killing: Special = (started, text) => {
  if (started.words.some(({ value }) => value === '-1' || value === '1') && started.words.length > 1)
    text.add('DESTRUCTIVE', 0.8, started);
};

const environment: Special = (started, text, wrapped) => {
  const rest = behind(started, /^(?:-[uCS]|--unset|--chdir)$/, 0);
  const isSplit = started.words.some(({ value }) => value === '-S' || value === '--split-string');
  if (rest === null && !isSplit) text.add('ENVIRONMENT', 0.7, started);
  if (isSplit) codeBehind(/^(?:-S|--split-string)$/)(started, text, wrapped);
};

const declare: Special = (started, text) => {
  if (started.words.length === 0 || (started.words.length === 1 && started.words[0]?.value === '-p'))
    text.add('ENVIRONMENT', 0.6, started);
};

const copying: Special = (started, text, wrapped) => {
  writeFiles(started, text, wrapped);
  if (started.words.some(({ shape }) => /^[\w.@-]+:[^/]?/.test(shape) && !shape.startsWith('/'))) {
    if (started.name === 'rsync') text.add('NETWORK', 0.8, started);
  }
  archive(started, text, wrapped);
};

const SPECIAL = byWord<Special>([
  ['rm unlink rmdir', remove],
  ['dd', copyDisk],
  ['find fd', findFiles],
  ['eval', evaluate],
  ['source .', source],
  ['alias', alias],
  ['trap', trap],
  ['su script runuser', codeBehind(/^(?:-[a-zA-Z]*c|--command)$/)],
  ['flock', codeBehind(/^(?:-c|--command)$/)],
  ['nc ncat netcat', telling('value', /^-[a-z]*[ec][a-z]*$|^--(?:sh-)?exec$/, 'REVERSE_SHELL', 0.95)],
  ['socat', telling('shape', /(?:^|,)(?:EXEC|SYSTEM):/i, 'REVERSE_SHELL', 0.95)],
  ['ssh', remote],
  ['tee mv ln install truncate split', writeFiles],
  ['cp rsync', copying],
  ['sed', telling('value', /^-[a-zA-Z]*i|^--in-place/, 'FILE_WRITE', 0.6)],
  // Programs of these can start others.
  [
    'awk gawk mawk nawk',
    telling('shape', /\bsystem\s*\(|\|\s*getline|\|\s*"|"\/inet\/tcp/, 'DYNAMIC_CODE', 0.85),
  ],
  ['tar bsdtar zip', archive],
  ['git', versions],
  ['systemctl', services],
  [
    'init',
    (started, text) => {
      if (/^[06]$/.test(started.words[0]?.value ?? '')) text.add('DESTRUCTIVE', 0.9, started);
    },
  ],
  ['docker podman nerdctl', containers],
  ['kill', killing],
  ['env', environment],
  ['export declare set typeset', declare],
  [
    'openssl',
    (started, text) => {
      if (started.words[0]?.value === 's_client') text.add('NETWORK', 0.85, started);
    },
  ],
]);
