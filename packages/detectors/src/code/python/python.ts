/**
 * Python code: what it imports, which built-in names it uses, what it calls, and the constructs that reach further than
 * the text shows. Nothing is run.
 */
import { byWord, wordSet } from '../../text/words.ts';
import {
  AT_THE_START,
  CONSTRUCT_KINDS,
  CodeText,
  type Construct,
  ConstructReader,
  inner,
  isAnyWithin,
  LONGEST_CODE,
  type Place,
  type Unparseable,
  unparseableFrom,
  unreadable,
} from '../construct.ts';
import type { Danger } from '../danger-table.ts';
import { fencesOf } from '../fences.ts';
import { isCredentialName, sensitivePath } from '../sensitive-path.ts';
import { shellConstructs } from '../shell/shell.ts';
import { magicsOf } from './ipython.ts';
import {
  CLIMBING,
  DECODERS,
  dangerOf,
  isBuiltin,
  isPowerfulModule,
  TELLING_METHODS,
} from './python-dangers.ts';
import { PythonNames } from './python-names.ts';
import { INVALID, parsePython } from './python-parse.ts';
import { nameText, writtenOut } from './python-text.ts';
import { argumentsOf, type PythonArgument, type PythonNode } from './python-tree.ts';

export interface PythonCode {
  /** Modules, as imports name them; null: `from . import x`. */
  readonly imports: readonly (string | null)[];
  /** Built-in functions, constants and exceptions whose names are used, in the order of the text. */
  readonly builtins: readonly string[];
  /** Call targets as they are written, and by their full names where these are known. */
  readonly functionCalls: readonly string[];
  /** What Python would say if it does not parse; null: it does. */
  readonly syntaxError: string | null;
  readonly constructs: readonly Construct[];
}

export interface PythonOptions {
  /** Lines of notebooks that are no Python: `!command`, `%magic`. */
  readonly isNotebook?: boolean;
}

/**
 * Reads a text as Python; if it does not parse and holds Markdown fences, what is in them. Never throws; a text of
 * more than `LONGEST_CODE` counts as one that does not parse.
 */
export function pythonCode(text: string, { isNotebook = false }: PythonOptions = {}): PythonCode {
  const reader = new PythonReader(isNotebook);
  const fences = text.length > LONGEST_CODE ? [] : fencesOf(text, 'python');
  const whole = reader.read(text, AT_THE_START, 0, fences.length > 0);
  if (whole === null) return reader.result(null);
  let error: string | null = fences.length === 0 ? whole.message : null;
  if (fences.length === 0) reader.add('UNPARSEABLE', 1, whole, AT_THE_START);
  for (const { start, end } of fences) {
    const place: Place = { kind: 'at', offset: start };
    const fault = reader.read(text.slice(start, end), place, 0);
    if (fault === null) continue;
    error ??= fault.message;
    reader.add('UNPARSEABLE', 1, fault, place);
  }
  return reader.result(error);
}

/** Functions whose first argument is Python code, and those whose first argument is a command line. */
const RUNS_PYTHON = wordSet('eval exec compile builtins.eval builtins.exec builtins.compile execfile');
/** Calls that give the module whose name they are given. */
const IMPORTS = wordSet('__import__ builtins.__import__ importlib.__import__ importlib.import_module');
const RUNS_SHELL = wordSet(`
  os.system os.popen posix.system subprocess.run subprocess.call subprocess.Popen subprocess.check_output
  subprocess.check_call subprocess.getoutput subprocess.getstatusoutput get_ipython().system
  get_ipython().getoutput asyncio.create_subprocess_shell
`);

class PythonReader extends ConstructReader {
  readonly imports = new Set<string | null>();
  readonly builtins = new Set<string>();
  readonly calls = new Set<string>();
  private readonly isNotebook: boolean;

  constructor(isNotebook: boolean) {
    super();
    this.isNotebook = isNotebook;
  }

  result(syntaxError: string | null): PythonCode {
    return {
      imports: [...this.imports],
      builtins: [...this.builtins],
      functionCalls: [...this.calls].sort(),
      syntaxError,
      constructs: this.constructs(),
    };
  }

