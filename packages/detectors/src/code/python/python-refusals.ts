/**
 * What Python 3 refuses and the grammar takes: Python 2, and forms that only a stricter reading rules out.
 *
 * Source: "Full Grammar specification" and "Lexical analysis" of Python's language reference, and what `ast.parse` of 3.11
 * answers for the texts of the tests.
 */

import { wordSet } from '../../text/words.ts';
import { indentationFault } from './python-indentation.ts';
import { argumentsOf, type PythonNode } from './python-tree.ts';

/**
 * Where Python would refuse the text; null: nowhere.
 * @param nodes the tree, parents before their children
 * @param code the text that was parsed
 * @param original the text as it came, with the same places: forms that the grammar lacks were written in others
 */
export function refusedAt(nodes: readonly PythonNode[], code: string, original: string): number | null {
  const wrong = nodes.find((node) => isRefused(node, code, original));
  return wrong?.start ?? indentationFault(nodes, code);
}

/** What can stand on the left of `=`, be deleted, or be bound by `for`. */
const TARGETS: ReadonlySet<string> = new Set(['VariableName', 'MemberExpression']);
const NESTED_TARGETS = wordSet('TupleExpression ArrayExpression ParenthesizedExpression');
const BETWEEN_TARGETS: ReadonlySet<string> = new Set([',', '*', '(', ')', '[', ']', 'Comment']);

function isTarget(node: PythonNode): boolean {
  if (TARGETS.has(node.name) || BETWEEN_TARGETS.has(node.name)) return true;
  return NESTED_TARGETS.has(node.name) && node.children.every(isTarget);
}

function isRefused(node: PythonNode, code: string, original: string): boolean {
  switch (node.name) {
    case '⚠':
      return true;
    case 'PrintStatement':
      return !/^print[ \t]*>>/.test(code.slice(node.start, node.start + 40));
    case 'CompareOp':
      return node.end - node.start === 2 && code.startsWith('<>', node.start);
    case 'BinaryExpression':
      return isNotBehindOperator(node);
    case 'AssignStatement':
      return isBadAssignment(node);
    case 'UpdateStatement':
      return isBadUpdate(node);
    case 'DeleteStatement':
      return !node.children.slice(1).every(isTarget);
    case 'ForStatement':
    case 'ArrayComprehensionExpression':
    case 'ComprehensionExpression':
    case 'SetComprehensionExpression':
    case 'DictionaryComprehensionExpression':
      return isBadLoop(node);
    case 'ArgList':
      return hasLatePositional(node) || isBadGenerator(node);
    case 'ParamList':
      return isBadParameters(node, original);
    case 'ImportStatement':
      return isBadImport(node, original);
    case 'WithStatement':
      return node.children.some(({ name }, at) => name === ',' && node.children[at + 1]?.name === 'Body');
    case 'StatementGroup':
      return node.children.some(({ name }, at) => name === ';' && node.children[at + 1]?.name === ';');
    case 'TryStatement':
      return hasOldExcept(node) || !node.children.some(({ name }) => name === 'except' || name === 'finally');
    case 'String':
      return isBadString(code.slice(node.start, node.end));
    case 'FormatString':
      return isBadString(code.slice(node.start, node.end)) || hasLoneBrace(node, code);
    case 'ContinuedString':
      return mixesBytes(node, code);
    case 'RaiseStatement':
      return node.children.some((child) => child.name === ',');
    case 'Number':
      return !NUMBER.test(code.slice(node.start, node.end));
    case 'PropertyName':
      return isBadName(code.slice(node.start, node.end));
    case 'MemberExpression':
      return isNumberWithName(node, code);
    case 'VariableName':
      return !NAME.test(code.slice(node.start, node.end));
    default:
      return false;
  }
}

const NUMBER =
  /^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?0)*|[1-9](?:_?\d)*|(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.)(?:[eE][+-]?\d(?:_?\d)*)?[jJ]?|\d(?:_?\d)*(?:[eE][+-]?\d(?:_?\d)*[jJ]?|[jJ]))$/;
const NAME = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;

const KEYWORDS = wordSet(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield',
);

/** `a.import` */
function isBadName(name: string): boolean {
  return KEYWORDS.has(name) || !NAME.test(name);
}

