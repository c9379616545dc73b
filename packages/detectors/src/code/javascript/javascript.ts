/**
 * JavaScript code, as a module or as a script: what it imports and calls, and the constructs that reach further than
 * the text shows. TypeScript and JSX do not parse, and what does not parse is unsafe. Nothing is run.
 */
import type { CallExpression, MemberExpression, NewExpression } from 'acorn';
import { wordSet } from '../../text/words.ts';
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
import { fencesOf } from '../fences.ts';
import { isCredentialName, sensitivePath } from '../sensitive-path.ts';
import { shellConstructs } from '../shell/shell.ts';
import { ENVIRONMENT, JS_DECODERS, jsDangerOf, NAMESPACES, POWERFUL, TELLING } from './javascript-dangers.ts';
import { JsNames } from './javascript-names.ts';
import { type JsNode, type JsTree, parseJavascript } from './javascript-tree.ts';

export interface JavascriptCode {
  /** Modules, without `node:`. */
  readonly imports: readonly string[];
  /** Call targets as they are written, and by their full names where these are known. */
  readonly functionCalls: readonly string[];
  readonly syntaxError: string | null;
  readonly constructs: readonly Construct[];
}

/** Reads a text as JavaScript, and what is in Markdown fences in it. Never throws. */
export function javascriptCode(text: string): JavascriptCode {
  const reader = new JsReader();
  const whole = reader.isRead(text, AT_THE_START, 0);
  const fences = text.length > LONGEST_CODE ? [] : fencesOf(text, 'javascript');
  let error: string | null = fences.length === 0 ? (whole?.message ?? null) : null;
  if (fences.length === 0 && whole !== null) reader.add('UNPARSEABLE', 1, whole, AT_THE_START);
  // Prose with fences can be JavaScript, too: a label and templates. So both are read.
  for (const { start, end } of fences) {
    const place: Place = { kind: 'at', offset: start };
    const fault = reader.isRead(text.slice(start, end), place, 0);
    if (fault === null || whole === null) continue;
    error ??= fault.message;
    reader.add('UNPARSEABLE', 1, fault, place);
  }
  return reader.result(error);
}

class JsReader extends ConstructReader {
  private readonly imports = new Set<string>();
  readonly calls = new Set<string>();

  result(syntaxError: string | null): JavascriptCode {
    return {
      imports: [...this.imports].sort(),
      functionCalls: [...this.calls].sort(),
      syntaxError,
      constructs: this.constructs(),
    };
  }

  /** Reads one text that is code as a whole; what keeps it from being so, else null. */
  isRead(text: string, place: Place, depth: number): Unparseable | null {
    const tooMuch = unreadable(text, depth);
    if (tooMuch !== null) return tooMuch;
    const parsed = parseJavascript(text);
    if (parsed.kind === 'error') return unparseableFrom(parsed.at, text, parsed.message);
    const names = new JsNames(parsed, text);
    for (const module of names.imports) this.imports.add(module);
    new JsText(this, parsed, names, text, place, depth).read();
    return null;
  }
}

const RUNS_CODE = wordSet(`
  eval Function execScript vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script
`);
const RUNS_SHELL = wordSet(`
  child_process.exec child_process.execSync shelljs.exec execa.command execa.commandSync execa.execaCommand
  Deno.run Bun.$ zx.$
`);

/** One parsed text. */
class JsText extends CodeText<JsReader> {
  private readonly tree: JsTree;
  private readonly names: JsNames;
  private readonly code: string;
  private readonly decoders: readonly number[];

  constructor(reader: JsReader, tree: JsTree, names: JsNames, code: string, place: Place, depth: number) {
    super(reader, place, depth);
    this.tree = tree;
    this.names = names;
    this.code = code;
    this.decoders = tree.nodes
      .filter((node) =>
        node.type === 'Literal'
          ? node.value === 'base64' || node.value === 'hex'
          : node.type === 'Identifier' && JS_DECODERS.has(node.name),
      )
      .map(({ start }) => start)
      .sort((a, b) => a - b);
  }

