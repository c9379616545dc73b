/** What the names of a Python text stand for: imports and their aliases, and what is assigned to what, in any order. */

import { wordSet } from '../../text/words.ts';
import { CodeNames, DEEPEST, MOST_MEANINGS } from '../code-names.ts';
import { isKnownWithoutImport } from './python-dangers.ts';
import { constantText, nameText } from './python-text.ts';
import { argumentsOf, type PythonNode } from './python-tree.ts';

/** A name and what it is given. */
type Assignment = readonly [name: PythonNode, value: PythonNode];

export class PythonNames extends CodeNames<PythonNode> {
  readonly code: string;
  /** Module names as imports write them; null: `from . import x`. */
  readonly imports = new Set<string | null>();
  private readonly starred = new Set<string>();
  /** Names of functions and classes at the margin, which hide a built-in of the same name. */
  private readonly defined = new Set<string>();
  private readonly parameters = new Map<PythonNode, Set<string>>();
  private readonly assignments: Assignment[] = [];
  /** Nodes that are the name of something, not a use of it. */
  readonly names = new Set<PythonNode>();

  constructor(nodes: readonly PythonNode[], code: string) {
    super();
    this.code = code;
    for (const node of nodes) this.bind(node);
    this.follow(
      this.assignments.map(([name, value]) => [name, nameText(name, code), () => this.meaningsOf(value)]),
    );
  }

  private bind(node: PythonNode): void {
    switch (node.name) {
      case 'ImportStatement':
        return this.bindImport(node);
      case 'FunctionDefinition':
      case 'ClassDefinition':
        return this.bindDefinition(node);
      case 'ParamList':
        return this.bindParameters(node);
      case 'AssignStatement':
        return this.bindAssignment(node);
      case 'NamedExpression':
        return this.assign(node.children[0], node.children[2]);
      case 'ArgList':
        for (const { name } of argumentsOf(node)) if (name !== null) this.names.add(name);
        return;
      case 'ForStatement':
      case 'WithStatement':
      case 'for':
        return this.bindTargets(node);
      case 'DeleteStatement':
        // What is deleted no longer hides anything.
        for (const child of node.children)
          if (child.name === 'VariableName') this.defined.delete(nameText(child, this.code));
        return;
      default:
        return;
    }
  }

  private bindDefinition(node: PythonNode): void {
    const name = node.children.find((child) => child.name === 'VariableName');
    if (name === undefined) return;
    this.bindName(name);
    const statement = node.parent?.name === 'DecoratedStatement' ? node.parent : node;
    if (statement.parent?.name === 'Script') this.defined.add(nameText(name, this.code));
  }

  /** The text of a name that something is bound to. */
  private bindName(node: PythonNode): string {
    const name = nameText(node, this.code);
    this.names.add(node);
    this.bound.add(name);
    return name;
  }

  private bindImport(node: PythonNode): void {
    let module: string | null = null;
    let isFrom = false;
    let dots = 0;
    let path: string[] = [];
    let alias: string | null = null;
    let state: 'module' | 'names' | 'alias' = 'names';
    const finish = () => {
      if (path.length === 0) return;
      const name = path.join('.');
      const [first = name] = path;
      if (isFrom) this.mean(alias ?? name, module === null ? name : `${module}.${name}`);
      else {
        this.imports.add(name);
        this.mean(alias ?? first, alias === null ? first : name);
      }
      path = [];
      alias = null;
    };
    for (const child of node.children) {
      if (child.name === 'VariableName') {
        this.names.add(child);
        const text = nameText(child, this.code);
        if (state === 'alias') alias = text;
        else path.push(text);
      } else if (child.name === 'from') {
        isFrom = true;
        state = 'module';
      } else if (child.name === '.' && state === 'module' && path.length === 0) dots++;
      else if (child.name === '...') dots += 3;
      else if (child.name === 'import') {
        if (isFrom) {
          this.imports.add(path.length === 0 ? null : path.join('.'));
          module = dots > 0 ? null : path.join('.');
          path = [];
        }
        state = 'names';
      } else if (child.name === 'as') state = 'alias';
      else if (child.name === '*' && module !== null) this.starred.add(module);
      else if (child.name === ',') {
        finish();
        state = 'names';
      }
    }
    finish();
  }

  private bindParameters(list: PythonNode): void {
    const owner = list.parent;
    const own = new Set<string>();
    let name: PythonNode | null = null;
    let isDefault = false;
    for (const child of list.children) {
      if (child.name === ',') name = null;
      else if (child.name === 'AssignOp') isDefault = true;
      else if (child.name === 'VariableName' && name === null) {
        name = child;
        isDefault = false;
        own.add(this.bindName(child));
      } else if (isDefault && name !== null) {
        this.assignments.push([name, child]);
        isDefault = false;
      }
    }
    if (owner !== null) this.parameters.set(owner, own);
  }

