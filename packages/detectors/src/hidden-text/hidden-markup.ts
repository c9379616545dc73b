/**
 * What a page, a mail or a Markdown file holds and does not show: comments, and elements that styles hide.
 * Single passes; styles are read as far as they are in the text itself.
 */
import { type Attribute, type HtmlToken, htmlTokens } from '../html/tokens.ts';
import { type HiddenFinding, hidden } from './hidden-finding.ts';
import { saysSomething, wordsIn } from './prose.ts';

export function findHiddenMarkup(text: string): readonly HiddenFinding[] {
  return [...comments(text), ...markdownComments(text), ...hiddenElements(text), ...hiddenLatex(text)];
}

const CONDITIONAL = /^(?:\[if [^\]]{1,80}\]|<!\[endif\])/i;

/** Looked for in the text itself: a comment is hidden wherever it stands, in Markdown and in mail too. */
function* comments(text: string): Generator<HiddenFinding> {
  for (let at = text.indexOf('<!--'); at >= 0; ) {
    const close = text.indexOf('-->', at + 4);
    const end = close < 0 ? text.length : close + 3;
    const content = text.slice(at + 4, close < 0 ? end : close).trim();
    if (!CONDITIONAL.test(content) && saysSomething(withoutTags(content)))
      yield hidden('HTML_COMMENT', at, end, 0.9, 'a comment that says something, in markup', content);
    at = close < 0 ? -1 : text.indexOf('<!--', end);
  }
}

function withoutTags(markup: string): string {
  return markup.replace(/<[^<>]{0,500}>/g, ' ');
}

/** Reference definitions that nothing refers to: the usual way to write a comment in Markdown. */
const MARKDOWN =
  /^[ \t]{0,3}\[(?:\/\/|comment|\^?_|#|hidden|note)\]:[ \t]{0,4}(?:#|<>|\/)[ \t]{0,4}[("']([^\n]{1,4000})[)"'][ \t]{0,8}$/gim;
/** Asked first: quicker than whole lines. */
const DEFINED = /\]:[ \t]{0,4}(?:#|<>|\/)[ \t]{0,4}[("']/;

function* markdownComments(text: string): Generator<HiddenFinding> {
  if (!DEFINED.test(text)) return;
  for (const match of text.matchAll(MARKDOWN)) {
    const [all, content = ''] = match;
    const start = match.index + (all.length - all.trimStart().length);
    const end = match.index + all.trimEnd().length;
    if (saysSomething(content))
      yield hidden('MARKDOWN_COMMENT', start, end, 0.9, 'a comment in Markdown', content);
  }
}

// ── elements that are there and not shown ─────────────────────────────────────────────────────────────────────

interface Open {
  readonly name: string;
  readonly start: number;
  /** Null: shown. */
  readonly why: string | null;
  readonly background: Colour | null | 'unknown';
  readonly pieces: string[];
}

type Colour = readonly [number, number, number];

/** Elements whose text is never part of the page. */
const NOT_TEXT: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'title', 'head']);
/** How far up an end tag looks for its element; a page that nests deeper is not one for people. */
const DEEPEST = 64;

function* hiddenElements(text: string): Generator<HiddenFinding> {
  if (!mayHide(text)) return;
  const tokens = htmlTokens(text);
  const rules = hidingClasses(tokens);
  const stack: Open[] = [];
  let outer: Open | null = null;
  for (const token of tokens) {
    switch (token.kind) {
      case 'open': {
        const opened: Open = read(token, stack.at(-1)?.background ?? null, rules);
        if (token.isEmpty) continue;
        stack.push(opened);
        if (outer === null && opened.why !== null) outer = opened;
        break;
      }
      case 'text':
        if (outer !== null && !NOT_TEXT.has(stack.at(-1)?.name ?? '')) outer.pieces.push(token.text);
        break;
      case 'close': {
        const at = lastOf(stack, token.name);
        if (at < 0) break;
        const closed = stack.splice(at);
        if (outer !== null && closed.includes(outer)) {
          yield* reported(outer, token.end);
          outer = null;
        }
        break;
      }
      case 'comment':
        break;
    }
  }
  if (outer !== null) yield* reported(outer, text.length);
}