/** `1.real`, but not `1 .real`. */
function isNumberWithName({ children }: PythonNode, code: string): boolean {
  const [number, dot] = children;
  if (number?.name !== 'Number' || dot?.start !== number.end) return false;
  return /^[\d_]+$/.test(code.slice(number.start, number.end));
}

/** `a == not b`, but not `a and not b`. */
function isNotBehindOperator({ children }: PythonNode): boolean {
  const right = children.at(-1);
  const operator = children.at(-2)?.name;
  return (
    right?.name === 'UnaryExpression' &&
    right.children[0]?.name === 'not' &&
    operator !== 'and' &&
    operator !== 'or'
  );
}

/** `f() = 1`, `a, b: int`, `a: int = b = 1`. */
function isBadAssignment({ children }: PythonNode): boolean {
  const annotation = children.findIndex(({ name }) => name === 'TypeDef');
  if (annotation > 1) return true;
  const last = children.findLastIndex(({ name }) => name === 'AssignOp');
  if (annotation >= 0 && last !== children.findIndex(({ name }) => name === 'AssignOp')) return true;
  return children.some(
    (child, at) => at < last && child.name !== 'AssignOp' && child.name !== 'TypeDef' && !isTarget(child),
  );
}

/** `a, b += 1`, `f() += 1`. */
function isBadUpdate({ children }: PythonNode): boolean {
  const [target, operator] = children;
  if (target === undefined || operator?.name !== 'UpdateOp') return true;
  return !TARGETS.has(target.name) && target.name !== 'ParenthesizedExpression';
}

/** `for 1 in x`, `[*a for a in b]`; a comprehension has several loops. */
function isBadLoop({ name, children }: PythonNode): boolean {
  if (
    name !== 'ForStatement' &&
    children.slice(0, 2).some((child) => child.name === '*' || child.name === '**')
  )
    return true;
  let isBinding = false;
  for (const child of children) {
    if (child.name === 'for') isBinding = true;
    else if (child.name === 'in') isBinding = false;
    else if (isBinding && !isTarget(child)) return true;
  }
  return false;
}

/** `f(a=1, 2)` and `f(**k, *a)`, but not `f(a=1, *b)`. */
function hasLatePositional(list: PythonNode): boolean {
  let seen: 'name' | '**' | null = null;
  for (const { name, isUnpacked } of argumentsOf(list)) {
    if (isUnpacked === '**') seen = '**';
    else if (name !== null) seen ??= 'name';
    else if (seen === '**' || (seen === 'name' && isUnpacked === null)) return true;
  }
  return false;
}

/** `f(a for a in b, c)`, `class A(x for x in y)`; the commas between the loop's targets do not separate arguments. */
function isBadGenerator({ children, parent }: PythonNode): boolean {
  if (!children.some(({ name }) => name === 'for')) return false;
  let isBinding = false;
  let isAmong = parent?.name === 'ClassDefinition';
  for (const { name } of children) {
    if (name === 'for') isBinding = true;
    else if (name === 'in') isBinding = false;
    else if (name === ',' && !isBinding) isAmong = true;
  }
  return isAmong;
}

/** One parameter, or what parts them. */
interface Parameter {
  star: '*' | '**' | null;
  isNamed: boolean;
  isOptional: boolean;
  isSlash: boolean;
}

/** Their order: positional ones, `/`, `*` or `*args`, named ones, `**kwargs`; no plain one behind one with a default. */
function isBadParameters(list: PythonNode, original: string): boolean {
  const found = parametersOf(list, original);
  const slash = found.findIndex(({ isSlash }) => isSlash);
  const star = found.findIndex((one) => one.star === '*');
  const last = found.findIndex((one) => one.star === '**');
  if (slash === 0 || (star >= 0 && slash > star) || (last >= 0 && last < found.length - 1)) return true;
  if (found.filter(({ isSlash }) => isSlash).length > 1 || found.filter((one) => one.star === '*').length > 1)
    return true;
  const isBare = star >= 0 && found[star]?.isNamed === false;
  if (isBare && found[star + 1]?.star !== null) return true;
  const positional = (star < 0 ? found : found.slice(0, star)).filter(
    (one) => !one.isSlash && one.star === null,
  );
  const optional = positional.findIndex(({ isOptional }) => isOptional);
  return optional >= 0 && positional.slice(optional).some(({ isOptional }) => !isOptional);
}