  /** `a = b = x`, `a, b = x, y`, `a: int = x` */
  private bindAssignment(node: PythonNode): void {
    const sides: PythonNode[][] = [[]];
    for (const child of node.children) {
      if (child.name === 'AssignOp') sides.push([]);
      else if (child.name !== ',' && child.name !== 'TypeDef') sides.at(-1)?.push(child);
    }
    const values = sides.length > 1 ? (sides.pop() ?? []) : [];
    for (const targets of sides) {
      const [only] = targets;
      if (targets.length === 1 && values.length === 1) this.assign(only, values[0]);
      else if (targets.length === values.length)
        for (const [index, target] of targets.entries()) this.assign(target, values[index]);
      else for (const target of targets) this.assign(target, values[0]);
    }
  }

  private assign(target: PythonNode | undefined, value: PythonNode | undefined): void {
    if (target === undefined || value === undefined) return;
    if (target.name === 'VariableName') {
      const name = this.bindName(target);
      this.constants.set(name, this.constants.has(name) ? null : value);
      this.assignments.push([target, value]);
      return;
    }
    if (!['TupleExpression', 'ArrayExpression', 'ParenthesizedExpression'].includes(target.name)) return;
    const values = ['TupleExpression', 'ArrayExpression'].includes(value.name) ? itemsOf(value) : [];
    // Nested patterns deeper than this bind names to values that are followed no further.
    for (const [index, item] of itemsOf(target).entries())
      if (item.name === 'VariableName') this.assign(item, values[index] ?? value);
  }

  /** Targets of `for … in` and `as`: what they hold is what they are taken from, as far as anybody can say. */
  private bindTargets(node: PythonNode): void {
    const isComprehension = node.name === 'for';
    if (isComprehension && node.parent?.name === 'ForStatement') return;
    const siblings = isComprehension ? (node.parent?.children ?? []) : node.children;
    const isWith = node.name === 'WithStatement';
    const targets: PythonNode[] = [];
    let value: PythonNode | null = null;
    let isTarget = !isWith;
    for (let index = isComprehension ? node.index + 1 : 1; index < siblings.length; index++) {
      const child = siblings[index];
      if (child === undefined || child.name === 'Body') return;
      if (child.name === 'in' || child.name === 'as') isTarget = child.name === 'as';
      else if (child.name === ',') isTarget = !isWith;
      else if (isTarget && isWith) this.assign(child, value ?? undefined);
      else if (isTarget) targets.push(child);
      else {
        value = child;
        for (const target of targets) this.assign(target, child);
        if (!isWith) return;
      }
    }
  }

  /** The value of a name that is assigned once. */
  readonly constantOf = (name: string): PythonNode | null => this.constants.get(name) ?? null;

  /** The text that an expression comes to; null: only by running it. */
  textOf(node: PythonNode): string | null {
    return constantText(node, this.code, this.constantOf);
  }

  /** Whether a use of a name is that of a parameter around it, or of a definition that is always made. */
  isOwn(node: PythonNode): boolean {
    const name = nameText(node, this.code);
    if (this.defined.has(name) && !this.meanings.has(name)) return true;
    // Few functions stand inside of each other; deeper ones are taken for what they could hide.
    let scope = node.scope;
    for (let depth = 0; scope !== null && depth < DEEPEST; depth++) {
      const isInside = node.start >= (scope.children.at(-1)?.start ?? 0);
      if (isInside && this.parameters.get(scope)?.has(name)) return !this.meanings.has(name);
      scope = scope.scope;
    }
    return false;
  }

  /** Full names that an expression can stand for: `os.system`, `open()`, `pathlib.Path().unlink`. */
  meaningsOf(node: PythonNode, depth = 0): readonly string[] {
    if (depth > DEEPEST) return [];
    switch (node.name) {
      case 'VariableName':
        return this.meaningsOfName(nameText(node, this.code));
      case 'ParenthesizedExpression':
      case 'AwaitExpression':
        return this.inner(node.children[1], depth);
      case 'NamedExpression':
        return this.inner(node.children[2], depth);
      case 'MemberExpression':
        return this.meaningsOfMember(node, depth);
      case 'CallExpression':
        return this.meaningsOfCall(node, depth);
      case 'ConditionalExpression':
        return [...this.inner(node.children[0], depth), ...this.inner(node.children[4], depth)];
      case 'ArrayExpression':
      case 'TupleExpression':
      case 'SetExpression':
        // Code that takes something out of a list may take any of them.
        return node.children
          .slice(0, 2 * MOST_MEANINGS)
          .flatMap((child) => this.meaningsOf(child, depth + 1))
          .slice(0, MOST_MEANINGS);
      case 'BinaryExpression': {
        const [left, operator, right] = node.children;
        const sign = operator === undefined ? '' : this.code.slice(operator.start, operator.end);
        if (sign === 'or' || sign === 'and')
          return [...this.inner(left, depth), ...this.inner(right, depth)].slice(0, MOST_MEANINGS);
        // `folder / "name"` is a path as the folder is.
        return sign === '/' ? this.inner(left, depth).filter((name) => name === 'pathlib.Path()') : [];
      }
      default:
        return [];
    }
  }

