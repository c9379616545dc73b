/**
 * `node bench/policy/origin.ts`: what it costs to ask where an argument came from, after sessions of different lengths, and
 * what a monitor keeps for it. Arguments are addresses that the user named, that a tool returned, or that stand nowhere;
 * and subjects of four words that every output has. See docs/benchmarks.md.
 *
 * Exit codes: 0 every aim is met, 1 one is missed.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadPolicy, type TraceEvent } from '@cordon/policy';
import { ExplainingMonitor } from '@cordon/policy-tools';
import { thisMachine } from '../machine.ts';
import { eventAt } from './session.ts';

const LENGTHS = [100, 100_000];
const DECISIONS = 3_000;
const ROUNDS = 5;
const AIM = 20;
/** Every word of it stands in more places than are kept: the most that one question can cost. */
const WORST = 'words of every page in another order';

const RULE = `raise "not named by you" if:
    (mail: ToolCall)
    mail is tool:send
    not from_user(mail.arguments.value)
    any([s.kind == "output" and "public" in s.labels for s in origin(mail.arguments.value)])
`;

const VALUES: Readonly<Record<string, (next: number) => string>> = {
  'named by the user': (next) => `user${next % 30}@bluesparrowtech.com`,
  'of an output': (next) => `colleague${next % 30}@bluesparrowtech.com`,
  'found nowhere': (next) => `nobody${next}@example.org`,
  'four words of every page': () => 'lines of a page',
  [WORST]: () => 'page a of lines',
};

/** As in the other measurements, with an address in each message and output. */
function spokenAt(position: number): TraceEvent {
  const event = eventAt(position);
  const name = Math.floor(position / 6) % 30;
  if (event.type === 'Message')
    return { ...event, content: `${event.content} Ask user${name}@bluesparrowtech.com.` };
  if (event.type !== 'ToolOutput') return event;
  return { ...event, content: `From: colleague${name}@bluesparrowtech.com\n${event.content}`.slice(0, 400) };
}

function heapMegabytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

/** The middle one of many decisions, in microseconds. */
function decision(monitor: ExplainingMonitor, value: (next: number) => string): number {
  const times: number[] = [];
  for (let next = 0; next < DECISIONS; next++) {
    const call = { type: 'ToolCall', callId: 'next', kind: 'function', name: 'send' } as const;
    const event: TraceEvent = { ...call, arguments: { value: value(next) } };
    const start = process.hrtime.bigint();
    monitor.decide([event]);
    times.push(Number(process.hrtime.bigint() - start) / 1_000);
  }
  return times.sort((a, b) => a - b)[DECISIONS / 2] ?? Number.NaN;
}

function main(): number {
  const policy = loadPolicy(RULE);
  if (!policy.ok) throw new Error(policy.fault.map(({ message }) => message).join('; '));
  const { cpu, node, load } = thisMachine();
  console.log(`${cpu}; Node ${node}; load ${load}\n`);
  let isMissed = false;
  for (const length of LENGTHS) {
    const before = heapMegabytes();
    const monitor = new ExplainingMonitor(policy.value);
    const start = performance.now();
    for (let position = 0; position < length; position++) monitor.append([spokenAt(position)]);
    const each = ((performance.now() - start) * 1_000) / length;
    const kept = heapMegabytes() - before;
    const after = `after ${length.toLocaleString('en')} events`;
    console.log(`${after}: ${kept.toFixed(1)} MB kept, ${each.toFixed(1)} µs to take an event in`);
    for (const [name, value] of Object.entries(VALUES)) {
      const rounds = Array.from({ length: ROUNDS }, () => decision(monitor, value)).sort((a, b) => a - b);
      const median = rounds[(ROUNDS - 1) / 2] ?? Number.NaN;
      const isAimed = name !== WORST;
      isMissed ||= isAimed && median >= AIM;
      const aim = isAimed ? `  < ${AIM} ${median < AIM ? 'met' : 'MISSED'}` : '';
      console.log(`  ${name.padEnd(40)} p50 ${median.toFixed(1).padStart(6)} µs${aim}`);
    }
  }
  return isMissed ? 1 : 0;
}

process.exitCode = main();
