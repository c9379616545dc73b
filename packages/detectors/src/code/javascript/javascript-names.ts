/** What the names of a JavaScript text stand for: imports, requires, destructuring, assignments, in any order. */
import type {
  CallExpression,
  Identifier,
  ImportDeclaration,
  ImportExpression,
  MemberExpression,
  Pattern,
} from 'acorn';
import { CodeNames, DEEPEST, MOST_MEANINGS } from '../code-names.ts';
import { decodedBase64, decodedHex, joined, reversed } from '../computed-text.ts';
import { LASTING, moduleName } from './javascript-dangers.ts';
import type { JsNode, JsTree } from './javascript-tree.ts';

/** A value, or a member of it. */
interface Source {
  readonly value: JsNode;
  readonly path: string;
}

export class JsNames extends CodeNames<JsNode> {
  readonly imports = new Set<string>();
  /** Identifiers that declare something, and so do not use it. */
  readonly declared = new Set<JsNode>();
  private readonly code: string;
  private readonly assignments: (readonly [Identifier, Source])[] = [];

  constructor(tree: JsTree, code: string) {
    super();
    this.code = code;
    for (const node of tree.nodes) this.bind(node);
    this.follow(
      this.assignments.map(([target, source]) => [target, target.name, () => this.meaningsOfSource(source)]),
    );
  }

  private meaningsOfSource({ value, path }: Source): readonly string[] {
    return this.meaningsOf(value)
      .map((meaning) => `${meaning}${path}`.replace(/\.default(?=\.|$)/g, ''))
      .filter((full) => full.length < 256);
  }

  private bind(node: JsNode): void {
    switch (node.type) {
      case 'ImportDeclaration':
        return this.bindImport(node);
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        if (node.source != null) this.imports.add(moduleName(String(node.source.value)));
        return;
      case 'ImportExpression':
        return this.required(node.source);
      case 'CallExpression':
        if (node.callee.type === 'Identifier' && node.callee.name === 'require')
          this.required(node.arguments[0]);
        return;
      case 'VariableDeclarator':
        return this.pattern(node.id, node.init == null ? null : { value: node.init, path: '' });
      case 'AssignmentExpression':
        if (node.left.type !== 'MemberExpression')
          this.pattern(node.left, { value: node.right, path: '' }, node.operator === '=');
        return;
      case 'ForOfStatement':
      case 'ForInStatement':
        if (node.left.type !== 'VariableDeclaration' && node.left.type !== 'MemberExpression')
          this.pattern(node.left, null);
        return;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        if (node.id != null) this.own(node.id);
        for (const parameter of node.params) this.pattern(parameter, null);
        return;
      case 'ClassDeclaration':
      case 'ClassExpression':
        if (node.id != null) this.own(node.id);
        return;
      case 'CatchClause':
        if (node.param != null) this.pattern(node.param, null);
        return;
      case 'LabeledStatement':
      case 'BreakStatement':
      case 'ContinueStatement':
        if (node.label != null) this.declared.add(node.label);
        return;
      default:
        return;
    }
  }

  private bindImport({ source, specifiers }: ImportDeclaration): void {
    const module = moduleName(String(source.value));
    this.imports.add(module);
    for (const specifier of specifiers) {
      this.declared.add(specifier.local);
      let member = 'default';
      if (specifier.type === 'ImportSpecifier') {
        const { imported } = specifier;
        this.declared.add(imported);
        member = imported.type === 'Identifier' ? imported.name : String(imported.value);
      }
      this.mean(specifier.local.name, member === 'default' ? module : `${module}.${member}`);
    }
  }

  private own(id: Identifier): void {
    this.declared.add(id);
    this.bound.add(id.name);
  }

  private required(node: JsNode | undefined): void {
    const text = node === undefined ? null : this.textOf(node);
    if (text !== null && text.length < 300) this.imports.add(moduleName(text));
  }

