/** Texts in Python code: what a literal means, what a sum of literals comes to, how an expression is written. */

import { wordSet } from '../../text/words.ts';
import { decodedBase64, decodedHex, joined, reversed } from '../computed-text.ts';
import { LONGEST_CODE } from '../construct.ts';
import { argumentsOf, type PythonNode } from './python-tree.ts';

/** Deeper sums and calls are taken for values that only running the code can tell. */
const DEEPEST = 48;

/** What a name stands for in a computation; null: not one text. */
export type ConstantOf = (name: string) => PythonNode | null;

/** The text that an expression comes to, if that can be seen; null: only by running it. */
export function constantText(
  node: PythonNode,
  code: string,
  constantOf: ConstantOf,
  depth = 0,
): string | null {
  if (depth > DEEPEST) return null;
  const fold = (child: PythonNode | undefined) =>
    child === undefined ? null : constantText(child, code, constantOf, depth + 1);
  switch (node.name) {
    case 'String':
      return literalText(code.slice(node.start, node.end));
    case 'FormatString':
      return formatText(node, code, fold);
    case 'ContinuedString':
      return joined(node.children.map(fold), '');
    case 'ParenthesizedExpression':
      return fold(node.children[1]);
    case 'NamedExpression':
      return fold(node.children[2]);
    case 'VariableName': {
      const value = constantOf(nameText(node, code));
      return value === null ? null : fold(value);
    }
    case 'BinaryExpression': {
      const [left, operator, right] = node.children;
      if (operator === undefined || code.slice(operator.start, operator.end) !== '+') return null;
      return joined([fold(left), fold(right)], '');
    }
    case 'MemberExpression':
      return isReversal(node, code) ? reversed(fold(node.children[0])) : null;
    case 'CallExpression':
      return callText(node, code, fold);
    default:
      return null;
  }
}

/** `x[::-1]` */
function isReversal(node: PythonNode, code: string): boolean {
  const open = node.children[1];
  if (open?.name !== '[' || node.end - open.start > 24) return false;
  return code.slice(open.start, node.end).replace(/\s/g, '') === '[::-1]';
}

type Fold = (node: PythonNode | undefined) => string | null;

/** The decoders and builders of texts that payloads are hidden with. */
function callText(node: PythonNode, code: string, fold: Fold): string | null {
  const [callee, list] = node.children;
  if (callee === undefined || list === undefined) return null;
  const given = argumentsOf(list);
  const [first] = given;
  const name = code.slice((callee.children.at(-1) ?? callee).start, callee.end);
  const base = callee.name === 'MemberExpression' ? callee.children[0] : undefined;
  switch (name) {
    case 'chr': {
      const digits = first === undefined ? '' : code.slice(first.value.start, first.value.end);
      const point = /^(?:\d{1,7}|0x[0-9a-f]{1,6})$/i.test(digits) ? Number(digits) : Number.NaN;
      return point >= 0 && point <= 0x10ffff ? String.fromCodePoint(point) : null;
    }
    case 'str':
    case 'bytes':
      return given.length === 1 ? fold(first?.value) : null;
    case 'decode':
    case 'encode': {
      if (first !== undefined && /rot.?13/i.test(fold(given[1]?.value ?? first.value) ?? ''))
        return rot13(fold(given.length > 1 ? first.value : base));
      return base === undefined || code.slice(base.start, base.end) === 'codecs' ? null : fold(base);
    }
    case 'strip':
      return fold(base)?.trim() ?? null;
    case 'lower':
      return fold(base)?.toLowerCase() ?? null;
    case 'join': {
      const between = fold(base);
      const list = first?.value;
      const isList = list?.name === 'ArrayExpression' || list?.name === 'TupleExpression';
      if (between === null || list === undefined || !isList) return null;
      return joined(list.children.filter((child) => !/^[()[\],]$/.test(child.name)).map(fold), between);
    }
    case 'replace': {
      const [text, what, by] = [fold(base), fold(first?.value), fold(given[1]?.value)];
      if (text === null || !what || by === null || by.length > what.length) return null;
      return text.replaceAll(what, by);
    }
    case 'b64decode':
    case 'standard_b64decode':
    case 'urlsafe_b64decode':
    case 'decodebytes':
      return decodedBase64(fold(first?.value));
    case 'fromhex':
    case 'unhexlify':
    case 'a2b_hex':
      return decodedHex(fold(first?.value));
    default:
      return null;
  }
}