  read(): void {
    for (const node of this.tree.nodes) this.readNode(node);
    for (const node of this.names.unfollowed)
      this.add('DYNAMIC_ACCESS', 0.9, node, 'a name with more meanings than are followed');
  }

  private readNode(node: JsNode): void {
    switch (node.type) {
      case 'Identifier':
        return this.readName(node);
      case 'MemberExpression':
        return this.readMember(node);
      case 'CallExpression':
      case 'NewExpression':
        return this.readCall(node);
      case 'ImportExpression':
        return this.readImport(node, node.source);
      case 'ImportDeclaration':
        return this.readSpecifier(node, String(node.source.value));
      case 'TaggedTemplateExpression':
        return this.readTag(node);
      case 'AssignmentExpression':
        return this.readAssignment(node.left, node);
      case 'WithStatement':
        return this.add('DYNAMIC_ACCESS', 0.8, { start: node.start, end: node.object.end });
      case 'Literal':
        return this.readText(node, typeof node.value === 'string' ? node.value : null);
      case 'TemplateLiteral':
        if (node.expressions.length === 0) this.readText(node, node.quasis[0]?.value.cooked ?? null);
        return;
      default:
        return;
    }
  }

  private readText(node: JsNode, text: string | null): void {
    if (text !== null && sensitivePath(text) !== null) this.add('SENSITIVE_FILE', 0.8, node);
  }

  /** Whether an identifier uses a name, and is not the key of something. */
  private isUse(node: JsNode): boolean {
    if (this.names.declared.has(node)) return false;
    const parent = this.tree.parents.get(node);
    if (parent === undefined) return true;
    if (parent.type === 'MemberExpression') return parent.object === node || parent.computed;
    if (parent.type === 'Property') return parent.value === node || parent.computed;
    if (parent.type === 'MethodDefinition' || parent.type === 'PropertyDefinition')
      return parent.value === node || parent.computed;
    if (parent.type === 'UnaryExpression') return parent.operator !== 'typeof';
    if (parent.type === 'BinaryExpression') return parent.operator !== 'instanceof';
    return parent.type !== 'MetaProperty' && parent.type !== 'ExportSpecifier';
  }

  private readName(node: JsNode): void {
    if (node.type !== 'Identifier' || !this.isUse(node)) return;
    const parent = this.tree.parents.get(node);
    const isBase = parent?.type === 'MemberExpression' && parent.object === node;
    // `axios.post` says more than `axios`.
    const isSaidBelow =
      isBase && this.names.meaningsOf(parent).some((meaning) => jsDangerOf(meaning) !== null);
    for (const meaning of this.names.meaningsOf(node)) {
      if (!isSaidBelow) this.mention(meaning, node);
      if (!isBase && POWERFUL.has(meaning) && this.isHandedOn(node, meaning, parent))
        this.add('DYNAMIC_ACCESS', 0.7, node, 'an object of the system, handed on as a value');
    }
  }

  private isHandedOn(node: JsNode, meaning: string, parent: JsNode | undefined): boolean {
    if (parent === undefined || this.names.isBound(meaning)) return false;
    if (parent.type === 'VariableDeclarator' || parent.type === 'ExpressionStatement') return false;
    if (parent.type === 'AssignmentExpression')
      return parent.left.type === 'MemberExpression' && parent.right === node;
    return !['BinaryExpression', 'LogicalExpression', 'IfStatement', 'AwaitExpression'].includes(parent.type);
  }

  private readMember(node: MemberExpression): void {
    const key = this.names.keyOf(node.property, node.computed);
    const bases = this.names.meaningsOf(node.object);
    const isWritten = !node.computed || node.property.type === 'Literal';
    for (const meaning of this.names.meaningsOf(node)) this.mention(meaning, node);
    if (!isWritten && bases.some((base) => NAMESPACES.has(base))) this.add('DYNAMIC_ACCESS', 0.85, node);
    if (key === null) return;
    if (key === '__proto__' || key === '__defineGetter__' || key === '__lookupGetter__' || key === 'caller')
      this.add('INTROSPECTION', 0.8, node);
    if (key === 'constructor') this.readConstructor(node);
    const parent = this.tree.parents.get(node);
    const isCalled = parent?.type === 'CallExpression' && parent.callee === node;
    const telling = isCalled ? TELLING.get(key) : undefined;
    if (telling !== undefined && bases.every((base) => jsDangerOf(`${base}.${key}`) === null))
      this.add(telling.kind, telling.confidence, node);
  }

