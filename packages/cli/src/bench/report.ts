/**
 * Results of a benchmark in the terminal: what was aimed at, then the sections, charts as rows of bars.
 *
 * Ring 1.
 */
import type { Aim, Section, SuiteResult } from '@cordon/bench';
import type { Marks } from '../drawing.ts';
import type { Screen } from '../screen.ts';
import { renderTable } from '../table.ts';

export interface Look {
  readonly screen: Screen;
  readonly marks: Marks;
  readonly hasUnicode: boolean;
}

export function renderResult(look: Look, { suite, question, aims, sections, run }: SuiteResult): void {
  const { screen } = look;
  screen.line();
  screen.say('', `${suite}: ${question}`, 'bold');
  for (const mark of reservations(run)) screen.say('!! ', mark, 'warn');
  for (const section of sections) {
    screen.line();
    renderSection(look, section);
  }
  if (aims.length > 0) {
    screen.line();
    renderAims(look, aims);
  }
}

/** What makes the figures something less than the result. */
function reservations(run: SuiteResult['run']): readonly string[] {
  const { isSample, isMixed, units, measured, notices } = run;
  return [
    ...(isSample ? ['a sample: without `--quick` all units are run'] : []),
    ...(measured < units ? [`incomplete: ${measured} of ${units} units are measured`] : []),
    ...(isMixed ? ['some records were made by another version of the code'] : []),
    ...notices,
  ];
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
      return renderTable(
        screen,
        ['', ...(section.series.length > 1 ? [''] : []), section.unit, ''],
        barRows(look, section),
      );
    case 'lines':
      screen.say('', section.title, 'bold');
      return renderTable(
        screen,
        [section.x.name, ...section.lines.map(({ name }) => name)],
        pointRows(section),
      );
  }
}

const BAR = 24;

function barRows(look: Look, section: Extract<Section, { kind: 'bars' }>): readonly (readonly string[])[] {
  const most = Math.max(0, ...section.bars.flatMap(({ values }) => values.filter(Number.isFinite)));
  return section.bars.flatMap(({ name, values }) =>
    values.map((value, index) => {
      const length = most > 0 && Number.isFinite(value) ? Math.round((Math.max(0, value) / most) * BAR) : 0;
      const bar = (look.hasUnicode ? '█' : '#').repeat(length);
      const series = section.series.length > 1 ? [section.series[index] ?? ''] : [];
      return [index === 0 ? name : '', ...series, shown(value), bar];
    }),
  );
}

function pointRows(section: Extract<Section, { kind: 'lines' }>): readonly (readonly string[])[] {
  const places = [...new Set(section.lines.flatMap(({ points }) => points.map(([x]) => x)))].sort(
    (a, b) => a - b,
  );
  return places.map((place) => [
    shown(place),
    ...section.lines.map(({ points }) => {
      const point = points.find(([x]) => x === place);
      return point === undefined ? '' : shown(point[1]);
    }),
  ]);
}

/** As many digits as say something. */
function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
