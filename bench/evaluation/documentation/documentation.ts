/**
 * What the documentation says of results, made from the results: whatever stands between `<!-- bench:ID -->` and
 * `<!-- /bench -->`. So no number in it was typed by hand, and a test tells when one is not what was measured.
 *
 * IDs: `protection` (aims, sections and the run), `protection/aims`, `protection/run`, `protection/recorded-traces-by-suite`
 * (one section, by its title without what stands in brackets), `protection.recorded.caught` (a figure; with ` %` behind it
 * as a percentage), which may stand in the middle of a line.
 */
import { failed, isJsonObject, type Json, ok, type Result } from '@cordon/core';
import { barRows, figureText, lineRows, type Rows } from '../presentation/figure.ts';
import { reservations } from '../presentation/page.ts';
import type { RunFacts, SuiteResult } from '../result.ts';
import type { Aim, Section } from '../suite.ts';

const MARKED = /(<!-- bench:([^>]*?) -->)([\s\S]*?)(<!-- \/bench -->)/g;

/**
 * The same text with what the results say. Refused if a mark names nothing that there is.
 *
 * @param suites that there are; of one without a result it is said that it was not measured yet
 */
export function documented(
  text: string,
  results: readonly SuiteResult[],
  suites: readonly string[],
): Result<string, readonly string[]> {
  const wrong: string[] = [];
  const open = [...text.matchAll(/<!-- bench:/g)].length;
  const whole = [...text.matchAll(MARKED)].length;
  if (open !== whole) wrong.push(`of ${open} marks ${whole} have their end, \`<!-- /bench -->\``);
  const made = text.replace(MARKED, (all, begin: string, id: string, _old, end: string) => {
    const filled = filledFor(id, results, suites);
    if (filled === null) {
      wrong.push(`there is no \`${id}\` in the results`);
      return all;
    }
    return filled.isInline ? `${begin}${filled.text}${end}` : `${begin}\n${filled.text}\n${end}`;
  });
  return wrong.length > 0 ? failed(wrong) : ok(made);
}

interface Filled {
  readonly text: string;
  readonly isInline: boolean;
}

/** Null: there is no such thing. */
function filledFor(id: string, results: readonly SuiteResult[], suites: readonly string[]): Filled | null {
  const [, name = '', rest = ''] = /^([a-z]+)(.*)$/.exec(id) ?? [];
  const result = results.find(({ suite }) => suite === name);
  if (result === undefined) return suites.includes(name) ? notYet(name, rest.startsWith('.')) : null;
  if (rest.startsWith('.')) return figure(result, rest.slice(1));
  const text = block(result, rest.slice(1));
  return text === null ? null : { text, isInline: false };
}

function notYet(suite: string, isInline: boolean): Filled {
  return { text: isInline ? '–' : `Not measured yet: \`npm run bench -- ${suite}\`.`, isInline };
}

function figure({ figures }: SuiteResult, rest: string): Filled | null {
  const [path = '', form] = rest.split(' ');
  let value: Json | undefined = figures;
  for (const key of path.split('.'))
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  if (typeof value === 'string') return { text: value, isInline: true };
  if (typeof value !== 'number') return null;
  return { text: form === '%' ? `${(100 * value).toFixed(1)} %` : figureText(value), isInline: true };
}

function block(result: SuiteResult, part: string): string | null {
  if (part === 'aims') return aimTable(result.aims);
  if (part === 'run') return runText(result.run);
  if (part !== '') {
    const found = result.sections.find(({ title }) => title !== null && slug(title) === part);
    return found === undefined ? null : sectionText(found, false);
  }
  const sections = result.sections.map((section) => sectionText(section, true));
  return [aimTable(result.aims), ...sections, runText(result.run)].filter((text) => text !== '').join('\n\n');
}

/** `Good runs that were disturbed (64)`: `good-runs-that-were-disturbed`. */
function slug(title: string): string {
  return title
    .replace(/\s*\([^)]*\)\s*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function aimTable(aims: readonly Aim[]): string {
  if (aims.length === 0) return '';
  return markdownTable({
    columns: ['', 'measured', 'aim', ''],
    rows: aims.map(({ what, measured, aim, isMet }) => [what, measured, aim, isMet ? 'met' : '**missed**']),
  });
}

/** @param isNamed with its title */
function sectionText(section: Section, isNamed: boolean): string {
  const title = isNamed && section.title !== null ? `**${section.title}**\n\n` : '';
  switch (section.kind) {
    case 'text':
      return `${title}${section.text}`;
    case 'table':
      return `${title}${markdownTable(section)}${section.note === null ? '' : `\n\n${section.note}`}`;
    case 'bars':
      return `${title}${markdownTable(barRows(section))}`;
    case 'lines':
      return `${title}${markdownTable(lineRows(section))}`;
  }
}

function runText(run: RunFacts): string {
  const { cpu, cores, memoryGiB, kernel, distribution, node, load } = run.machine;
  const where = `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${kernel}, ${distribution}, Node ${node}; load ${load} before it`;
  const said = reservations(run).map((one) => ` ${one}${one.endsWith('.') ? '' : '.'}`);
  return `Measured on ${run.ended.slice(0, 10)}: ${where}. ${run.units.toLocaleString('en')} units.${said.join('')}`;
}

function markdownTable({ columns, rows }: Rows): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [
    line(columns),
    `|${columns.map(() => '---').join('|')}|`,
    ...rows.map((row) => line(columns.map((_, at) => row[at] ?? ''))),
  ].join('\n');
}

/** A cell stays one, whatever stands in it. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
