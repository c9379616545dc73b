/**
 * Trains the classifier of `prompt_injection` and writes its weights: `node bench/detectors/training/train-prompt-injection.ts`.
 * Logistic regression with AdaGrad. A text is only known to hold an order, not where, so of an injected text the surest window
 * learns that it is one, and of any other text the surest windows that they are not. Seeded: the same weights each time.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  emptyWeights,
  pairAt,
  type Sentence,
  SIGNS,
  type StoredWeights,
  sentencesIn,
  signIndices,
  type Window,
  windowsOf,
} from '@cordon/detectors/parts';
import { Chance } from '../generation/writing.ts';
import { trainingTexts } from './prompt-injection-texts.ts';

const FILE = join(import.meta.dirname, '../../../packages/detectors/src/prompt-injection/weights.json');
const TEXTS = 32_000;
const EPOCHS = 6;
const RATE = { signs: 0.12, pairs: 0.06, words: 0.12 };
/** Towards zero at each step: what only one text has shall not weigh much. */
const DECAY = { signs: 1e-4, pairs: 4e-4, words: 3e-4 };

const chance = new Chance(20_260_606);
const weights = emptyWeights();
const seen = {
  signs: weights.signs.map(() => 1),
  pairs: weights.pairs.map(() => 1),
  words: weights.words.map(() => 1),
};

function step(table: 'signs' | 'pairs' | 'words', at: number, slope: number): void {
  const [values, squares] = [weights[table], seen[table]];
  const value = values[at] ?? 0;
  const gradient = slope + DECAY[table] * value;
  squares[at] = (squares[at] ?? 1) + gradient * gradient;
  values[at] = value - (RATE[table] * gradient) / Math.sqrt(squares[at] ?? 1);
}

function learn(sentences: readonly Sentence[], { first, next, score }: Window, is: number): void {
  const inside = sentences.slice(first, next);
  const all = signIndices(inside.reduce((set, sentence) => set | sentence.signs, 0));
  // An order in real data shows fewer signs than those of the frames: some are left out, so that each learns to stand alone.
  const signs = is === 1 ? thinned(all) : all;
  const count = inside.reduce((sum, { words }) => sum + words.length, 0);
  const slope = (is === 1 ? scoreOf(inside, signs, count) : score) - is;
  weights.bias -= 0.02 * slope;
  for (const [at, sign] of signs.entries()) {
    step('signs', sign, slope);
    for (const other of signs.slice(at + 1)) step('pairs', pairAt(sign, other), slope);
  }
  const share = slope / Math.sqrt(Math.max(1, count));
  for (const { words } of inside) for (const word of words) step('words', word, share);
}

function thinned(signs: readonly number[]): readonly number[] {
  const kept = signs.filter(() => chance.next() < 0.6);
  return kept.length > 0 ? kept : signs;
}

function scoreOf(inside: readonly Sentence[], signs: readonly number[], count: number): number {
  const set = signs.reduce((bits, sign) => bits | (1 << sign), 0);
  const words = inside.flatMap((sentence) => [...sentence.words]);
  const [whole] = windowsOf([{ start: 0, end: 0, signs: set, words: Uint16Array.from(words) }], weights);
  return count === 0 || whole === undefined ? 0.5 : whole.score;
}

function surest(windows: readonly Window[]): Window | undefined {
  return windows.reduce<Window | undefined>(
    (best, one) => (best === undefined || one.score > best.score ? one : best),
    undefined,
  );
}

const texts = trainingTexts(chance, TEXTS).map(({ text, isInjection }) => ({
  sentences: sentencesIn(text),
  isInjection,
}));
for (let epoch = 0; epoch < EPOCHS; epoch++) {
  let right = 0;
  for (const { sentences, isInjection } of chance.shuffled(texts)) {
    const windows = windowsOf(sentences, weights);
    const best = surest(windows);
    if (best === undefined) continue;
    if (best.score > 0.5 === isInjection) right++;
    learn(sentences, best, isInjection ? 1 : 0);
    if (isInjection) continue;
    for (const window of windows.filter((one) => one !== best && one.score > 0.2).slice(0, 4))
      learn(sentences, window, 0);
  }
  console.log(`epoch ${epoch + 1}: ${((100 * right) / texts.length).toFixed(2)} % right`);
}

function packed(values: Float32Array): StoredWeights['words'] {
  const greatest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6);
  const scale = Number((greatest / 127).toPrecision(6));
  const bytes = Int8Array.from(values, (value) => Math.round(value / scale));
  return { scale, bytes: Buffer.from(bytes.buffer).toString('base64') };
}

const stored: StoredWeights = {
  signNames: SIGNS.map(({ name }) => name),
  bias: Number(weights.bias.toFixed(4)),
  signs: [...weights.signs].map((value) => Number(value.toFixed(4))),
  pairs: packed(weights.pairs),
  words: packed(weights.words),
};
writeFileSync(FILE, `${JSON.stringify(stored, null, 2)}\n`);
console.log(`bias ${stored.bias}`);
for (const [at, name] of stored.signNames.entries()) console.log(`${name} ${stored.signs[at]}`);