const STYLES = /\bstyle\s{0,4}=\s{0,4}(?:"([^"]{0,4000})"|'([^']{0,4000})'|([^\s"'<>]{1,4000}))/gi;
/** Asked first, from the sign on, which is rarer than what stands before it. */
const STYLED = /=(?<=\bstyle\s{0,4}=)/i;
const OTHER_WAYS = /<style|<[a-z][^<>]{0,400}\shidden[\s=>/]|<font|bgcolor\s{0,4}=/i;
const DARK = /background|bgcolor/i;

/** Whether a page hides anything at all, asked of its styles alone: most are long and do not. */
function mayHide(text: string): boolean {
  if (!text.includes('<')) return false;
  if (OTHER_WAYS.test(text)) return true;
  if (!STYLED.test(text)) return false;
  const hasBackground = DARK.test(text);
  const judged = new Set<string>();
  for (const [, double, single, bare] of text.matchAll(STYLES)) {
    const style = double ?? single ?? bare ?? '';
    if (judged.has(style)) continue;
    judged.add(style);
    const declarations = declarationsIn(style.replaceAll('&quot;', '"'));
    const isColoured =
      declarations.has('color') && (hasBackground || invisibleColour(declarations, [], null) !== null);
    if (isColoured || style.includes('&#') || reasonToHide(declarations, []) !== null) return true;
  }
  return false;
}

function lastOf(stack: readonly Open[], name: string): number {
  const least = Math.max(0, stack.length - DEEPEST);
  for (let at = stack.length - 1; at >= least; at--) if (stack[at]?.name === name) return at;
  return -1;
}

function* reported({ start, why, pieces }: Open, end: number): Generator<HiddenFinding> {
  const content = pieces.join('').replace(/\s+/g, ' ').trim();
  if (why !== null && (wordsIn(content) >= leastWords(why) || saysSomething(content)))
    yield hidden('HIDDEN_STYLE', start, end, 0.9, why, content);
}

/** Pages have reasons to hide a menu or a label for a while, and none to print letters that nobody can see. */
function leastWords(why: string): number {
  return why.startsWith('letters ') ? 3 : 4;
}

type OpenTag = Extract<HtmlToken, { kind: 'open' }>;

function read(tag: OpenTag, around: Open['background'], rules: HidingRules): Open {
  const { name, attributes, start } = tag;
  const style = declarationsIn(attribute(attributes, 'style'));
  const own = backgroundOf(style, attributes);
  const hasClass = attributes.some((one) => one.name === 'class' || one.name === 'id');
  const background = own ?? around ?? (hasClass ? 'unknown' : null);
  const why =
    reasonToHide(style, attributes) ?? rules.reasonFor(tag) ?? invisibleColour(style, attributes, background);
  return { name, start, why: NOT_TEXT.has(name) ? null : why, background, pieces: [] };
}

function attribute(attributes: readonly Attribute[], name: string): string {
  return attributes.find((one) => one.name === name)?.value ?? '';
}

type Declarations = ReadonlyMap<string, string>;

function declarationsIn(style: string): Declarations {
  const pairs = style
    .slice(0, 4_000)
    .replace(/\/\*[^*]{0,400}\*\//g, '')
    .split(';')
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      const value = line.slice(colon + 1).replace(/!\s*important/i, '');
      return [line.slice(0, Math.max(0, colon)).trim().toLowerCase(), value.trim().toLowerCase()];
    });
  return new Map(pairs.filter(([name]) => name !== ''));
}

