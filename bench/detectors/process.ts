/**
 * `npm run bench:process`: what it costs to ask the confined process of the detectors instead of computing at once: the time of one
 * decision with the default packs about an output of 2,000 characters, with markup (its parser runs in the process) and without (nothing
 * leaves the hub), and about long ones. Both ways take turns in one run. `--json` prints the rows.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_PACKS } from '@cordon/config/packs';
import type { Question } from '@cordon/core';
import { detectorLauncher } from '@cordon/detector-process/launch';
import { readPolicies } from '@cordon/runtime/policies';
import { textQuestionsOf } from '@cordon/runtime/rules';
import { openSandbox } from '@cordon/sandbox';
import { thisMachine } from '../machine.ts';
import { CODE_ROOT } from '../places.ts';
import { summary } from '../sample.ts';

const { values: options } = parseArgs({
  options: { json: { type: 'boolean' }, rounds: { type: 'string', default: '400' } },
});

const PLAIN = 'The meeting with Ms Brown was moved to 14:30; please bring the papers. ';
const MARKUP = '<p>The <b>meeting</b> was moved to 14:30; please bring the papers. ';
const OUTPUTS = [
  ['without markup, 2,000 characters', PLAIN, 2_000],
  ['with markup, 2,000 characters', MARKUP, 2_000],
  ['that may hide text, 2,000 characters', `${MARKUP}<p hidden></p>`, 2_000],
  ['with markup, 100,000 characters', MARKUP, 100_000],
] as const;

const LABEL = { integrity: 'untrusted', confidentiality: 'private' };
const long = textQuestionsOf(detectorLauncher(openSandbox({ node: process.execPath }), CODE_ROOT));
const here = policyWith(undefined);
const confined = policyWith(long.textQuestions);

function policyWith(textQuestions: typeof long.textQuestions | undefined) {
  const read = readPolicies({
    packs: DEFAULT_PACKS,
    files: [],
    ...(textQuestions === undefined ? {} : { textQuestions }),
  });
  if (!read.ok) throw new Error(read.fault[0]?.message);
  return read.value;
}

/** Milliseconds from an output and a call after it to the last decision about them, as the hub makes it. */
async function decision(policy: typeof here, content: string): Promise<number> {
  const monitor = policy.monitor();
  const frame = { context: 'c', app: 'mail', causes: [] };
  const call = {
    ...frame,
    id: 'a',
    type: 'ToolCall',
    callId: '1',
    kind: 'function',
    name: 'read',
    arguments: {},
  };
  const output = { ...frame, id: 'b', type: 'ToolOutput', callId: '1', content, label: LABEL };
  const sent = {
    ...call,
    id: 'c',
    callId: '2',
    name: 'send',
    arguments: { to: 'ada@example.org', body: 'At 14:30.' },
  };
  const began = performance.now();
  for (const event of [call, output, sent]) {
    for (;;) {
      const awaited = new Map<string, Question>();
      monitor.evaluate([event as never], awaited);
      if (awaited.size === 0) break;
      asked += awaited.size;
      await Promise.all([...awaited.values()].map((question) => long.texts.answer(question)));
    }
    monitor.append([event as never]);
  }
  return performance.now() - began;
}

const rows = [];
let asked = 0;
for (const [name, piece, length] of OUTPUTS) {
  asked = 0;
  const times = { here: [] as number[], confined: [] as number[] };
  const rounds = Number(options.rounds) / (length > 10_000 ? 10 : 1);
  for (let round = -20; round < rounds; round++) {
    // Each text is another one: no answer is known before.
    const text = `${round} ${length} ${piece.repeat(Math.ceil(length / piece.length))}`.slice(0, length);
    // Neither always comes first, when the text is new to the caches of the processor.
    const isFirst = round % 2 === 0;
    const before = isFirst ? await decision(here, text) : null;
    const there = await decision(confined, text);
    const at = before ?? (await decision(here, text));
    if (round < 0) continue;
    times.here.push(at);
    times.confined.push(there);
  }
  const [at, there] = [summary(times.here).median, summary(times.confined).median];
  rows.push({ name, here: at, confined: there, more: there - at, unit: 'ms', asked: asked / (rounds + 20) });
}
long.texts.rest();

if (options.json === true) process.stdout.write(`${JSON.stringify({ machine: thisMachine(), rows })}\n`);
else
  for (const row of rows) {
    const [at, there, more] = [row.here, row.confined, row.more].map((time) => `${time.toFixed(3)} ms`);
    const questions = `${row.asked.toFixed(1)} questions`;
    process.stdout.write(`${row.name.padEnd(36)} ${at} at once, ${there} with ${questions}: ${more} more\n`);
  }