  /**
   * Reads one text that is code as a whole. What Python would refuse is read as far as it can be: anyone who runs it may be laxer.
   * @param isStrict whether such a text is not read at all
   * @returns what keeps it from being Python; null: it is
   */
  read(text: string, place: Place, depth: number, isStrict = false): Unparseable | null {
    const tooMuch = unreadable(text, depth);
    if (tooMuch !== null) return tooMuch;
    const { code, magics } = this.isNotebook ? magicsOf(text) : { code: text, magics: [] };
    const parsed = parsePython(code);
    const at = parsed.kind === 'error' ? parsed.at : parsed.refused;
    const message = parsed.kind === 'error' ? parsed.message : INVALID;
    const refused = at === null ? null : unparseableFrom(at, text, message);
    if (parsed.kind === 'error' || (isStrict && refused !== null)) return refused;
    for (const { command, start, end, isShell } of magics) {
      if (isShell) {
        this.add('PROCESS', 0.9, { start, end }, place);
        this.addAll(shellConstructs(command, inner(place, start, end, true), depth + 1));
      } else this.add('DYNAMIC_CODE', 0.7, { start, end }, place);
    }
    const names = new PythonNames(parsed.nodes, code);
    for (const module of names.imports) this.imports.add(module);
    new PythonText(this, names, parsed.nodes, place, depth).read();
    this.readEncoding(code, place);
    return refused;
  }

  /** A file may name an encoding in which harmless letters are code. */
  private readEncoding(code: string, place: Place): void {
    const head = code.slice(0, 400).split('\n', 2).join('\n');
    const named = /^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)/m.exec(head);
    if (named === null || /^(?:utf-?8(?:-sig)?|ascii|us-ascii|latin-?1|iso-8859-1)$/i.test(named[1] ?? ''))
      return;
    const start = named.index;
    this.add('ENCODED_PAYLOAD', 0.9, { start, end: start + named[0].length }, place);
  }
}

/** One parsed text. */
class PythonText extends CodeText<PythonReader> {
  private readonly names: PythonNames;
  private readonly nodes: readonly PythonNode[];
  private readonly decoders: readonly number[];

  constructor(
    reader: PythonReader,
    names: PythonNames,
    nodes: readonly PythonNode[],
    place: Place,
    depth: number,
  ) {
    super(reader, place, depth);
    this.names = names;
    this.nodes = nodes;
    this.decoders = nodes
      .filter(({ name, start, end }) => {
        const isName = name === 'VariableName' || name === 'PropertyName';
        return isName && DECODERS.has(names.code.slice(start, Math.min(end, start + 24)));
      })
      .map(({ start }) => start);
  }

  read(): void {
    for (const node of this.nodes) this.readNode(node);
    for (const node of this.names.unfollowed)
      this.add('DYNAMIC_ACCESS', 0.9, node, 'a name with more meanings than are followed');
  }

  private readNode(node: PythonNode): void {
    switch (node.name) {
      case 'VariableName':
        return this.readName(node);
      case 'MemberExpression':
        return this.readMember(node);
      case 'CallExpression':
        return this.readCall(node);
      case 'String':
        return this.readString(node);
      case 'Decorator':
        return this.readDecorator(node);
      default:
        return;
    }
  }

  private readName(node: PythonNode): void {
    if (this.names.names.has(node) || node.parent?.name === 'Decorator') return;
    const name = nameText(node, this.names.code);
    if (isBuiltin(name)) this.reader.builtins.add(name);
    if (this.names.isOwn(node)) return;
    if (name === '__builtins__' || name === '__loader__') this.add('INTROSPECTION', 0.9, node);
    const isBase = node.parent?.name === 'MemberExpression' && node.index === 0;
    for (const meaning of this.names.meaningsOf(node)) {
      this.mention(meaning, node, null);
      if (!isBase && isPowerfulModule(meaning) && this.isHandedOn(node))
        this.add('DYNAMIC_ACCESS', 0.7, node, 'a module of the system, handed on as a value');
    }
  }

