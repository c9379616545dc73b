/** `links`, `html_code` and `link_exfiltration` as rules ask them. */

import type { Json } from '@cordon/core';
import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { MAX_TEXT, marked } from '../text/marking.ts';
import { textsIn } from '../text/text-list.ts';
import { readHtml } from './html-code.ts';
import { findLinkExfiltration, MOST_PRIVATE, privateTexts } from './link-exfiltration.ts';
import { linksIn } from './links.ts';
/** The http and https addresses in the texts, each once, in order; their places are marked. */
export function links({ texts, mark }: DetectorCall): string[] | NoAnswer {
  if (texts.some(({ length }) => length > MAX_TEXT)) return noAnswer('the text is too long to look at');
  const found = new Set<string>();
  for (const [index, text] of texts.entries())
    for (const { url, start, end } of linksIn(text).filter((link) => /^https?:/i.test(link.url))) {
      found.add(url);
      mark(index, start, end);
    }
  return [...found];
}

/** `alt_texts` and `links` of all texts (specification 13.3). */
export function htmlCode({ texts }: DetectorCall): Json | NoAnswer {
  if (texts.some(({ length }) => length > MAX_TEXT)) return noAnswer('the text is too long to look at');
  const pages = texts.map(readHtml);
  return {
    alt_texts: pages.flatMap(({ altTexts }) => [...altTexts]),
    links: [...new Set(pages.flatMap((page) => [...page.links]))],
  };
}

/**
 * The kinds of findings among the addresses: `LINK_EXFILTRATION` for each that carries data out. With `private`, a text or
 * a list of them, an address that holds a part of one is found however it is encoded.
 */
export function linkExfiltration(call: DetectorCall): string[] | NoAnswer {
  const { private: given = null, threshold = 0.5 } = call.given;
  if (typeof threshold !== 'number') return noAnswer('`threshold` is a number from 0 to 1');
  const known = textsIn(given === null ? [] : Array.isArray(given) ? given : [given]);
  if (known === null) return noAnswer('`private` is a text or a list of texts');
  if (known.reduce((sum, { length }) => sum + length, 0) > MOST_PRIVATE)
    return noAnswer('the private texts are too long to look for');
  const index = given === null ? null : privateTexts(known);
  return marked(call, (text) => findLinkExfiltration(text, index), threshold);
}