  /** Iterates: patterns can be nested as deep as the parser allows. */
  private pattern(first: Pattern, from: Source | null, isWhole = true): void {
    const open: { readonly target: Pattern; readonly source: Source | null }[] = [
      { target: first, source: from },
    ];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { target, source } = next;
      switch (target.type) {
        case 'Identifier':
          this.own(target);
          if (source === null) this.constants.set(target.name, null);
          else {
            this.assignments.push([target, source]);
            const isOnly = !this.constants.has(target.name) && source.path === '' && isWhole;
            this.constants.set(target.name, isOnly ? source.value : null);
          }
          break;
        case 'ObjectPattern':
          for (const property of target.properties) {
            if (property.type === 'RestElement') {
              open.push({ target: property.argument, source });
              continue;
            }
            const key = this.keyOf(property.key, property.computed);
            const isDeep = source !== null && source.path.length > 120;
            const path = key === null || source === null || isDeep ? null : `${source.path}.${key}`;
            open.push({
              target: property.value,
              source: source === null || path === null ? null : { value: source.value, path },
            });
          }
          break;
        case 'ArrayPattern':
          for (const [index, element] of target.elements.entries()) {
            if (element == null) continue;
            const values =
              source?.path === '' && source.value.type === 'ArrayExpression' ? source.value.elements : [];
            const value = values[index] ?? null;
            open.push({ target: element, source: value === null ? source : { value, path: '' } });
          }
          break;
        case 'RestElement':
          open.push({ target: target.argument, source });
          break;
        case 'AssignmentPattern':
          open.push({ target: target.left, source: { value: target.right, path: '' } });
          if (source !== null) open.push({ target: target.left, source });
          break;
        case 'MemberExpression':
          break;
        default:
          target satisfies never;
      }
    }
  }

  isBound(name: string): boolean {
    return this.bound.has(name) || this.meanings.has(name);
  }

  /** The name of a member: written, or computed from constants; null: computed. */
  keyOf(key: JsNode, isComputed: boolean): string | null {
    if (!isComputed && key.type === 'Identifier') return key.name;
    if (!isComputed && key.type === 'PrivateIdentifier') return `#${key.name}`;
    return this.textOf(key);
  }

  /** Full names that an expression can stand for. */
  meaningsOf(node: JsNode, depth = 0): readonly string[] {
    if (depth > DEEPEST) return [];
    const inner = (child: JsNode) => this.meaningsOf(child, depth + 1);
    switch (node.type) {
      case 'Identifier':
        return this.meaningsOfName(node.name);
      case 'ThisExpression':
        return ['this'];
      case 'ChainExpression':
      case 'ParenthesizedExpression':
        return inner(node.expression);
      case 'AwaitExpression':
        return inner(node.argument);
      case 'AssignmentExpression':
        return inner(node.right);
      case 'SequenceExpression': {
        const last = node.expressions.at(-1);
        return last === undefined ? [] : inner(last);
      }
      case 'ConditionalExpression':
        return [...inner(node.consequent), ...inner(node.alternate)].slice(0, MOST_MEANINGS);
      case 'LogicalExpression':
        return [...inner(node.left), ...inner(node.right)].slice(0, MOST_MEANINGS);
      case 'MemberExpression':
        return this.meaningsOfMember(node, depth);
      case 'CallExpression':
        return this.meaningsOfCall(node, depth);
      case 'NewExpression':
        return inner(node.callee).flatMap((name) => (name.length < 200 ? [`${name}()`] : []));
      case 'ImportExpression':
        return this.moduleOf(node);
      case 'MetaProperty':
        return [`${node.meta.name}.${node.property.name}`];
      default:
        return [];
    }
  }

  private meaningsOfName(name: string): readonly string[] {
    const known = this.meanings.get(name);
    if (known !== undefined) return LASTING.has(name) && !known.has(name) ? [...known, name] : [...known];
    return this.bound.has(name) && !LASTING.has(name) ? [] : [name];
  }

  private meaningsOfMember(node: MemberExpression, depth: number): readonly string[] {
    const key = this.keyOf(node.property, node.computed);
    if (key === null || key.length > 128) return [];
    return this.meaningsOf(node.object, depth + 1).flatMap((base) => {
      // The global object's members are their own names.
      if (GLOBALS.has(base)) return this.isBound(key) && !LASTING.has(key) ? [key] : this.meaningsOfName(key);
      if (key === 'default') return [base];
      // `fs.promises` has the functions of `fs`.
      if (base === 'fs' && key === 'promises') return ['fs'];
      return base.length < 200 ? [`${base}.${key}`] : [];
    });
  }

  private meaningsOfCall(node: CallExpression, depth: number): readonly string[] {
    const [first] = node.arguments;
    return this.meaningsOf(node.callee, depth + 1).flatMap((name) => {
      if (REQUIRES.has(name)) {
        const text = first === undefined ? null : this.textOf(first);
        return text === null || text.length > 200 ? [] : [moduleName(text)];
      }
      if (name === 'module.createRequire') return ['require'];
      if (name.endsWith('.bind') && name.length < 200) return [name.slice(0, -'.bind'.length)];
      // `promisify(exec)` is `exec` to anyone who calls it.
      if (/(?:^|\.)promisify$/.test(name) && first !== undefined) return this.meaningsOf(first, depth + 1);
      return name.length < 200 ? [`${name}()`] : [];
    });
  }

  private moduleOf(node: ImportExpression): readonly string[] {
    const text = this.textOf(node.source);
    return text === null || text.length > 200 ? [] : [moduleName(text)];
  }

  /** The text that an expression comes to; null: only by running it. */
  textOf(node: JsNode, depth = 0): string | null {
    if (depth > 48) return null;
    const fold = (child: JsNode | null | undefined) => (child == null ? null : this.textOf(child, depth + 1));
    switch (node.type) {
      case 'Literal':
        return typeof node.value === 'string'
          ? node.value
          : typeof node.value === 'number'
            ? String(node.value)
            : null;
      case 'TemplateLiteral': {
        const parts = node.quasis.flatMap((quasi, index) => {
          const text = quasi.value.cooked ?? null;
          const expression = node.expressions[index];
          return expression === undefined ? [text] : [text, fold(expression)];
        });
        return joined(parts, '');
      }
      case 'BinaryExpression':
        return node.operator === '+' ? joined([fold(node.left), fold(node.right)], '') : null;
      case 'Identifier':
        return fold(this.constants.get(node.name));
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        return fold(node.expression);
      case 'AssignmentExpression':
        return fold(node.right);
      case 'CallExpression':
        return this.callText(node, fold);
      default:
        return null;
    }
  }

  private callText(
    node: CallExpression,
    fold: (child: JsNode | null | undefined) => string | null,
  ): string | null {
    const { callee } = node;
    const [first, second] = node.arguments;
    const name =
      callee.type === 'Identifier'
        ? callee.name
        : callee.type === 'MemberExpression' && !callee.computed && callee.property.type === 'Identifier'
          ? callee.property.name
          : '';
    const base = callee.type === 'MemberExpression' ? callee.object : undefined;
    switch (name) {
      case 'atob':
        return decodedBase64(fold(first));
      case 'unescape':
      case 'decodeURIComponent':
      case 'decodeURI':
        return decodedPercent(fold(first));
      case 'fromCharCode':
      case 'fromCodePoint': {
        const points = node.arguments
          .slice(0, 10_000)
          .map((one) => (one.type === 'Literal' ? Number(one.value) : -1));
        const isKnown = points.length === node.arguments.length;
        return isKnown && points.every((point) => point >= 0 && point <= 0x10ffff)
          ? String.fromCodePoint(...points)
          : null;
      }
      case 'concat':
        return joined([fold(base), ...node.arguments.map(fold)], '');
      case 'join': {
        if (base?.type !== 'ArrayExpression') return reversedText(base, fold);
        const between = first === undefined ? ',' : fold(first);
        return between === null ? null : joined(base.elements.map(fold), between);
      }
      case 'toString': {
        if (base?.type !== 'CallExpression' || base.callee.type !== 'MemberExpression') return null;
        const [bytes, encoding] = base.arguments;
        const isBuffer =
          this.code.slice(base.callee.start, Math.min(base.callee.end, base.callee.start + 16)) ===
          'Buffer.from';
        if (!isBuffer || bytes === undefined) return null;
        const form = encoding === undefined ? 'utf8' : (fold(encoding) ?? '');
        if (form.startsWith('base64')) return decodedBase64(fold(bytes));
        return form === 'hex' ? decodedHex(fold(bytes)) : form === 'utf8' ? fold(bytes) : null;
      }
      case 'trim':
        return fold(base)?.trim() ?? null;
      case 'toLowerCase':
        return fold(base)?.toLowerCase() ?? null;
      case 'replace':
      case 'replaceAll': {
        const [text, what, by] = [fold(base), fold(first), fold(second)];
        if (text === null || !what || by === null || by.length > what.length) return null;
        return name === 'replace' ? text.replace(what, () => by) : text.replaceAll(what, () => by);
      }
      default:
        return null;
    }
  }
}

const GLOBALS: ReadonlySet<string> = new Set(['globalThis', 'global', 'window', 'self', 'top', 'frames']);
const REQUIRES: ReadonlySet<string> = new Set([
  ...['require', 'module.require', 'process.mainModule.require', 'process.getBuiltinModule', 'module._load'],
  ...['require.main.require'],
]);

/** `"x".split("").reverse().join("")` */
function reversedText(
  base: JsNode | undefined,
  fold: (child: JsNode | null | undefined) => string | null,
): string | null {
  if (base?.type !== 'CallExpression' || base.callee.type !== 'MemberExpression') return null;
  const { property, object } = base.callee;
  if (property.type !== 'Identifier' || property.name !== 'reverse' || object.type !== 'CallExpression')
    return null;
  if (object.callee.type !== 'MemberExpression') return null;
  return reversed(fold(object.callee.object));
}

function decodedPercent(text: string | null): string | null {
  return (
    text?.replace(
      /%u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})/g,
      (_, unit: string | undefined, byte: string | undefined) =>
        String.fromCharCode(Number.parseInt(unit ?? byte ?? '0', 16)),
    ) ?? null
  );
}