  /** `x.constructor.constructor("…")` and `(() => {}).constructor("…")` make functions of texts. */
  private readConstructor(node: MemberExpression): void {
    const parent = this.tree.parents.get(node);
    const isCalled =
      (parent?.type === 'CallExpression' || parent?.type === 'NewExpression') && parent.callee === node;
    const isTwice =
      parent?.type === 'MemberExpression' &&
      parent.object === node &&
      this.names.keyOf(parent.property, parent.computed) === 'constructor';
    const isOfFunction =
      node.object.type === 'FunctionExpression' ||
      node.object.type === 'ArrowFunctionExpression' ||
      node.object.type === 'CallExpression';
    if (isTwice) this.add('DYNAMIC_CODE', 0.95, parent);
    else if (isCalled && parent.type === 'CallExpression') this.add('DYNAMIC_CODE', 0.9, node);
    else if (isOfFunction) this.add('INTROSPECTION', 0.7, node);
  }

  private mention(meaning: string, node: JsNode): void {
    const danger = jsDangerOf(meaning);
    if (danger !== null)
      this.add(danger.kind, danger.confidence, node, `${meaning}: ${CONSTRUCT_KINDS[danger.kind]}`);
    if (meaning === ENVIRONMENT && this.isCredential(node)) this.add('ENVIRONMENT', 0.7, node);
  }