/** What hides an element, by property; each says how in a clause. */
const HIDING: readonly (readonly [property: string, value: RegExp, why: string])[] = [
  ['display', /^none$/, 'an element that is not displayed'],
  ['visibility', /^(?:hidden|collapse)$/, 'an element that is invisible'],
  ['mso-hide', /^all$/, 'an element that mail programs hide'],
  ['opacity', /^0?\.?0*[0-4]?%?$/, 'an element without opacity'],
  ['font-size', /^(?:0*\.?\d*|[01](?:\.\d+)?)(?:px|pt|em|rem|%|vw)?$/, 'letters too small to be seen'],
  ['text-indent', /^-\d{3,}/, 'text that is moved out of sight'],
  ['left', /^-\d{3,}/, 'text that is moved out of sight'],
  ['right', /^-\d{3,}/, 'text that is moved out of sight'],
  ['top', /^-\d{3,}/, 'text that is moved out of sight'],
  ['margin-left', /^-\d{3,}/, 'text that is moved out of sight'],
  ['color', /^transparent$|,\s*0?\.?0+\)$|^#[0-9a-f]{6}00$|^#[0-9a-f]{3}0$/, 'letters without colour'],
  ['-webkit-text-fill-color', /^transparent$/, 'letters without colour'],
  ['clip', /^rect\(\s*0[^)]{0,40}\)$|^rect\(\s*1px[, ]+1px[^)]{0,40}\)$/, 'an element that is cut away'],
  ['clip-path', /^inset\(\s*(?:50|100)%/, 'an element that is cut away'],
  ['transform', /scale\(\s*0(?:\.0\d*)?\s*[,)]/, 'an element that is shrunk to nothing'],
  ['line-height', /^0(?:px)?$/, 'lines without height'],
];

function reasonToHide(style: Declarations, attributes: readonly Attribute[]): string | null {
  for (const [property, value, why] of HIDING) {
    const given = style.get(property);
    if (given !== undefined && given !== '' && value.test(given) && isSmall(property, given)) return why;
  }
  const isCut = /hidden|clip/.test(style.get('overflow') ?? '');
  const isFlat = ['width', 'height', 'max-height', 'max-width'].some((name) =>
    /^[01](?:px|%)?$/.test(style.get(name) ?? ''),
  );
  if (isCut && isFlat) return 'an element without size';
  return attributes.some(({ name }) => name === 'hidden') ? 'an element with the attribute `hidden`' : null;
}

/** `0.8em` is small print, `1px` is nothing. */
function isSmall(property: string, value: string): boolean {
  if (property !== 'font-size') return true;
  const size = Number.parseFloat(value);
  if (/(?:em|rem)$/.test(value)) return size <= 0.15;
  return value.endsWith('%') ? size <= 15 : size <= 2;
}

// ── colours ───────────────────────────────────────────────────────────────────────────────────────────────────

const NAMED: ReadonlyMap<string, Colour> = new Map([
  ['white', [255, 255, 255]],
  ['snow', [255, 250, 250]],
  ['ivory', [255, 255, 240]],
  ['ghostwhite', [248, 248, 255]],
  ['whitesmoke', [245, 245, 245]],
  ['floralwhite', [255, 250, 240]],
  ['black', [0, 0, 0]],
  ['red', [255, 0, 0]],
  ['blue', [0, 0, 255]],
  ['green', [0, 128, 0]],
  ['yellow', [255, 255, 0]],
  ['gray', [128, 128, 128]],
  ['grey', [128, 128, 128]],
  ['silver', [192, 192, 192]],
  ['navy', [0, 0, 128]],
]);
const WHITE: Colour = [255, 255, 255];
/** The greatest distance of two colours, in the sum of their parts, at which nobody reads one on the other. */
const ALIKE = 36;

function colourOf(value: string): Colour | null {
  const named = NAMED.get(value);
  if (named !== undefined) return named;
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])[0-9a-f]?$/.exec(value);
  if (short !== null) return toColour(short.slice(1).map((digit) => Number.parseInt(digit + digit, 16)));
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})(?:[0-9a-f]{2})?$/.exec(value);
  if (long !== null) return toColour(long.slice(1).map((pair) => Number.parseInt(pair, 16)));
  const parts = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})/.exec(value);
  if (parts !== null) return toColour(parts.slice(1).map(Number));
  return /^hsla?\([^)]{1,40}100%/.test(value) ? WHITE : null;
}