function formatText(node: PythonNode, code: string, fold: Fold): string | null {
  const start = /^[a-z]*(?:'''|"""|'|")/i.exec(code.slice(node.start, node.start + 6))?.[0].length ?? 0;
  const quotes = /'''$|"""$/.test(code.slice(node.start, node.start + start)) ? 3 : 1;
  let text = '';
  let at = node.start + start;
  for (const part of node.children) {
    if (part.name !== 'FormatReplacement') continue;
    const value = part.children.length === 3 ? fold(part.children[1]) : null;
    if (value === null || text.length > LONGEST_CODE) return null;
    text += code.slice(at, part.start) + value;
    at = part.end;
  }
  return (text + code.slice(at, node.end - quotes)).replaceAll('{{', '{').replaceAll('}}', '}');
}

function rot13(text: string | null): string | null {
  return (
    text?.replace(/[a-z]/gi, (letter) => {
      const base = letter <= 'Z' ? 65 : 97;
      return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
    }) ?? null
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '\n': '' },
};

/** What a string literal means; null where only Python could tell (names of characters). */
function literalText(literal: string): string | null {
  const opening = /^([a-z]*)('''|"""|'|")/i.exec(literal);
  if (opening === null) return null;
  const [whole, prefix = '', quotes = ''] = opening;
  const text = literal.slice(whole.length, literal.length - quotes.length);
  if (/r/i.test(prefix) || !text.includes('\\')) return text;
  if (text.includes('\\N{')) return null;
  return text.replace(
    /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\r?\n|[\s\S])/g,
    (written, body: string) => {
      const known = ESCAPES[body];
      if (known !== undefined) return known;
      if (body === '\r\n') return '';
      const isOctal = /^[0-7]/.test(body);
      if (!isOctal && body.length < 3) return written;
      const point = Number.parseInt(isOctal ? body : body.slice(1), isOctal ? 8 : 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : written;
    },
  );
}

/** A name as Python compares it: in compatibility form, so that letters of other alphabets are no disguise. */
export function nameText(node: PythonNode, code: string): string {
  const name = code.slice(node.start, node.end);
  for (let index = 0; index < name.length; index++)
    if (name.charCodeAt(index) > 127) return name.normalize('NFKC');
  return name;
}

// ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Longer expressions are not written out: each call of a long chain would repeat all before it. */
const MOST_TOKENS = 120;
const LONGEST_TOKEN = 512;

const SPACED = wordSet('and or in is if else for as CompareOp BitOp async');

/** As Python's `ast.unparse` writes it, for what call targets are made of; null: too long to be one. */
export function writtenOut(node: PythonNode, code: string): string | null {
  const tokens: PythonNode[] = [];
  const open: PythonNode[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (tokens.length > MOST_TOKENS || next.end - next.start > 8 * LONGEST_TOKEN) return null;
    const inner = next.name === 'ParenthesizedExpression' ? bare(next) : null;
    if (inner !== null) open.push(inner);
    else if (isToken(next)) tokens.push(next);
    else
      for (let index = next.children.length - 1; index >= 0; index--) open.push(next.children[index] ?? next);
    if (open.length > 4 * MOST_TOKENS) return null;
  }
  let text = '';
  for (const token of tokens) {
    if (token.end - token.start > LONGEST_TOKEN) return null;
    text += spelled(token, code);
  }
  return text.replace(/ {2,}/g, ' ').trim();
}

function isToken(node: PythonNode): boolean {
  return node.children.length === 0 || node.name === 'String' || node.name === 'FormatString';
}

/** What needs no parentheses where a call target needs them. */
function bare(node: PythonNode): PythonNode | null {
  const inner = node.children[1];
  const isBare = ['VariableName', 'MemberExpression', 'CallExpression', 'String', 'ParenthesizedExpression'];
  return inner !== undefined && isBare.includes(inner.name) ? inner : null;
}

function spelled(token: PythonNode, code: string): string {
  const { name, parent } = token;
  const written = code.slice(token.start, token.end);
  if (name === 'String') {
    const text = literalText(written);
    const isPlain = text !== null && !/['\\\n\r\t]/.test(text) && !/^[rb]*b/i.test(written);
    return isPlain ? `'${text}'` : written;
  }
  if (name === 'VariableName' || name === 'PropertyName') return nameText(token, code);
  if (name === ',') return ', ';
  if (name === ':') return parent?.name === 'MemberExpression' ? ':' : ': ';
  if (name === 'not' || name === 'await' || name === 'lambda') return ` ${written} `;
  if (SPACED.has(name)) return ` ${written} `;
  if (name === 'ArithOp') return parent?.name === 'UnaryExpression' ? written : ` ${written} `;
  return written;
}
