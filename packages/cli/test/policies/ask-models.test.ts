import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const RUDE =
  'from invariant.detectors import moderated\nraise "rude" if:\n    (m: Message)\n    moderated(m)';
const TALK = [
  { role: 'user', content: 'good morning' },
  { role: 'user', content: 'you turnip' },
];

/** Scores each text as rude that has a turnip in it, which no list of words does, and keeps what it was asked. */
async function classifier() {
  const asked: unknown[] = [];
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse(await text(request));
    asked.push(input);
    const results = input.map((one: string) => ({
      category_scores: { insult: one.includes('turnip') ? 0.9 : 0 },
    }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { server, asked, url: `http://127.0.0.1:${port}/v1/moderations` };
}

test('with `--ask-models` what rules ask is put to whom the configuration names, and to nobody without', async () => {
  const { server, asked, url } = await classifier();
  using place = new Workplace({
    'rude.gr': RUDE,
    'a.json': TALK,
    'mine.json': { detectors: { moderation: { url } } },
  });
  const args = ['analyze', 'rude.gr', 'a.json', '--json', '--config', 'mine.json'];
  try {
    const started = place.start([...args, '--ask-models']);
    const [out] = await Promise.all([text(started.stdout), once(started, 'exit')]);
    const { errors, undecided } = JSON.parse(out.split('\n')[0] ?? '');
    assert.deepEqual(
      errors.map(({ events }: { events: unknown }) => events),
      [{ m: '1' }],
    );
    assert.deepEqual(undecided, []);
    assert.deepEqual([...asked].sort(), [['good morning'], ['you turnip']]);
    const silent = place.run(args);
    assert.deepEqual(silent.lines, [{ trace: 'a.json', errors: [], undecided: [] }]);
    assert.equal(asked.length, 2);
  } finally {
    server.close();
  }
});

test('with `--ask-models` a scan reads a log again when all is answered, and tells what analysis tells', async (t) => {
  if (isLeftOut(t)) return;
  const { server, asked, url } = await classifier();
  const log = [TALK, [TALK[0]], TALK].map((trace) => `${JSON.stringify(trace)}\n`).join('');
  using place = new Workplace({
    'rude.gr': RUDE,
    'log.jsonl': log,
    'mine.json': { detectors: { moderation: { url } } },
  });
  const args = ['scan', 'rude.gr', 'log.jsonl', '--json', '--config', 'mine.json'];
  try {
    const started = place.start([...args, '--ask-models', '--jobs', '4']);
    const [out, [code]] = await Promise.all([text(started.stdout), once(started, 'exit')]);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.slice(0, -1).map(({ trace, errors, undecided }) => [trace, errors.length, undecided.length]),
      [
        ['log.jsonl:1', 1, 0],
        ['log.jsonl:3', 1, 0],
      ],
    );
    const { traces, violations, undecided } = lines.at(-1);
    assert.deepEqual([code, traces, violations, undecided], [1, 3, 2, 0]);
    assert.deepEqual([...asked].sort(), [['good morning'], ['you turnip']]);
    assert.equal(place.run(args).code, 0);
    assert.equal(asked.length, 2);
  } finally {
    server.close();
  }
});

test('with `--ask-models` a monitor decides a line when all that is asked about it is answered', async (t) => {
  if (isLeftOut(t)) return;
  const { server, asked, url } = await classifier();
  using place = new Workplace({ 'rude.gr': RUDE, 'mine.json': { detectors: { moderation: { url } } } });
  const input = TALK.map((message) => `${JSON.stringify(message)}\n`).join('');
  const args = ['monitor', 'rude.gr', '--config', 'mine.json'];
  try {
    const started = place.start([...args, '--ask-models']);
    started.stdin.end(input);
    const [out, [code]] = await Promise.all([text(started.stdout), once(started, 'exit')]);
    const verdicts = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).verdict);
    assert.deepEqual([verdicts, code], [['allow', 'deny'], 1]);
    assert.deepEqual(asked, [['good morning'], ['you turnip']]);
    assert.deepEqual(
      place.run(args, { input }).lines.map((line) => Object(line).verdict),
      ['allow', 'allow'],
    );
  } finally {
    server.close();
  }
});

test('`--ask-models` without anybody to ask is refused', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'rude.gr': RUDE, 'a.json': TALK, 'mine.json': {} });
  for (const command of ['analyze', 'scan', 'monitor']) {
    const traces = command === 'monitor' ? [] : ['a.json'];
    const { code, err } = place.run([command, 'rude.gr', ...traces, '--config', 'mine.json', '--ask-models']);
    assert.equal(code, 2, command);
    assert.match(err, /no model or service is configured for detectors/, command);
  }
});
