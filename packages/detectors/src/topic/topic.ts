/**
 * What a text is about, by its words. It knows lists and no meaning: a text that says `mortgage` is about finance, whatever it
 * says of it, and one that talks round a topic in other words is not found. Ring 1.
 */
import type { Finding } from '../finding.ts';
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
    for (const word of words)
      vote(
        votes,
        tokensOf(word)
          .map(({ stem }) => stem)
          .join(' '),
        topic,
        TELLING,
      );
  return votes;
}

let standard: Vocabulary | null = null;

function standardVocabulary(): Vocabulary {
  if (standard !== null) return standard;
  const votes = new Map<string, Vote[]>();
  for (const [topic, lists] of Object.entries(TOPIC_WORDS)) addLists(votes, topic, lists);
  standard = votes;
  return votes;
}

function addLists(votes: Map<string, Vote[]>, topic: string, { telling, usual }: TopicWords): void {
  const key = (word: string) =>
    tokensOf(word.replaceAll('-', ' '))
      .map(({ stem }) => stem)
      .join(' ');
  for (const word of telling.split(/\s+/)) vote(votes, key(word), topic, TELLING);
  for (const word of usual.split(/\s+/)) vote(votes, key(word), topic, USUAL);
}

function vote(votes: Map<string, Vote[]>, key: string, topic: string, weight: number): void {
  const known = votes.get(key) ?? [];
  votes.set(key, known);
  if (!known.some((one) => one.topic === topic)) known.push({ topic, weight });
}

interface Token {
  readonly stem: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}]+/gu;
const LONGEST_KEY = 4;

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    stem: stemOf(word),
    start: index,
    end: index + word.length,
  }));
}

/** Without accents and the commonest endings; the same for lists and texts. */
function stemOf(word: string): string {
  const plain = word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  if (plain.length < 5) return plain.length > 3 ? plain.replace(/s$/, '') : plain;
  const short = plain.replace(/(?:ies|y)$/, 'i').replace(/(?:ings?|ed|es|s|e|er|ers|en)$/, '');
  return short.length < 3 ? plain : short;
}

/** Each topic that a text is about, over the whole text, and how sure that is; the strongest first. */
export function findTopics(text: string, own: Vocabulary | null = null): readonly Finding[] {
  const vocabulary = own ?? standardVocabulary();
  const tokens = tokensOf(text);
  const said = new Map<string, { sum: number; keys: Set<string>; first: string }>();
  for (let at = 0; at < tokens.length; at++) {
    let key = '';
    for (let count = 1; count <= LONGEST_KEY && at + count <= tokens.length; count++) {
      key = count === 1 ? (tokens[at]?.stem ?? '') : `${key} ${tokens[at + count - 1]?.stem ?? ''}`;
      for (const { topic, weight } of vocabulary.get(key) ?? NO_VOTES) {
        const known = said.get(topic) ?? { sum: 0, keys: new Set<string>(), first: key };
        said.set(topic, known);
        // What is said again says a little more.
        known.sum += known.keys.has(key) ? weight / 4 : weight;
        known.keys.add(key);
      }
    }
  }
  const length = Math.max(1, tokens.length / WORDS);
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