  /** All variables, or one that holds a credential; not that of the home folder. */
  private isCredential(node: JsNode): boolean {
    const parent = this.tree.parents.get(node);
    if (parent?.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern')
      return parent.id.properties.some(
        (one) => one.type === 'RestElement' || isCredentialName(this.names.keyOf(one.key, one.computed)),
      );
    if (parent?.type !== 'MemberExpression' || parent.object !== node)
      return parent?.type !== 'AssignmentExpression';
    return isCredentialName(this.names.keyOf(parent.property, parent.computed));
  }

  private readCall(node: CallExpression | NewExpression): void {
    const { callee } = node;
    const [first] = node.arguments;
    const written = callee.end - callee.start <= 200 ? this.code.slice(callee.start, callee.end) : '';
    if (/^[\w$.#]+$/.test(written)) this.reader.calls.add(written);
    for (const meaning of callee.type === 'Super' ? [] : this.names.meaningsOf(callee)) {
      if (/^[\w$./-]+$/.test(meaning)) this.reader.calls.add(meaning);
      if (meaning === 'require' || meaning.endsWith('.require') || meaning === 'process.getBuiltinModule')
        this.readImport(node, first);
      else if (TIMERS.has(meaning) && first !== undefined && isTextual(first))
        this.add('DYNAMIC_CODE', 0.85, callee);
      else if (meaning === 'worker_threads.Worker' || meaning === 'Worker') this.readWorker(node);
      else if (/^fs\.(?:rm|rmSync|rmdir|rmdirSync)$/.test(meaning) && this.hasOption(node, 'recursive'))
        this.add('DESTRUCTIVE', 0.9, callee);
      else if (/^fs\.open(?:Sync)?$/.test(meaning)) {
        const mode = node.arguments[1];
        const text = mode === undefined ? 'r' : this.names.textOf(mode);
        if (text === null || /[wa+]/.test(text)) this.add('FILE_WRITE', 0.7, callee);
      }
      if (RUNS_CODE.has(meaning)) this.readInner(meaning, node);
      if (RUNS_SHELL.has(meaning) && first !== undefined) this.readShell(node, first);
    }
  }

  private hasOption(node: CallExpression | NewExpression, option: string): boolean {
    return node.arguments.some(
      (argument) =>
        argument.type === 'ObjectExpression' &&
        argument.properties.some(
          (property) =>
            property.type === 'Property' &&
            this.names.keyOf(property.key, property.computed) === option &&
            !(property.value.type === 'Literal' && property.value.value === false),
        ),
    );
  }

  private readWorker(node: CallExpression | NewExpression): void {
    const [first] = node.arguments;
    const text = first === undefined ? null : this.names.textOf(first);
    if (this.hasOption(node, 'eval') || text?.startsWith('data:')) this.add('DYNAMIC_CODE', 0.9, node.callee);
  }

  /** A module by a name that is a value, or by an address. */
  private readImport(node: JsNode, source: JsNode | undefined): void {
    if (source === undefined) return;
    const text = this.names.textOf(source);
    const isWritten =
      source.type === 'Literal' || (source.type === 'TemplateLiteral' && source.expressions.length === 0);
    if (!isWritten) this.add('DYNAMIC_IMPORT', 0.85, node);
    if (text !== null) this.readSpecifier(node, text);
  }

  private readSpecifier(node: JsNode, specifier: string): void {
    if (/^(?:data|blob):/.test(specifier)) this.add('DYNAMIC_CODE', 0.9, node);
    else if (/^https?:/.test(specifier)) this.add('DOWNLOAD_AND_RUN', 0.85, node);
    else if (/\.node$/.test(specifier)) this.add('NATIVE_CODE', 0.9, node);
  }

  private readTag(node: Extract<JsNode, { type: 'TaggedTemplateExpression' }>): void {
    for (const meaning of this.names.meaningsOf(node.tag))
      if (RUNS_SHELL.has(meaning)) this.readShell(node, node.quasi);
  }

  private readAssignment(left: JsNode, node: JsNode): void {
    if (left.type !== 'MemberExpression') return;
    const key = this.names.keyOf(left.property, left.computed);
    if (key === 'innerHTML' || key === 'outerHTML' || key === 'srcdoc')
      this.add('DYNAMIC_CODE', 0.5, { start: left.start, end: left.end });
    if (
      key === 'prototype' ||
      /^(?:Object|Array|Function)\.prototype$/.test(
        this.code.slice(left.object.start, Math.min(left.object.end, left.object.start + 24)),
      )
    )
      this.add('INTROSPECTION', 0.6, { start: left.start, end: Math.min(left.end, node.end) });
  }

  private readShell(node: JsNode, command: JsNode): void {
    if (this.isDecoded(command)) this.add('ENCODED_PAYLOAD', 0.95, node);
    const text = this.names.textOf(command);
    if (text === null) return;
    this.reader.addAll(shellConstructs(text, this.bodyOf(command, text), this.depth + 1));
  }

  /** The code that a call is given, read in its turn as far as it can be seen. */
  private readInner(meaning: string, node: CallExpression | NewExpression): void {
    const last = meaning === 'Function' ? node.arguments.at(-1) : node.arguments[0];
    if (last === undefined) return;
    if (this.isDecoded(last)) this.add('ENCODED_PAYLOAD', 0.95, node);
    const text = this.names.textOf(last);
    if (text === null) return;
    const body = this.bodyOf(last, text);
    const fault = this.reader.isRead(text, body, this.depth + 1);
    if (fault !== null) this.reader.add('UNPARSEABLE', 0.9, fault, body);
  }

  private bodyOf(node: JsNode, text: string): Place {
    const isExact =
      (node.type === 'Literal' || node.type === 'TemplateLiteral') &&
      node.end - node.start === text.length + 2 &&
      this.code.startsWith(text, node.start + 1);
    return isExact
      ? inner(this.place, node.start + 1, node.end - 1, true)
      : inner(this.place, node.start, node.end, false);
  }

  private isDecoded(node: JsNode): boolean {
    if (isAnyWithin(this.decoders, node)) return true;
    return this.names
      .meaningsOf(node)
      .some((name) => /^(?:atob|unescape|decodeURIComponent)\(\)$|^Buffer\.from\(\)/.test(name));
  }
}

const TIMERS = wordSet('setTimeout setInterval setImmediate');

/** What can only be a text. */
function isTextual(node: JsNode): boolean {
  if (node.type === 'Literal') return typeof node.value === 'string';
  return node.type === 'TemplateLiteral' || (node.type === 'BinaryExpression' && node.operator === '+');
}