  /** Whether a module is used for anything but an alias, which is followed. */
  private isHandedOn(node: PythonNode): boolean {
    const { parent } = node;
    if (parent === null) return false;
    if (parent.name === 'AssignStatement' || parent.name === 'NamedExpression') return false;
    if (parent.name === 'ExpressionStatement' || parent.name === 'DeleteStatement') return false;
    if (parent.name !== 'ArgList') return parent.name !== 'ScopeStatement' && parent.name !== 'ParamList';
    const callee = parent.parent?.children[0];
    const called = callee === undefined ? [] : this.names.meaningsOf(callee);
    // These are followed; `reload` and `dir` give nothing that is not.
    return !called.some((name) =>
      ['getattr', 'hasattr', 'vars', 'dir', 'help', 'print', 'type'].includes(name),
    );
  }

  private readMember(node: PythonNode): void {
    const { code } = this.names;
    const [base, sign, member] = node.children;
    if (base === undefined || member === undefined) return;
    const meanings = this.names.meaningsOf(node);
    const call = this.callOf(node);
    let isKnown = false;
    for (const meaning of meanings) if (this.mention(meaning, node, call)) isKnown = true;
    if (sign?.name === '.') {
      const name = nameText(member, code);
      if (CLIMBING.has(name)) this.add('INTROSPECTION', 0.9, member);
      const telling = call === null ? undefined : TELLING_METHODS.get(name);
      if (telling !== undefined && !isKnown && meanings.every((meaning) => !/^[\w.]+$/.test(meaning)))
        this.add(telling.kind, telling.confidence, node);
      return;
    }
    if (this.isNamespace(base)) this.add('DYNAMIC_ACCESS', 0.9, node);
  }

  /** Something whose keys are the names of variables or members. */
  private isNamespace(base: PythonNode): boolean {
    const isOfModule = (name: string) =>
      name === 'sys.modules' ||
      name === '__builtins__' ||
      name.endsWith('.__dict__') ||
      /^(?:builtins\.)?(?:globals|locals|vars)\(\)$/.test(name);
    if (this.names.meaningsOf(base).some(isOfModule)) return true;
    const last = base.children.at(-1);
    return last?.name === 'PropertyName' && this.names.code.startsWith('__dict__', last.start);
  }

  /** The call that an expression is the target of. */
  private callOf(node: PythonNode): PythonNode | null {
    return node.parent?.name === 'CallExpression' && node.index === 0 ? node.parent : null;
  }

  /** Reports a full name that is known; whether it was. */
  private mention(meaning: string, node: PythonNode, call: PythonNode | null): boolean {
    const danger = dangerOf(meaning);
    if (danger !== null) {
      this.add(danger.kind, danger.confidence, node, `${meaning}: ${CONSTRUCT_KINDS[danger.kind]}`);
      return true;
    }
    if (meaning === 'os.environ' && this.isWholeEnvironment(node)) this.add('ENVIRONMENT', 0.7, node);
    return call !== null && CONDITIONAL.has(meaning);
  }

  /** All variables, or one that holds a credential; not `os.environ["HOME"]`. */
  private isWholeEnvironment(node: PythonNode): boolean {
    const { parent } = node;
    if (parent?.name !== 'MemberExpression' || node.index !== 0) return parent?.name !== 'CompareOp';
    const [, sign, member] = parent.children;
    if (member === undefined) return true;
    if (sign?.name === '[') return isCredentialName(this.names.textOf(member));
    const name = nameText(member, this.names.code);
    if (name === 'setdefault' || name === 'pop' || name === 'update') return false;
    if (name !== 'get') return true;
    const list = this.callOf(parent)?.children[1];
    const [key] = list === undefined ? [] : argumentsOf(list);
    return key === undefined || isCredentialName(this.names.textOf(key.value));
  }

  private readCall(node: PythonNode): void {
    const [callee, list] = node.children;
    if (callee === undefined || list === undefined) return;
    const written = writtenOut(callee, this.names.code);
    if (written !== null) this.reader.calls.add(written);
    const isOwn = callee.name === 'VariableName' && this.names.isOwn(callee);
    if (isOwn) return;
    const meanings = this.names.meaningsOf(callee);
    const given = argumentsOf(list);
    for (const meaning of meanings) {
      if (!/[()]/.test(meaning)) this.reader.calls.add(meaning);
      if (callee.name === 'VariableName' || callee.name === 'MemberExpression') {
        const found = CONDITIONAL.get(meaning)?.(given, this.names) ?? null;
        if (found !== null) this.add(found.kind, found.confidence, found.isCall ? node : callee);
      } else this.mention(meaning, callee, node);
      this.readInner(meaning, node, given);
      if (IMPORTS.has(meaning))
        for (const module of this.names.meaningsOf(node)) this.reader.imports.add(module);
    }
    // A call through something that is computed: `f()()`, `table[key]()`, `getattr(x, y)()`.
    if (callee.name === 'CallExpression' || callee.name === 'ParenthesizedExpression')
      for (const meaning of this.names.meaningsOf(callee)) this.mention(meaning, callee, node);
    this.readMethod(callee, given);
  }

