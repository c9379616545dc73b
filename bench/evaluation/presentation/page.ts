/**
 * Results as one page that stands alone: no script, nothing fetched, light and dark as the reader has it, readable on a
 * phone. Texts of traces and data may stand in it; they mean themselves.
 */
import { createHash } from 'node:crypto';
import type { RunFacts, SuiteResult } from '../result.ts';
import type { Aim, Section } from '../suite.ts';
import { barChart, lineChart } from './chart.ts';
import { barRows, lineRows, type Rows } from './figure.ts';
import { escaped, withCode } from './page-text.ts';

export function page(results: readonly SuiteResult[]): string {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  const sample = results.some(({ run }) => run.isSample)
    ? '<p class="warn">A sample, not the whole evaluation.</p>'
    : '';
  const links = results.map(({ suite }) => `<a href="#${escaped(suite)}">${escaped(suite)}</a>`).join(' ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${digest}'">
<title>Cordon: evaluation</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>Cordon: evaluation</h1>${sample}<p>${aimCount(results)}</p><nav>${links}</nav></header>
<main>
${results.map(suiteSection).join('\n')}
</main>
</body>
</html>
`;
}

function aimCount(results: readonly SuiteResult[]): string {
  const aims = results.flatMap((result) => result.aims);
  return `${aims.filter(({ isMet }) => isMet).length} of ${aims.length} aims are met.`;
}

function suiteSection({ suite, question, aims, sections, run }: SuiteResult): string {
  const notes = reservations(run).map((note) => `<p class="warn">${withCode(note)}</p>`);
  return `<section id="${escaped(suite)}">
<h2>${escaped(suite)}</h2>
<p class="question">${withCode(question)}</p>
${notes.join('')}${aimList(aims)}
${sections.map(shown).join('\n')}
${facts(run)}
</section>`;
}

/** What makes the figures something less than the result. */
export function reservations(run: RunFacts): readonly string[] {
  const { only, every, model, isReplay, isOnOtherData, isSample, isMixed, units, measured, notices } = run;
  const how = isReplay === true ? ', by the answers that an earlier run kept' : '';
  return [
    ...(model === undefined ? [] : [`\`${model}\` plays instead of the obedient model${how}.`]),
    ...(only === undefined ? [] : [`Only units whose key contains \`${only}\`.`]),
    ...(every === undefined ? [] : [`A sample: about one in ${every} units.`]),
    ...(isOnOtherData ? ['On data that were named, not on those of the repository.'] : []),
    ...(isSample ? ['A sample: without `--quick` all units are run.'] : []),
    ...(measured < units ? [`Incomplete: ${measured} of ${units} units are measured.`] : []),
    ...(isMixed ? ['Some records were made by another version of the code.'] : []),
    ...notices,
  ];
}

function aimList(aims: readonly Aim[]): string {
  if (aims.length === 0) return '';
  const items = aims.map(
    ({ what, measured, aim, isMet }) =>
      `<li class="${isMet ? 'met' : 'missed'}"><span class="measured">${escaped(measured)}</span><span>${withCode(what)}</span><span class="aim">${isMet ? '✓ met' : '✗ missed'}: ${escaped(aim)}</span></li>`,
  );
  return `<ul class="aims">${items.join('')}</ul>`;
}

function shown(section: Section): string {
  switch (section.kind) {
    case 'text': {
      const title = section.title === null ? '' : `<h3>${withCode(section.title)}</h3>`;
      return `${title}<p>${withCode(section.text)}</p>`;
    }
    case 'table':
      return `<h3>${withCode(section.title)}</h3>${table(section)}${section.note === null ? '' : `<p class="note">${withCode(section.note)}</p>`}`;
    case 'bars':
      return barChart(section) + asNumbers(barRows(section));
    case 'lines':
      return lineChart(section) + asNumbers(lineRows(section));
  }
}

function asNumbers(rows: Rows): string {
  return `<details><summary>in numbers</summary>${table(rows)}</details>`;
}

