/**
 * Results of a benchmark in the terminal: sections, charts as rows of bars, and at the end what was aimed at.
 */

import type { CommandContext } from '@cordon/cli/program';
import type { Screen } from '@cordon/console/text';
import { Drawing, type Marks, renderTable } from '@cordon/print';
import type { Comparison } from '../presentation/compare.ts';
import { figureText, lineRows } from '../presentation/figure.ts';
import { reservations } from '../presentation/page.ts';
import type { SuiteResult } from '../result.ts';
import type { Aim, Section, SuiteReport } from '../suite.ts';
export interface Look {
  readonly screen: Screen;
  readonly marks: Marks;
  readonly hasUnicode: boolean;
}

export function lookOf({ output, hasUnicode }: CommandContext): Look {
  return { screen: output, hasUnicode, marks: new Drawing(output, hasUnicode).marks };
}

export function renderResult(look: Look, { suite, question, run, ...report }: SuiteResult): void {
  const { screen } = look;
  screen.line();
  screen.say('', `${suite}: ${question}`, 'bold');
  for (const mark of reservations(run)) screen.say('!! ', mark, 'warn');
  renderReport(look, report);
}

export function renderReport(look: Look, { sections, aims }: Pick<SuiteReport, 'sections' | 'aims'>): void {
  const { screen } = look;
  for (const section of sections) {
    screen.line();
    renderSection(look, section);
  }
  if (aims.length > 0) {
    screen.line();
    renderAims(look, aims);
  }
}

function renderAims({ screen, marks }: Look, aims: readonly Aim[]): void {
  for (const { what, measured, aim, isMet } of aims)
    screen.say(
      `${isMet ? marks.good : marks.bad} `,
      `${what}: ${measured} (aim: ${aim})`,
      isMet ? 'good' : 'bad',
    );
}

function renderSection(look: Look, section: Section): void {
  const { screen } = look;
  switch (section.kind) {
    case 'text':
      if (section.title !== null) screen.say('', section.title, 'bold');
      return screen.say('', section.text);
    case 'table':
      screen.say('', section.title, 'bold');
      renderTable(screen, section.columns, section.rows);
      if (section.note !== null) screen.say('  ', section.note, 'dim');
      return;
    case 'bars':
      screen.say('', `${section.title} (${section.unit})`, 'bold');
      return renderBars(look, section);
    case 'lines': {
      screen.say('', section.title, 'bold');
      const { columns, rows } = lineRows(section);
      return renderTable(screen, columns, rows);
    }
  }
}

const BAR = 24;

/** A line for each bar, drawn as long as it is beside the longest. */
function renderBars({ screen, hasUnicode }: Look, section: Extract<Section, { kind: 'bars' }>): void {
  const most = Math.max(0, ...section.bars.flatMap(({ values }) => values.filter(Number.isFinite)));
  const hasSeries = section.series.length > 1;
  const rows = section.bars.flatMap(({ name, values }) =>
    section.series.map((series, index) => {
      const value = values[index] ?? Number.NaN;
      const length = most > 0 && value > 0 ? Math.round((value / most) * BAR) : 0;
      const bar = (hasUnicode ? '█' : '#').repeat(length);
      return [index === 0 ? name : '', ...(hasSeries ? [series] : []), figureText(value), bar];
    }),
  );
  renderTable(screen, ['', ...(hasSeries ? [''] : []), section.unit, ''], rows);
}

/** Figures that are shown of a suite; `--json` has all. */
const MOST_FIGURES = 40;

export function renderComparison(
  look: Look,
  { suite, circumstances, aims, figures, same }: Comparison,
): void {
  const { screen, marks } = look;
  screen.line();
  screen.say('', suite, 'bold');
  for (const one of circumstances) screen.say('!! ', one, 'warn');
  for (const { what, before, after, verdict } of aims) {
    const [mark, style] =
      verdict === 'missed now' || verdict === 'gone'
        ? ([marks.bad, 'bad'] as const)
        : verdict === 'met now'
          ? ([marks.good, 'good'] as const)
          : ([marks.other, 'plain'] as const);
    const change = before === after ? `${after ?? ''}` : `${before ?? 'none'}, then ${after ?? 'none'}`;
    screen.say(`${mark} `, `${what}: ${change} (${verdict})`, style);
  }
  if (figures.length > 0) {
    screen.line();
    const rows = figures.slice(0, MOST_FIGURES).map(({ path, before, after, verdict, ratio }) => {
      const times = ratio === null ? [] : [`×${figureText(ratio)}`];
      return [path, before, after, [...times, ...(verdict === 'changed' ? [] : [verdict])].join(', ')];
    });
    renderTable(screen, ['figure', 'before', 'after', ''], rows);
    if (figures.length > MOST_FIGURES)
      screen.say('  ', `and ${figures.length - MOST_FIGURES} more: see \`--json\``);
  }
  screen.say('  ', `${same} figures are the same`, 'dim');
}
