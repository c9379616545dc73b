/**
 * Forms of Python that the grammar does not know, written in others that it takes for the same. What is written is as long as
 * what stood there, so every place in the text stays; what is called or used in it stays, too, and what is bound to the
 * value of a call: code must not hide behind a form.
 */

type Rewriting = readonly [form: RegExp, write: (found: string, ...groups: readonly string[]) => string];

const REWRITINGS: readonly Rewriting[] = [
  // A line of nothing but a form feed
  [/^[ \t]*\f[ \t\f]*$/gm, (found) => ' '.repeat(found.length)],
  // Spaces behind the last line, as in an indented text of several lines
  [/(?<=\n)[ \t]+$/g, (found) => '\n'.repeat(found.length)],
  // `2.`, `2.e5`
  [/(?<![\w.])\d[\d_]*\.(?:(?![\w.])|(?=[eE][+-]?\d))/g, (found) => `${found.slice(0, -1)}0`],
  // `f"\{a}"`: to Python the backslash is text, and `a` is code
  [/(?<!\\)((?:\\\\)*)\\(?=\{)/g, (_, pairs = '') => `${pairs}x`],
  // `lambda a, /: b`
  [/,[ \t]{0,9}\/(?=[ \t]{0,9}[,:)])/g, (found) => `${found.slice(0, -1)}_`],
  // `x = yield`
  [/\byield(?=[ \t]{0,9}(?:[)\]},;:\n]|$))/g, () => 'False'],
  // `with open(x) as self.file:`
  [/\bas[ \t]+\w+(?:\.\w+)+/g, (found) => found.replaceAll('.', '_')],
  // `with pair() as (a, b):`
  [/\b(as[ \t]+)(\([\w \t,]*\))/g, (_, before = '', names = '') => before + '_'.repeat(names.length)],
  // `@table[0]`, `@(lambda f: f)`
  [/^([ \t]*)@(?![\w.]+[ \t]*(?:\(|#|\r?$))/gm, (_, indentation = '') => `${indentation}+`],
  // `match a, b:`
  [
    /^[ \t]*match[ \t][^\n]*$/gm,
    (found) => (found.trimEnd().endsWith(':') ? found.replaceAll(',', '+') : found),
  ],
  // `case Point() | None:`
  [/^[ \t]*case[ \t][^\n]*$/gm, withoutEmptyParentheses],
];

/** Of the pattern alone. Attack: in its condition, or behind it in the same line, `f()` is a call. */
function withoutEmptyParentheses(line: string): string {
  const end = patternEnd(line);
  return line.slice(0, end).replace(/(?<=\w)\(\)/g, '__') + line.slice(end);
}

/** Where a condition or the body begins; 0 where that is not certain. */
function patternEnd(line: string): number {
  if (/\\|'''|"""/.test(line)) return 0;
  let depth = 0;
  for (const { 0: found, index } of line.matchAll(/'[^']*'|"[^"]*"|[([{]|[)\]}]|:|#|\bif\b/g)) {
    if ('([{'.includes(found)) depth++;
    else if (')]}'.includes(found)) depth--;
    else if (found === '#') return 0;
    else if (depth === 0 && (found === ':' || found === 'if')) return index;
  }
  return 0;
}

/** The same text where it has none of them. */
export function inKnownForms(code: string): string {
  return withoutParentheses(REWRITINGS.reduce((text, [form, write]) => text.replace(form, write), code));
}

const WITH = /^[ \t]*(?:async[ \t]+)?with[ \t]*\(/gm;
/** As far as the end of one is looked for: many could be without end. */
const LONGEST = 2_000;

/** `with (open(a) as x, open(b) as y):`, also on several lines. */
function withoutParentheses(code: string): string {
  const parts: string[] = [];
  let at = 0;
  let behind = 0;
  for (const { 0: found, index } of code.matchAll(WITH)) {
    if (index < behind) continue;
    const open = index + found.length - 1;
    const close = closing(code, open);
    // What is never closed holds all that follows.
    if (close < 0) break;
    behind = close + 1;
    const items = code.slice(open + 1, close);
    if (!/^[ \t]{0,9}:/.test(code.slice(behind, behind + 10)) || !/\bas\b/.test(items)) continue;
    // Attack: where lines become one, a comment holds what stood on the next.
    if (items.includes('#') && /[\r\n]/.test(items)) continue;
    parts.push(code.slice(at, open), ' ', items.replace(/,(?=\s{0,200}$)|[\r\n]/g, ' '), ' ');
    at = behind;
  }
  return parts.join('') + code.slice(at);
}

/** Where the parenthesis at `open` is closed; -1: nowhere near. */
function closing(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < Math.min(code.length, open + LONGEST); at++) {
    if ('([{'.includes(code.charAt(at))) depth++;
    else if (')]}'.includes(code.charAt(at)) && --depth === 0) return at;
  }
  return -1;
}