function table({ columns, rows }: Rows): string {
  const isNumeric = columns.map((_, column) =>
    rows.every((row) => /^[<>≤≥~]?\s?-?\d|^–?$/.test(row[column] ?? '')),
  );
  const kind = (column: number) => (isNumeric[column] === true && column > 0 ? ' class="number"' : '');
  const head = columns.map((name, column) => `<th${kind(column)}>${withCode(name)}</th>`);
  const body = rows.map(
    (row) =>
      `<tr>${columns.map((_, column) => `<td${kind(column)}>${withCode(row[column] ?? '')}</td>`).join('')}</tr>`,
  );
  return `<div class="wide"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function facts({ machine, cordon, code, policy, data, ended, seconds, units }: RunFacts): string {
  const { cpu, cores, memoryGiB, kernel, distribution, node, load } = machine;
  const lines: readonly (readonly [string, string])[] = [
    [
      'machine',
      `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${kernel}, ${distribution}; Node ${node}; load ${load} before it`,
    ],
    ['code', `Cordon ${cordon}, sources ${code}, policies ${policy}`],
    ['run', `${units} units; ended ${ended} after ${seconds} s`],
    ...data.map(({ name, sha256 }): readonly [string, string] => [name, sha256]),
  ];
  const rows = lines.map(([what, value]) => `<dt>${escaped(what)}</dt><dd>${escaped(value)}</dd>`);
  return `<details><summary>machine, code and data</summary><dl>${rows.join('')}</dl></details>`;
}

const STYLE = `
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1c1c1a; --soft: #5f5e59; --line: #dddcd6; --card: #f3f2ee;
  --good: #1a6b3c; --bad: #a3271b; --warn: #7a4b00;
  --c0: #2a6fbb; --c1: #c7651d; --c2: #2f8560; --c3: #9a4a8f; --c4: #8a7a1f; --c5: #58606b; }
@media (prefers-color-scheme: dark) { :root { --paper: #171716; --ink: #ecebe6; --soft: #a9a79f; --line: #3a3935; --card: #22211f;
  --good: #6cc993; --bad: #f2897d; --warn: #e3b155;
  --c0: #6aa9ec; --c1: #f0954f; --c2: #63bd95; --c3: #cf86c4; --c4: #c9b654; --c5: #a3abb6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.3rem; margin: 2.5rem 0 .2rem; text-transform: capitalize; }
h3, figcaption { font-size: 1rem; font-weight: 600; margin: 1.8rem 0 .4rem; }
nav a { margin-right: .8rem; } a { color: var(--c0); }
section { border-top: 1px solid var(--line); } .question { margin: 0 0 1rem; color: var(--soft); }
.warn { color: var(--warn); margin: .3rem 0; } .note, .unit { color: var(--soft); font-size: .9rem; font-weight: 400; }
.aims { list-style: none; padding: 0; margin: 1rem 0; display: grid; gap: .6rem; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); }
.aims li { background: var(--card); border-left: 4px solid var(--good); border-radius: 4px; padding: .5rem .7rem; display: grid; align-content: start; }
.aims li.missed { border-color: var(--bad); } .measured { font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.aim { color: var(--good); font-size: .85rem; } .missed .aim { color: var(--bad); }
figure { margin: 0; } svg { display: block; overflow: visible; } svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); font-size: 12px; } .grid { stroke: var(--line); }
figure .name { font-weight: 600; font-size: .9rem; margin: .5rem 0 .15rem; } svg .value { font-variant-numeric: tabular-nums; }
polyline, .dot { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linecap: round; stroke-linejoin: round; }
.dot { stroke-width: 6; }
.fill-0 { fill: var(--c0); } .fill-1 { fill: var(--c1); } .fill-2 { fill: var(--c2); } .fill-3 { fill: var(--c3); } .fill-4 { fill: var(--c4); } .fill-5 { fill: var(--c5); }
.line-0 { stroke: var(--c0); } .line-1 { stroke: var(--c1); } .line-2 { stroke: var(--c2); } .line-3 { stroke: var(--c3); } .line-4 { stroke: var(--c4); } .line-5 { stroke: var(--c5); }
.legend { list-style: none; padding: 0; margin: 0 0 .6rem; display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .9rem; }
.legend li { display: flex; align-items: center; gap: .35rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); overflow-wrap: normal; min-width: 4rem; }
th:last-child, td:last-child { padding-right: 0; } @media (max-width: 30rem) { th, td { padding-right: .5rem; } table { font-size: .8rem; } }
.number { text-align: right; font-variant-numeric: tabular-nums; } td.number { white-space: nowrap; }
code { font: .9em ui-monospace, monospace; background: var(--card); border-radius: 3px; padding: 0 .2em; }
details { margin: .6rem 0; } summary { color: var(--soft); cursor: pointer; font-size: .9rem; }
dl { font-size: .85rem; } dt { font-weight: 600; } dd { margin: 0 0 .4rem; font-family: ui-monospace, monospace; }
`;
