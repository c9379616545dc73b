/**
 * How fast patterns run over a text, by what kind of pattern it is: ours, re2js alone, and the engine of the
 * host, which backtracks. Prints a table.
 *
 *   node bench/policy/regex.ts
 */

import { compilePattern } from '@cordon/regex';
import { RE2JS } from 're2js';

const PROSE =
  'On Tuesday the team met Dr. Müller (anna.mueller@example.org) about invoice 2024-117; see https://intra.example.org/a/b?c=1.\n' +
  'Nobody had read the notes, so the 3 open questions were put off until 14:30. "Send it to me", she said, twice.\n';
const TEXT = PROSE.repeat(Math.ceil((4 << 20) / PROSE.length));

interface Kind {
  readonly kind: string;
  readonly pattern: string;
}

const KINDS: readonly Kind[] = [
  { kind: 'literal, absent', pattern: 'BEGIN RSA PRIVATE KEY' },
  { kind: 'literal, frequent', pattern: 'example' },
  { kind: 'literals, absent', pattern: 'rm -rf|mkfs|shutdown' },
  { kind: 'required literal, absent', pattern: 'ghp_[A-Za-z0-9]{36}' },
  { kind: 'required literal, present', pattern: '[\\w.]+@[\\w.]+' },
  { kind: 'no literal, absent', pattern: '[A-Z0-9]{20,40}' },
  { kind: 'no literal, frequent', pattern: '[A-Z][a-z]+' },
  { kind: 'digits', pattern: '\\d{4}-\\d+' },
  { kind: 'words', pattern: '\\b\\w+\\b' },
  { kind: 'ignoring case', pattern: '(?i)ignore (all )?previous instructions' },
  { kind: 'nested repetition', pattern: '(?:[a-z]+ )+!' },
  { kind: 'anchored, absent', pattern: '^(?:GET|POST) ' },
  { kind: 'look-around', pattern: '(?<!\\w)Tuesday(?= the)' },
];

const RUNS = 3;

/** Megabytes a second, of the best run; the number of matches beside it, against engines that do something else. */
function measured(count: () => number): string {
  let best = Number.POSITIVE_INFINITY;
  let found = 0;
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now();
    found = count();
    best = Math.min(best, performance.now() - begun);
  }
  return `${(TEXT.length / 1e3 / best).toFixed(0)} (${found})`;
}

function ours({ pattern }: Kind): string {
  const compiled = compilePattern(pattern);
  return compiled.ok ? measured(() => compiled.value.findAll(TEXT).length) : compiled.fault;
}

function re2({ pattern }: Kind): string {
  if (pattern.includes('(?<')) return '–';
  const compiled = RE2JS.compile(pattern);
  return measured(() => {
    const matcher = compiled.matcher(TEXT);
    let count = 0;
    while (matcher.find()) count++;
    return count;
  });
}

function native({ pattern }: Kind): string {
  const isIgnoring = pattern.startsWith('(?i)');
  const expression = new RegExp(pattern.replace('(?i)', ''), isIgnoring ? 'gui' : 'gu');
  return measured(() => {
    let count = 0;
    for (expression.lastIndex = 0; expression.exec(TEXT) !== null; ) count++;
    return count;
  });
}

const rows = KINDS.map((kind) => [kind.kind, kind.pattern, ours(kind), re2(kind), native(kind)]);
const head = ['kind', 'pattern', 'ours MB/s', 're2js MB/s', 'host MB/s'];
const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
console.log(
  `${(TEXT.length / 1e6).toFixed(1)} million characters; matches in parentheses; Node ${process.version}`,
);
for (const row of [head, ...rows])
  console.log(row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '));