function toColour([red = 0, green = 0, blue = 0]: readonly number[]): Colour {
  return [red, green, blue];
}

function backgroundOf(style: Declarations, attributes: readonly Attribute[]): Colour | 'unknown' | null {
  const given =
    style.get('background-color') ??
    style.get('background') ??
    attribute(attributes, 'bgcolor').toLowerCase();
  if (given === '' || /^(?:none|transparent|inherit|initial|unset)$/.test(given)) return null;
  return colourOf(given.split(/\s+(?![^(]*\))/)[0] ?? '') ?? 'unknown';
}

function invisibleColour(
  style: Declarations,
  attributes: readonly Attribute[],
  background: Open['background'],
): string | null {
  const given = style.get('color') ?? attribute(attributes, 'color').toLowerCase();
  const colour = given === '' ? null : colourOf(given);
  if (colour === null || background === 'unknown') return null;
  const behind = background ?? WHITE;
  const distance = colour.reduce((sum, part, at) => sum + Math.abs(part - (behind[at] ?? 0)), 0);
  return distance <= ALIKE ? 'letters in the colour of what is behind them' : null;
}

// ── style sheets in the text ──────────────────────────────────────────────────────────────────────────────────

interface HidingRules {
  reasonFor(tag: OpenTag): string | null;
}

const NO_RULES: HidingRules = { reasonFor: () => null };
const RULE = /([^{}]{1,300})\{([^{}]{0,2000})\}/g;
const MOST_RULES = 500;

/** Classes and ids that a style sheet of the same text hides; combined selectors are not read. */
function hidingClasses(tokens: readonly HtmlToken[]): HidingRules {
  const sheets = tokens.flatMap((token, at) => {
    const before = tokens[at - 1];
    const isSheet = token.kind === 'text' && before?.kind === 'open' && before.name === 'style';
    return isSheet ? [token.text.slice(0, 100_000)] : [];
  });
  if (sheets.length === 0) return NO_RULES;
  const reasons = new Map<string, string>();
  const matches = sheets.slice(0, 20).flatMap((sheet) => [...sheet.matchAll(RULE)]);
  for (const [, selectors = '', body = ''] of matches.slice(0, MOST_RULES)) {
    const declarations = declarationsIn(body);
    const why =
      reasonToHide(declarations, []) ?? invisibleColour(declarations, [], backgroundOf(declarations, []));
    for (const selector of selectors.split(',').map((one) => one.trim().toLowerCase())) {
      if (!/^(?:[a-z][a-z0-9]*)?[.#][\w-]+$/.test(selector)) continue;
      if (why !== null) reasons.set(selector.slice(selector.search(/[.#]/)), why);
    }
  }
  if (reasons.size === 0) return NO_RULES;
  return {
    reasonFor({ attributes }) {
      const classes = attribute(attributes, 'class').toLowerCase().split(/\s+/).slice(0, 20);
      const keys = [...classes.map((name) => `.${name}`), `#${attribute(attributes, 'id').toLowerCase()}`];
      return keys.map((key) => reasons.get(key)).find((why) => why !== undefined) ?? null;
    },
  };
}

// ── LaTeX ─────────────────────────────────────────────────────────────────────────────────────────────────────

const LATEX =
  /\\(?:textcolor\{white\}\{|color\{white\}|fontsize\{0?\.?[0-2]?(?:pt)?\}\{[^{}]{0,12}\}\\selectfont|phantom\{|iffalse\b)([^{}\\]{0,4000})/g;

function* hiddenLatex(text: string): Generator<HiddenFinding> {
  if (!/\\(?:text)?color\{white|\\fontsize\{|\\phantom\{|\\iffalse/.test(text)) return;
  for (const { 0: all, 1: content = '', index } of text.matchAll(LATEX))
    if (saysSomething(content))
      yield hidden(
        'HIDDEN_STYLE',
        index,
        index + all.length,
        0.85,
        'text that is typeset invisibly',
        content.trim(),
      );
}
