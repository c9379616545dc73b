/** What `html_code` tells of a page: alternative texts of its pictures, and its addresses. */

import { type Attribute, htmlTokens } from '../html/tokens.ts';
import type { Finding } from '../text/finding.ts';
import { linksIn } from './links.ts';

export interface HtmlCode {
  /** Of each `img`, in order; an empty one too. */
  readonly altTexts: readonly string[];
  /** Targets of `a`, also relative ones, and every other address; each once. */
  readonly links: readonly string[];
}

/** What a page says without showing it as text, at its place there. */
export interface HtmlPart extends Finding {
  readonly kind: 'ALT_TEXT' | 'LINK';
  /** With its entities decoded. */
  readonly value: string;
}

export function readHtml(text: string): HtmlCode {
  const parts = htmlParts(text);
  const valuesOf = (wanted: HtmlPart['kind']) =>
    parts.filter(({ kind }) => kind === wanted).map(({ value }) => value);
  return { altTexts: valuesOf('ALT_TEXT'), links: [...new Set(valuesOf('LINK'))] };
}

/** Those of elements in the order of the text, and then the addresses that stand elsewhere. */
export function htmlParts(text: string): readonly HtmlPart[] {
  const found: HtmlPart[] = [];
  const places = new Set<number>();
  for (const token of htmlTokens(text)) {
    if (token.kind !== 'open') continue;
    const alternative = token.name === 'img' ? firstOf(token.attributes, 'alt') : undefined;
    if (alternative !== undefined) found.push(part('ALT_TEXT', alternative));
    const target = token.name === 'a' ? firstOf(token.attributes, 'href') : undefined;
    if (target === undefined) continue;
    found.push(part('LINK', target));
    places.add(target.start);
  }
  for (const { url, start, end } of linksIn(text))
    if (!places.has(start)) found.push(part('LINK', { value: url, start, end }));
  return found;
}

/** Of two attributes of one name, a browser takes the first. */
function firstOf(attributes: readonly Attribute[], wanted: string): Attribute | undefined {
  return attributes.find(({ name }) => name === wanted);
}

function part(kind: HtmlPart['kind'], { value, start, end }: Omit<Attribute, 'name'>): HtmlPart {
  return { kind, value, start, end, confidence: 1, reason: 'what stands in the page' };
}
