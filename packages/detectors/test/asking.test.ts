import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, type Json, ok, type Question, type ServiceName } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { ExplainingMonitor } from '@cordon/policy-tools';
import { KeptAnswers, standardDetectors } from '../src/index.ts';

/** Decides a rule about one text again and again until nobody is asked any more; the questions, and what came out. */
function decided(
  line: string,
  content: string,
  answer: (question: Question) => Json | undefined,
  offers: readonly ServiceName[] = ['llm', 'embedding', 'moderation', 'ocr'],
): { readonly questions: readonly Question[]; readonly verdict: string; readonly reason: string } {
  const book = new KeptAnswers(() => 0);
  const detectors = standardDetectors({ book, offers: new Set(offers), model: 'local/judge' });
  const text = `from invariant import llm, llm_confirm
from invariant.detectors import is_similar, embedding_similarity, moderated
from invariant.parsers import ocr
raise "so" if:
    (m: Message)
    ${line}`;
  const policy = loadPolicy(text, { detectors });
  assert.ok(policy.ok, JSON.stringify(policy));
  const questions: Question[] = [];
  const event = {
    id: 'm',
    context: 'c',
    app: null,
    causes: [],
    type: 'Message',
    role: 'user',
    content,
    toolCalls: [],
  } as const;
  for (;;) {
    const monitor = new ExplainingMonitor(policy.value);
    const awaited = new Map<string, Question>();
    monitor.decide([event], awaited);
    if (awaited.size === 0) {
      const { verdict, reasons } = monitor.decide([event]);
      return { questions, verdict, reason: reasons[0]?.message ?? '' };
    }
    for (const question of awaited.values()) {
      questions.push(question);
      const said = answer(question);
      book.keep(question, said === undefined ? failed('it is closed') : ok(said));
    }
  }
}

test('`llm` gives what the model says, `llm_confirm` whether it says yes', () => {
  const line = 'llm("Which language: " + m.content) == "English"';
  const one = decided(line, 'hello', () => 'English');
  assert.deepEqual(
    one.questions.map(({ service, input }) => [service, input]),
    [['llm', { prompt: 'Which language: hello', system: 'You are a helpful assistant.' }]],
  );
  assert.equal(one.verdict, 'deny');
  assert.equal(decided(line, 'hallo', () => 'German').verdict, 'allow');
  const confirm = 'llm_confirm("Is this rude? " + m.content)';
  assert.equal(decided(confirm, 'you!', () => 'Yes.').verdict, 'deny');
  assert.equal(decided(confirm, 'you!', () => '**No**').verdict, 'allow');
  const unsure = decided(confirm, 'you!', () => 'Nobody can say, yes or no');
  assert.match(unsure.reason, /neither yes nor no/);
});

test('a rule names the model that is set up, or none', () => {
  assert.equal(decided('llm(m.content, model="local/judge") == "x"', 'a', () => 'x').verdict, 'deny');
  const other = decided('llm(m.content, model="openai/gpt-4o") == "x"', 'a', () => 'x');
  assert.deepEqual([other.questions.length, other.verdict], [0, 'deny']);
  assert.match(other.reason, /the model is the one that cordon.json names/);
});

const VECTORS: Readonly<Record<string, readonly number[]>> = { cat: [1, 0], kitten: [0.9, 0.1], tax: [0, 1] };

test('similarity is that of the vectors that a service gives', () => {
  const answer = ({ input }: Question): Json =>
    (input.texts as string[]).map((text) => [...(VECTORS[text] ?? [])]);
  const line = 'is_similar(m.content, "cat", threshold="very_similar")';
  assert.equal(decided(line, 'kitten', answer).verdict, 'deny');
  assert.equal(decided(line, 'tax', answer).verdict, 'allow');
  assert.equal(decided('embedding_similarity(m, ["cat", "tax"]) > 0.9', 'kitten', answer).verdict, 'deny');
  assert.equal(
    decided('embedding_similarity(m, ["cat", "tax"], mode="min") > 0.9', 'kitten', answer).verdict,
    'allow',
  );
  for (const bad of [
    [[1]],
    'x',
    [[1], ['y']],
    [[1, 2], [1]],
    [[], []],
    [
      [0, 0],
      [1, 0],
    ],
    [[1e200], [1e200]],
  ])
    assert.match(decided(line, 'kitten', () => bad).reason, /another shape/);
});

