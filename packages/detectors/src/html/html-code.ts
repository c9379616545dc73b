/** What `html_code` tells of a page: alternative texts of its pictures, and its addresses. Ring 1. */
import { linksIn } from '../links/links.ts';
import { htmlTokens } from './tokens.ts';

export interface HtmlCode {
  /** Of each `img`, in order; an empty one too. */
  readonly altTexts: readonly string[];
  /** Targets of `a`, also relative ones, and every other address; each once. */
  readonly links: readonly string[];
}

export function readHtml(text: string): HtmlCode {
  const altTexts: string[] = [];
  const links = new Set<string>();
  for (const token of htmlTokens(text)) {
    if (token.kind !== 'open') continue;
    for (const { name, value } of token.attributes) {
      if (token.name === 'img' && name === 'alt') altTexts.push(value);
      if (token.name === 'a' && name === 'href') links.add(value);
    }
  }
  for (const { url } of linksIn(text)) links.add(url);
  return { altTexts, links: [...links] };
}