  /** Methods whose danger depends on their arguments, on objects of which nothing is known. */
  private readMethod(callee: PythonNode, given: readonly PythonArgument[]): void {
    const member = callee.name === 'MemberExpression' ? callee.children.at(-1) : undefined;
    if (member?.name !== 'PropertyName') return;
    const name = nameText(member, this.names.code);
    const [first] = given;
    if ((name === 'format' || name === 'format_map') && callee.children[0] !== undefined) {
      const text = this.names.textOf(callee.children[0]);
      if (text !== null && /\{[^{}]{0,200}__\w+/.test(text)) this.add('INTROSPECTION', 0.8, callee);
    } else if (name === 'open' && first !== undefined && isWriting(this.names.textOf(first.value)))
      this.add('FILE_WRITE', 0.6, callee);
  }

  /** Code that a call is given: read in its turn, as far as it can be seen. */
  private readInner(meaning: string, node: PythonNode, given: readonly PythonArgument[]): void {
    const isPython = RUNS_PYTHON.has(meaning);
    if (!isPython && !RUNS_SHELL.has(meaning)) return;
    const [first] = given;
    if (first === undefined) return;
    if (this.isDecoded(first.value)) this.add('ENCODED_PAYLOAD', 0.95, node);
    const text = this.names.textOf(first.value);
    if (text === null) return;
    const body = this.bodyOf(first.value, text);
    if (!isPython) {
      this.reader.addAll(shellConstructs(text, body, this.depth + 1));
      return;
    }
    const fault = this.reader.read(meaning.endsWith('eval') ? text.trim() : text, body, this.depth + 1);
    if (fault !== null) this.reader.add('UNPARSEABLE', 0.9, fault, body);
  }

  /** Where the text of an argument stands: exactly, if it is written there letter by letter. */
  private bodyOf(node: PythonNode, text: string): Place {
    const written = this.names.code.slice(node.start, node.end);
    const opening = /^[a-z]*(?:'''|"""|'|")/i.exec(written.slice(0, 6))?.[0] ?? '';
    const isExact = node.name === 'String' && written.startsWith(text, opening.length);
    return isExact
      ? inner(this.place, node.start + opening.length, node.start + opening.length + text.length, true)
      : inner(this.place, node.start, node.end, false);
  }

  /** Whether a value comes from a decoder, in place or through a name. */
  private isDecoded(node: PythonNode): boolean {
    if (isAnyWithin(this.decoders, node)) return true;
    return this.names
      .meaningsOf(node)
      .some((name) => DECODERS.has(/\.?(\w+)\(\)(?:\.decode\(\))?$/.exec(name)?.[1] ?? ''));
  }

  private readString(node: PythonNode): void {
    if (node.end - node.start > 4200) return;
    const text = this.names.textOf(node);
    const known = text === null ? null : sensitivePath(text);
    if (known === null) return;
    this.add('SENSITIVE_FILE', 0.8, node);
    if (known === 'started') this.add('PERSISTENCE', 0.7, node);
  }

  /** `@exec` calls what it names with what stands below. */
  private readDecorator(node: PythonNode): void {
    const path = node.children.filter((child) => child.name === 'VariableName');
    const [first] = path;
    const last = path.at(-1);
    if (first === undefined || last === undefined) return;
    const rest = path.slice(1).map((part) => nameText(part, this.names.code));
    const stretch = { start: first.start, end: last.end };
    for (const meaning of this.names.meaningsOf(first)) {
      const name = [meaning, ...rest].join('.');
      const danger = dangerOf(name);
      this.reader.calls.add(name);
      if (danger !== null && !(rest.length === 0 && this.names.isOwn(first)))
        this.add(danger.kind, danger.confidence, stretch, `${name}: ${CONSTRUCT_KINDS[danger.kind]}`);
    }
    if (isBuiltin(nameText(first, this.names.code)) && rest.length === 0)
      this.reader.builtins.add(nameText(first, this.names.code));
  }
}

// ── calls that are dangerous with some arguments ──────────────────────────────────────────────────────────────

interface Found extends Danger {
  /** Whether the whole call is what is found, not its target. */
  readonly isCall?: boolean;
}

type Condition = (given: readonly PythonArgument[], names: PythonNames) => Found | null;

function named(given: readonly PythonArgument[], name: string, { code }: PythonNames) {
  return given.find((one) => one.name !== null && nameText(one.name, code) === name);
}

function argument(given: readonly PythonArgument[], index: number, name: string, names: PythonNames) {
  const positional = given[index];
  return (
    named(given, name, names) ??
    (positional?.name === null && positional.isUnpacked === null ? positional : undefined)
  );
}

function isWritten({ value }: PythonArgument, text: string, { code }: PythonNames): boolean {
  return value.end - value.start === text.length && code.startsWith(text, value.start);
}

function isWriting(mode: string | null): boolean {
  return mode !== null && mode.length < 8 && /^[a-z+]*[wax+][a-z+]*$/i.test(mode);
}

const openFile: Condition = (given, names) => {
  const mode = argument(given, 1, 'mode', names);
  if (mode === undefined)
    return given.some(({ isUnpacked }) => isUnpacked !== null)
      ? { kind: 'FILE_WRITE', confidence: 0.6 }
      : null;
  const text = names.textOf(mode.value);
  // A mode that is computed may be any.
  return text === null || isWriting(text) ? { kind: 'FILE_WRITE', confidence: 0.7 } : null;
};

const openPath: Condition = (given, names) => {
  const mode = argument(given, 0, 'mode', names);
  return mode !== undefined && isWriting(names.textOf(mode.value))
    ? { kind: 'FILE_WRITE', confidence: 0.7 }
    : null;
};

/** `getattr(x, "name")` is `x.name`, and is read like it. */
const computedMember: Condition = (given) => {
  const name = given[1];
  if (name === undefined)
    return given[0] === undefined ? null : { kind: 'DYNAMIC_ACCESS', confidence: 0.9, isCall: true };
  return name.value.name === 'String' && name.isUnpacked === null
    ? null
    : { kind: 'DYNAMIC_ACCESS', confidence: 0.8, isCall: true };
};

const keyedAccess: Condition = () => ({ kind: 'DYNAMIC_ACCESS', confidence: 0.9, isCall: true });

const loadYaml: Condition = (given, names) => {
  const loader = argument(given, 1, 'Loader', names);
  const meanings = loader === undefined ? [] : names.meaningsOf(loader.value);
  const isSafe = meanings.length > 0 && meanings.every((name) => /(?:^|\.)C?(?:Safe|Base)Loader$/.test(name));
  return isSafe ? null : { kind: 'DESERIALIZATION', confidence: 0.9 };
};

function unlessNamed(option: string, safe: string): Condition {
  return (given, names) => {
    const value = named(given, option, names);
    const isSafe = value !== undefined && isWritten(value, safe, names);
    return isSafe ? null : { kind: 'DESERIALIZATION', confidence: 0.9 };
  };
}

const loadArray: Condition = (given, names) => {
  const value = argument(given, 2, 'allow_pickle', names);
  const isSafe = value === undefined || isWritten(value, 'False', names);
  return isSafe ? null : { kind: 'DESERIALIZATION', confidence: 0.9 };
};

const readVariable: Condition = (given, names) => {
  const [key] = given;
  return key !== undefined && isCredentialName(names.textOf(key.value))
    ? { kind: 'ENVIRONMENT', confidence: 0.7, isCall: true }
    : null;
};

const CONDITIONAL = byWord<Condition>([
  ['open io.open codecs.open builtins.open gzip.open bz2.open lzma.open os.fdopen', openFile],
  ['pathlib.Path().open', openPath],
  ['getattr', computedMember],
  ['vars().get locals().get sys.modules.get', keyedAccess],
  ['yaml.load yaml.load_all', loadYaml],
  ['torch.load', unlessNamed('weights_only', 'True')],
  ['numpy.load np.load', loadArray],
  ['os.getenv os.getenvb', readVariable],
]);
