/**
 * What a text is about, by its words. It knows lists and no meaning: a text that says `mortgage` is about finance, whatever it
 * says of it, and one that talks round a topic in other words is not found.
 */
import type { Finding } from '../text/finding.ts';
import { once } from '../text/on-demand.ts';
import { TOPIC_WORDS, type TopicWords } from './word-lists.ts';

/** What one word, or two, say for a topic. */
interface Vote {
  readonly topic: string;
  readonly weight: number;
}

const TELLING = 1;
const USUAL = 0.5;
/** A text has as much to say as this many words, and a longer one has to say it more often. */
const WORDS = 80;

export type Vocabulary = ReadonlyMap<string, readonly Vote[]>;

/** Topics that there are lists of. */
export const TOPICS: readonly string[] = Object.keys(TOPIC_WORDS);

/** A vocabulary of topics of the rule's own: each word of a list tells by itself. */
export function vocabularyOf(own: Readonly<Record<string, readonly string[]>>): Vocabulary {
  const votes = new Map<string, Vote[]>();
  for (const [topic, words] of Object.entries(own))
    for (const word of words) vote(votes, keyOf(word), topic, TELLING);
  return votes;
}

const standardVocabulary = once((): Vocabulary => {
  const votes = new Map<string, Vote[]>();
  for (const [topic, lists] of Object.entries(TOPIC_WORDS)) addLists(votes, topic, lists);
  return votes;
});

function addLists(votes: Map<string, Vote[]>, topic: string, { telling, usual }: TopicWords): void {
  const key = (word: string) => keyOf(word.replaceAll('-', ' '));
  for (const word of telling.split(/\s+/)) vote(votes, key(word), topic, TELLING);
  for (const word of usual.split(/\s+/)) vote(votes, key(word), topic, USUAL);
}

function vote(votes: Map<string, Vote[]>, key: string, topic: string, weight: number): void {
  const known = votes.get(key) ?? [];
  votes.set(key, known);
  if (!known.some((one) => one.topic === topic)) known.push({ topic, weight });
}

const WORD = /[\p{L}\p{N}]+/gu;
const LONGEST_KEY = 4;

/** The stems of a text's words, in order. */
function stemsOf(text: string): readonly string[] {
  // A text says most of its words more than once.
  const known = new Map<string, string>();
  return (text.match(WORD) ?? []).map((word) => {
    const old = known.get(word);
    if (old !== undefined) return old;
    const stem = stemOf(word);
    known.set(word, stem);
    return stem;
  });
}

/** The key of a word, or of some that stand together. */
function keyOf(words: string): string {
  return stemsOf(words).join(' ');
}

/** Without accents and the commonest endings; the same for lists and texts. */
function stemOf(word: string): string {
  const plain = word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  if (plain.length < 5) return plain.length > 3 ? plain.replace(/s$/, '') : plain;
  const short = plain.replace(/(?:ies|y)$/, 'i').replace(/(?:ings?|ed|es|s|e|er|ers|en)$/, '');
  return short.length < 3 ? plain : short;
}

const KNOWN_LONGEST = new WeakMap<Vocabulary, ReadonlyMap<string, number>>();

/** By the first word of keys: how many words the longest of them has. */
function longestKeys(vocabulary: Vocabulary): ReadonlyMap<string, number> {
  const known = KNOWN_LONGEST.get(vocabulary);
  if (known !== undefined) return known;
  const longest = new Map<string, number>();
  for (const key of vocabulary.keys()) {
    const words = key.split(' ');
    const [first = ''] = words;
    longest.set(first, Math.max(longest.get(first) ?? 0, Math.min(words.length, LONGEST_KEY)));
  }
  KNOWN_LONGEST.set(vocabulary, longest);
  return longest;
}

/** Each topic that a text is about, over the whole text, and how sure that is; the strongest first. */
export function findTopics(text: string, own: Vocabulary | null = null): readonly Finding[] {
  const vocabulary = own ?? standardVocabulary();
  const longest = longestKeys(vocabulary);
  const stems = stemsOf(text);
  const said = new Map<string, { sum: number; keys: Set<string>; first: string }>();
  for (const [at, first] of stems.entries()) {
    let key = first;
    const most = Math.min(longest.get(first) ?? 0, stems.length - at);
    for (let count = 1; count <= most; count++) {
      if (count > 1) key = `${key} ${stems[at + count - 1] ?? ''}`;
      for (const { topic, weight } of vocabulary.get(key) ?? NO_VOTES) {
        const known = said.get(topic) ?? { sum: 0, keys: new Set<string>(), first: key };
        said.set(topic, known);
        // A repeated word adds a little.
        known.sum += known.keys.has(key) ? weight / 4 : weight;
        known.keys.add(key);
      }
    }
  }
  const length = Math.max(1, stems.length / WORDS);
  return [...said]
    .map(([kind, { sum, first }]) => ({
      kind,
      start: 0,
      end: text.length,
      confidence: sum / length / (sum / length + 1),
      reason: `words like \`${first}\``,
    }))
    .sort((a, b) => b.confidence - a.confidence);
}

const NO_VOTES: readonly Vote[] = [];
