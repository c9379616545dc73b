/**
 * HTML as a flat list of tags, texts and comments with their places, by htmlparser2's tokenizer. The tokenizer and not
 * the parser: the latter looks through all open elements at each end tag, which a hostile page makes quadratic.
 */

import type * as HtmlParser from 'htmlparser2';
import type { Stretch } from '../text/finding.ts';
import { parserOnDemand } from '../text/on-demand.ts';
import { wordSet } from '../text/words.ts';

const HTML = parserOnDemand<typeof HtmlParser>('htmlparser2');

/** Its place is that of the value, as it is written. */
export interface Attribute extends Stretch {
  /** In small letters. */
  readonly name: string;
  /** With its entities decoded. */
  readonly value: string;
}

export type HtmlToken = Stretch &
  (
    | {
        readonly kind: 'open';
        readonly name: string;
        readonly attributes: readonly Attribute[];
        /** Elements without content: `br`, `img`, and what closes itself. */
        readonly isEmpty: boolean;
      }
    | { readonly kind: 'close'; readonly name: string }
    | { readonly kind: 'text' | 'comment'; readonly text: string }
  );

const EMPTY = wordSet('area base br col embed hr img input link meta param source track wbr');

/** In the order of the text. Texts keep to their places; an entity in one is its own token. */
export function htmlTokens(text: string): readonly HtmlToken[] {
  if (!/<[a-z!/?]/i.test(text)) return [{ kind: 'text', text, start: 0, end: text.length }];
  const tokens: HtmlToken[] = [];
  let open: { name: string; start: number; attributes: Attribute[] } | null = null;
  let attribute: { name: string; pieces: string[]; start: number } | null = null;
  const finish = (end: number, closesItself: boolean) => {
    if (open === null) return;
    const isEmpty = closesItself || EMPTY.has(open.name);
    tokens.push({ kind: 'open', ...open, end: end + 1, isEmpty });
    open = null;
  };
  const tokenizer = new (HTML().Tokenizer)(
    {},
    {
      onopentagname(start, end) {
        open = { name: text.slice(start, end).toLowerCase(), start: start - 1, attributes: [] };
      },
      onopentagend: (end) => finish(end, false),
      onselfclosingtag: (end) => finish(end, true),
      onattribname(start, end) {
        attribute = { name: text.slice(start, end).toLowerCase(), pieces: [], start: -1 };
      },
      onattribdata(start, end) {
        if (attribute === null) return;
        if (attribute.start < 0) attribute.start = start;
        attribute.pieces.push(text.slice(start, end));
      },
      onattribentity(code) {
        attribute?.pieces.push(String.fromCodePoint(code));
      },
      onattribend(quote, behind) {
        if (attribute === null) return;
        const { name, pieces, start } = attribute;
        const { Single, Double } = HTML().QuoteType;
        // A closing quotation mark is no part of the value.
        const end = quote === Single || quote === Double ? behind - 1 : behind;
        open?.attributes.push({ name, value: pieces.join(''), start: start < 0 ? end : start, end });
        attribute = null;
      },
      onclosetag(start, end) {
        const bracket = text.indexOf('>', end);
        const behind = bracket < 0 ? text.length : bracket + 1;
        const name = text.slice(start, end).toLowerCase();
        tokens.push({ kind: 'close', name, start: start - 2, end: behind });
      },
      oncomment(start, end, offset) {
        tokens.push({ kind: 'comment', text: text.slice(start, end - offset), start, end: end - offset });
      },
      ontext(start, end) {
        tokens.push({ kind: 'text', text: text.slice(start, end), start, end });
      },
      ontextentity(code, end) {
        tokens.push({ kind: 'text', text: String.fromCodePoint(code), start: end, end });
      },
      oncdata() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  );
  tokenizer.write(text);
  tokenizer.end();
  return tokens;
}
