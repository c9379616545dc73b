/**
 * Facts that the user stated, taken from the user's own words only and without a model: `name = Ada`, `my city is
 * Turin`. They are the entity memory of the paper (Appendix A-C); an app's words never become facts.
 *
 * Ring 0.
 */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

const MAX_FACTS = 40;
const MAX_VALUE = 500;
/** `key = value`, the value up to the next `, key =` or the end of the sentence. */
const ASSIGNMENT =
  /([\p{L}][\p{L} _-]{0,40}?)\s*=\s*(.+?)(?=(?:[,.;]\s+[\p{L}][\p{L} _-]{0,40}?\s*=)|[.;]\s|[.;]?$)/gmu;
/** `my key is value`. */
const STATEMENT = /\bmy ([\p{L}][\p{L} _-]{0,30}?) (?:is|are) ([^.;,\n]{1,200})/giu;

/** Longer texts are pasted, not stated. */
const MAX_TEXT = 4_000;

export function factsIn(text: string): readonly Fact[] {
  const stated = text.slice(0, MAX_TEXT);
  const found = new Map<string, string>();
  for (const pattern of [ASSIGNMENT, STATEMENT]) {
    for (const match of stated.matchAll(pattern)) {
      const name = factName(match[1] ?? '');
      const value = (match[2] ?? '').trim().slice(0, MAX_VALUE);
      if (name !== '' && value !== '' && found.size < MAX_FACTS) found.set(name, value);
    }
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

function factName(text: string): string {
  return text.trim().toLowerCase().replace(/\s+/g, ' ');
}