test('`moderated` asks for all pieces at once and compares each category with its threshold', () => {
  const scores = ({ input }: Question): Json =>
    (input.texts as string[]).map((text) => ({ hate: text.includes('hate') ? 0.7 : 0.1 }));
  const one = decided('moderated(m)', 'fine\n\nI hate it', scores);
  assert.deepEqual(
    one.questions.map(({ input }) => input),
    [{ texts: ['fine', 'I hate it'] }],
  );
  assert.equal(one.verdict, 'deny');
  assert.equal(decided('moderated(m, cat_thresholds={"hate": 0.8})', 'I hate it', scores).verdict, 'allow');
  assert.equal(decided('moderated(m, default_threshold=0.8)', 'I hate it', scores).verdict, 'allow');
  assert.match(decided('moderated(m)', 'a', () => [{ hate: 'much' }]).reason, /another shape/);
  assert.match(decided('moderated(m)', 'a', () => [{}]).reason, /another shape/);
  // As the service calls it: a category of another name would never be found.
  const misnamed = decided('moderated(m, cat_thresholds={"Hate": 0.1})', 'I hate it', scores);
  assert.match(misnamed.reason, /says nothing of a category that the rule names/);
});

test('`ocr` takes pictures in data URLs and nothing else', () => {
  const url = 'data:image/png;base64,AAAA';
  assert.equal(decided('"pay" in ocr([m.content])[0]', url, () => ['please pay']).verdict, 'deny');
  assert.match(decided('"pay" in ocr([m.content])[0]', 'https://x.org/a.png', () => []).reason, /data URLs/);
  assert.match(decided('"pay" in ocr([m.content])[0]', url, () => []).reason, /another shape/);
  assert.match(decided('len(ocr(m)) > 0', url, () => []).reason, /the pictures that `image` gives/);
  assert.equal(decided('len(ocr(image(m))) > 0', 'no picture', () => []).verdict, 'allow');
});

test('where nobody answers, and where it fails, the rule is undecided with the reason', () => {
  const silent = decided('llm(m.content) == "x"', 'a', () => 'x', []);
  assert.deepEqual([silent.questions.length, silent.verdict], [0, 'deny']);
  assert.match(silent.reason, /`llm` is not set up: see `detectors` in cordon.json/);
  assert.match(decided('llm(m.content) == "x"', 'a', () => undefined).reason, /it is closed/);
  assert.match(decided('llm(m.content) == "x"', 'a'.repeat(200_001), () => 'x').reason, /more than 200000/);
});

test('answers are kept, failures for half a minute, and not more than a thousand', () => {
  let now = 0;
  const book = new KeptAnswers(() => now);
  const question = (digest: string): Question => ({ service: 'llm', digest, input: {} });
  book.keep(question('a'), ok('yes'));
  book.keep(question('b'), failed('closed'));
  now = 29_999;
  assert.deepEqual(book.find(question('b')), failed('closed'));
  now = 30_000;
  assert.deepEqual([book.find(question('a')), book.find(question('b'))], [ok('yes'), null]);
  for (let index = 0; index < 1_000; index++) book.keep(question(`n${index}`), ok(index));
  assert.deepEqual([book.find(question('a')), book.find(question('n0'))], [null, ok(0)]);
});

test('answers are let go when they come to too much together, and the last one never', () => {
  const book = new KeptAnswers(() => 0);
  const question = (digest: string): Question => ({ service: 'llm', digest, input: {} });
  const long = 'x'.repeat(3_000_000);
  for (const digest of ['1', '2', '3', '3']) book.keep(question(digest), ok([[digest, long]]));
  assert.deepEqual(
    ['1', '2', '3'].map((digest) => book.find(question(digest)) !== null),
    [false, true, true],
  );
  book.keep(question('4'), ok([long, long, long]));
  assert.equal(book.find(question('3')), null);
  assert.ok(book.find(question('4')));
});
