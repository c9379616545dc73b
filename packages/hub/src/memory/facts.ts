/**
 * Facts that the user stated: the entities of the paper (Appendix A-C1), each a name and a value. Patterns and a model find
 * them, and what they find is a claim: here it is checked.
 *
 * INVARIANT (own words): a fact's value stands, word for word, in the user's own words. No word of an app, and nothing that a
 * model made up, becomes a fact.
 */
import { isJsonObject, type Json, type JsonSchema, misfitOfData, parseJson } from '@cordon/core';
import { placeOfWord } from '../context/session-texts.ts';
import { unquotedText } from '../context/unquoted-text.ts';
import { entityName, type FactKind, kindNamed } from './entity-name.ts';

export interface Fact {
  readonly name: string;
  readonly value: string;
}

const MAX_FACTS = 40;
const MAX_VALUE = 500;

/** What `find` finds in the user's own words of a message, as far as it is facts. Of two values of one name the last counts. */
export function factsIn(message: string, find: (words: string) => readonly Fact[]): readonly Fact[] {
  const words = unquotedText(message);
  return checked(find(words), words);
}

/** What a model answers that is asked for the facts of a message. */
export const FACTS_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    facts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, value: { type: 'string' } },
        required: ['name', 'value'],
        additionalProperties: false,
      },
    },
  },
  required: ['facts'],
  additionalProperties: false,
};

/** The pairs of a model's answer that are facts, none where it is no such answer. */
export function factsFrom(answer: string, message: string): readonly Fact[] {
  const json = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
  const parsed = parseJson(json);
  const listed = parsed.ok && isJsonObject(parsed.value) ? parsed.value.facts : undefined;
  if (!Array.isArray(listed)) return [];
  return checked(listed.flatMap(pairIn), unquotedText(message));
}

/** By the invariant above. */
function checked(claims: readonly Fact[], words: string): readonly Fact[] {
  const found = new Map<string, string>();
  for (const claim of claims) {
    const fact = factOf(claim.name, claim.value);
    if (fact !== null && found.size < MAX_FACTS && isStatedIn(fact.value, words))
      found.set(fact.name, fact.value);
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** Whether a value that is kept as a fact can have come from a message. */
export function isStatedIn(value: string, message: string): boolean {
  return placeOfWord(message, message, value) >= 0;
}

function pairIn(entry: Json): readonly Fact[] {
  if (!isJsonObject(entry)) return [];
  const { name, value } = entry;
  return typeof name === 'string' && typeof value === 'string' ? [{ name, value: value.trim() }] : [];
}

/** A name that is no path and no sentence: `app/name` is the name of what an app said. */
const NAME = /^\p{L}[\p{L}\p{N} _-]{0,40}$/u;
/** Attack: what opens an account is offered to an app as a fact. */
const SECRET =
  /pass ?(?:w[oö]rd|w[oö]rt|phrase|code|key)|kennw[oö]rt|\bpins?\b|\bpin ?code|\bp(?:w|wd|asswd)\b|\b[tp]ans?\b|\bcv[cv]\d?\b|secret|token|credential|api ?key|private key|wi-?fi key|(?:credit|debit) ?card|kreditkarte|(?:login|security|access|recovery|verification) ?code/iu;
/** Attack: a name that looks like another one: `password` with a letter of another alphabet. */
const MIXED = /(?=.*\p{Script=Latin})(?=.*[\p{Script=Cyrillic}\p{Script=Greek}])/u;

/** Null: the name is none, or the value is not of the kind that the name stands for. */
function factOf(named: string, value: string): Fact | null {
  const name = entityName(named);
  if (
    !NAME.test(name) ||
    MIXED.test(name) ||
    SECRET.test(name.replace(/[_-]+/g, ' ')) ||
    value === '' ||
    value.length > MAX_VALUE
  )
    return null;
  return misfit(kindNamed(name), value) ? null : { name, value };
}

function misfit(kind: FactKind | null, value: string): boolean {
  // Attack: a value that shows as another one: direction marks, characters without width.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)) return true;
  if (kind === null) return false;
  // The user says a date in words; as text it is one line like any other.
  return misfitOfData(kind === 'birth-date' ? 'preference' : kind, value) !== null;
}
