/**
 * Numbers as they are read, and charts as rows: for the terminal, the documentation and whoever cannot see a chart.
 */
import type { Section } from '../suite.ts';

type Bars = Extract<Section, { kind: 'bars' }>;
type Lines = Extract<Section, { kind: 'lines' }>;

export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** As many digits as say something. */
export function figureText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

/** A row for each name, a column for each series. */
export function barRows({ unit, series, bars }: Bars): Rows {
  const names = series.length === 1 ? [unit] : series.map((name) => `${name}, ${unit}`);
  return {
    columns: ['', ...names],
    rows: bars.map(({ name, values }) => [name, ...series.map((_, index) => valueText(values[index]))]),
  };
}

/** Places that are shown of a line with many points; the first and the last are always there. */
const MOST_PLACES = 12;

/** A row for each place on the x axis at which any line has a point. */
export function lineRows({ x, y, lines }: Lines): Rows {
  const all = [...new Set(lines.flatMap(({ points }) => points.map(([place]) => place)))].sort(
    (a, b) => a - b,
  );
  const step = Math.max(1, (all.length - 1) / (MOST_PLACES - 1));
  const places = Array.from(
    { length: Math.min(all.length, MOST_PLACES) },
    (_, index) => all[Math.round(index * step)] ?? 0,
  );
  return {
    columns: [x.name, ...lines.map(({ name }) => (lines.length === 1 ? y.name : `${name}: ${y.name}`))],
    rows: places.map((place) => [
      figureText(place),
      ...lines.map(({ points }) => valueText(points.find(([at]) => at === place)?.[1])),
    ]),
  };
}

function valueText(value: number | undefined): string {
  return value === undefined ? '' : figureText(value);
}