function parametersOf({ children, start }: PythonNode, original: string): readonly Parameter[] {
  const found: Parameter[] = [];
  let one: Parameter = { star: null, isNamed: false, isOptional: false, isSlash: false };
  let from = start;
  const close = (end: number): void => {
    // The grammar has no node for the slash.
    const isSlash = /^[(\s]*\/\s*$/.test(original.slice(from, end));
    if (isSlash || one.isNamed || one.star !== null) found.push({ ...one, isSlash });
    one = { star: null, isNamed: false, isOptional: false, isSlash: false };
  };
  for (const child of children) {
    if (child.name === ',' || child.name === ')') {
      close(child.start);
      from = child.end;
    } else if (child.name === '*' || child.name === '**') one.star = child.name;
    else if (child.name === 'VariableName' && !one.isOptional) one.isNamed = true;
    else if (child.name === 'AssignOp') one.isOptional = true;
  }
  if (children.at(-1)?.name !== ')') close(children.at(-1)?.end ?? start);
  return found;
}

/** `from a import b,`, `from a import b.c`, `import a as b.c`. */
function isBadImport({ children, start, end }: PythonNode, original: string): boolean {
  if (children.at(-1)?.name === ',') return true;
  if (/\bas\s+\w+\s*\./.test(original.slice(start, end))) return true;
  const imported = children[0]?.name === 'from' ? children.findIndex(({ name }) => name === 'import') : -1;
  return imported >= 0 && children.slice(imported).some(({ name }) => name === '.');
}

/** `except E, e:` */
function hasOldExcept(statement: PythonNode): boolean {
  let inExcept = false;
  for (const { name } of statement.children) {
    if (name === 'except') inExcept = true;
    else if (name === 'Body') inExcept = false;
    else if (name === ',' && inExcept) return true;
  }
  return false;
}

/** Without its end, in single quotes over a line end, bytes beyond ASCII, escapes that are cut off. */
function isBadString(literal: string): boolean {
  const [opening = '', prefix = '', quote = ''] = /^([a-z]*)('''|"""|'|")/i.exec(literal) ?? [];
  const isBytes = /b/i.test(prefix);
  if (literal.length < opening.length + quote.length || !literal.endsWith(quote)) return true;
  if (isBytes && /[^\0-\x7f]/.test(literal)) return true;
  if (!/r/i.test(prefix) && hasCutEscape(literal, isBytes)) return true;
  return quote.length === 1 && /(?:^|[^\\])(?:\\\\)*\r?\n/.test(literal);
}

const ESCAPE = /\\(?:x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|N(?:\{[^}]{0,90}\})?|.)/gs;
const WHOLE_ESCAPE = /^\\(?:x..|u.{4}|U00(?:0.|10).{4}|N\{[^}]+\}|[^xuUN])$/s;
/** In bytes, only this one has digits. */
const WHOLE_OF_BYTES = /^\\(?:x..|[^x].*)$/s;

/** `"\x1"`, `"\u12"`, `"\N"`. Whether Unicode has a character of the name behind `\N` is not asked. */
function hasCutEscape(literal: string, isBytes: boolean): boolean {
  const whole = isBytes ? WHOLE_OF_BYTES : WHOLE_ESCAPE;
  return [...literal.matchAll(ESCAPE)].some(([found]) => !whole.test(found));
}

/** `f"a}"`, `f"\{"`: outside of replacements each brace stands twice. Those of `\N{…}` do not. */
function hasLoneBrace({ start, end, children }: PythonNode, code: string): boolean {
  let text = '';
  let at = start;
  for (const part of children) {
    if (part.name !== 'FormatReplacement') continue;
    text += `${code.slice(at, part.start)} `;
    at = part.end;
  }
  text += code.slice(at, end);
  const isRaw = /^[a-z]*r/i.test(text);
  return /[{}]/.test(text.replace(isRaw ? /\{\{|\}\}/g : /\{\{|\}\}|\\N\{[^}]+\}/g, ''));
}

/** `'a' b'b'` */
function mixesBytes({ children }: PythonNode, code: string): boolean {
  const areBytes = children
    .filter(({ name }) => name !== 'Comment')
    .map(({ start }) => /^[a-z]*b/i.test(code.slice(start, start + 3)));
  return areBytes.includes(true) && areBytes.includes(false);
}
