/**
 * Logistic regression over signs, pairs of signs and words: what a window of sentences weighs, and the surest window
 * of a text. The weights are data (`weights.json`), written by `bench/detectors/training/train-prompt-injection.ts`.
 */
import { PAIRS, pairAt, type Sentence, WINDOW, WORD_BITS } from './features.ts';
import { SIGNS } from './signs.ts';

export interface Weights {
  readonly bias: number;
  readonly signs: Float32Array;
  readonly pairs: Float32Array;
  readonly words: Float32Array;
}

export function emptyWeights(): Weights & { bias: number } {
  return {
    bias: 0,
    signs: new Float32Array(SIGNS.length),
    pairs: new Float32Array(PAIRS),
    words: new Float32Array(1 << WORD_BITS),
  };
}

/** As the file holds them: bytes in base64, a scale each. */
export interface StoredWeights {
  readonly signNames: readonly string[];
  readonly bias: number;
  readonly signs: readonly number[];
  readonly pairs: { readonly scale: number; readonly bytes: string };
  readonly words: { readonly scale: number; readonly bytes: string };
}

/** Throws if the file was trained for other signs: that is a bug of the change to them. */
export function readWeights({ signNames, bias, signs, pairs, words }: StoredWeights): Weights {
  if (signNames.join() !== SIGNS.map(({ name }) => name).join()) throw new Error('weights for other signs');
  return { bias, signs: Float32Array.from(signs), pairs: unpacked(pairs), words: unpacked(words) };
}

function unpacked({ scale, bytes }: { readonly scale: number; readonly bytes: string }): Float32Array {
  return Float32Array.from(new Int8Array(Buffer.from(bytes, 'base64')), (byte) => byte * scale);
}

export interface Window {
  /** First sentence, and the one behind the last. */
  readonly first: number;
  readonly next: number;
  /** From 0 to 1. */
  readonly score: number;
}

/** What a sentence adds to every window that it is in. */
interface Weighed {
  readonly words: number;
  readonly count: number;
  readonly signs: number;
}

/** All windows of one to three sentences that follow one another, each with how much it looks like orders to an agent. */
export function windowsOf(sentences: readonly Sentence[], weights: Weights): readonly Window[] {
  const weighed = sentences.map(({ words, signs }): Weighed => {
    let sum = 0;
    for (const word of words) sum += weights.words[word] ?? 0;
    return { words: sum, count: words.length, signs };
  });
  const windows: Window[] = [];
  const bySigns = new Map<number, number>();
  for (let first = 0; first < weighed.length; first++) {
    let [words, count, signs] = [0, 0, 0];
    for (let next = first + 1; next <= Math.min(first + WINDOW, weighed.length); next++) {
      const added = weighed[next - 1];
      if (added === undefined) break;
      words += added.words;
      count += added.count;
      signs |= added.signs;
      const known = bySigns.get(signs) ?? weightOfSigns(signs, weights);
      bySigns.set(signs, known);
      windows.push({
        first,
        next,
        score: logistic(weights.bias + known + words / Math.sqrt(Math.max(1, count))),
      });
    }
  }
  return windows;
}

function weightOfSigns(signs: number, weights: Weights): number {
  const set = signIndices(signs);
  let sum = 0;
  for (const [at, first] of set.entries()) {
    sum += weights.signs[first] ?? 0;
    for (const second of set.slice(at + 1)) sum += weights.pairs[pairAt(first, second)] ?? 0;
  }
  return sum;
}

export function signIndices(signs: number): readonly number[] {
  return SIGNS.flatMap((_, bit) => ((signs >>> bit) & 1 ? [bit] : []));
}

export function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