  private inner(node: PythonNode | undefined, depth: number): readonly string[] {
    return node === undefined ? [] : this.meaningsOf(node, depth + 1);
  }

  private meaningsOfName(name: string): readonly string[] {
    const known = this.meanings.get(name);
    if (known !== undefined)
      return isKnownWithoutImport(name) && !known.has(name) ? [...known, name] : [...known];
    if (this.bound.has(name) && !isKnownWithoutImport(name) && !LASTING.has(name)) return [];
    if (this.starred.size === 0) return [name];
    return [name, ...[...this.starred].slice(0, MOST_MEANINGS).map((module) => `${module}.${name}`)];
  }

  private meaningsOfMember(node: PythonNode, depth: number): readonly string[] {
    const [base, sign, member] = node.children;
    if (base === undefined || member === undefined) return [];
    const bases = this.inner(base, depth);
    if (sign?.name === '.') {
      const name = nameText(member, this.code);
      return bases.map((meaning) => `${meaning}.${name}`).filter((meaning) => meaning.length < 256);
    }
    return this.looked(bases, this.textOf(member));
  }

  /** `globals()["x"]`, `os.__dict__["x"]`, `vars(os)["x"]`, `sys.modules["x"]` */
  private looked(bases: readonly string[], key: string | null): readonly string[] {
    if (key === null || key.length > 128) return [];
    return bases.flatMap((base) => {
      if (base === 'sys.modules') return [key];
      if (/^(?:builtins\.)?(?:globals|locals|vars)\(\)$/.test(base)) return this.meaningsOfName(key);
      if (base === '__builtins__') return [key];
      if (base.endsWith('.__dict__')) return [`${base.slice(0, -'.__dict__'.length)}.${key}`];
      return [];
    });
  }

  private meaningsOfCall(node: PythonNode, depth: number): readonly string[] {
    const [callee, list] = node.children;
    if (callee === undefined || list === undefined) return [];
    const given = argumentsOf(list);
    const [first, second] = given;
    return this.inner(callee, depth).flatMap((name) => {
      switch (name) {
        case '__import__':
        case 'builtins.__import__':
        case 'importlib.__import__':
        case 'importlib.import_module': {
          const module = first === undefined ? null : this.textOf(first.value);
          if (module === null) return [];
          // Without `fromlist`, `__import__("a.b")` gives `a`.
          return [name.endsWith('import_module') ? module : (module.split('.')[0] ?? module)];
        }
        case 'getattr':
        case 'builtins.getattr':
        case 'inspect.getattr_static': {
          const member = second === undefined ? null : this.textOf(second.value);
          if (first === undefined || member === null) return [];
          return this.inner(first.value, depth).map((base) => `${base}.${member}`);
        }
        case 'vars':
          if (first === undefined) return ['vars()'];
          return this.inner(first.value, depth).map((base) => `${base}.__dict__`);
        case 'sys.modules.get':
        case 'globals().get':
        case 'locals().get':
        case 'globals().__getitem__':
          if (first === undefined) return [];
          return this.looked([name.replace(/\.\w+$/, '')], this.textOf(first.value));
        default:
          return name.endsWith('()') || name.length > 200 ? [] : [calledName(name)];
      }
    });
  }
}

function itemsOf({ children }: PythonNode): readonly PythonNode[] {
  return children.filter(({ name }) => !/^[()[\],*]$/.test(name));
}

/** Built-in names that stay what they are even where the text gives the name to something else in some place. */
const LASTING = wordSet('eval exec compile __import__ getattr globals __builtins__ open');

/** Methods and constructors that give a path again. */
function calledName(name: string): string {
  if (name === 'pathlib.PosixPath' || name === 'pathlib.PurePath' || name === 'Path') return 'pathlib.Path()';
  if (/^pathlib\.Path(?:\.(?:home|cwd)|\(\)\.(?:joinpath|resolve|expanduser|absolute|with_\w+))?$/.test(name))
    return 'pathlib.Path()';
  return `${name}()`;
}
