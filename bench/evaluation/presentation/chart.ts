/**
 * Charts as SVG inside a page, without scripts and without a size of their own: lengths along the page are shares of its
 * width, letters keep theirs, so that a chart is read on a phone as well as on a desk. Colours are the page's.
 */

import type { Axis, Section } from '../suite.ts';
import { figureText } from './figure.ts';
import { escaped } from './page-text.ts';

type Bars = Extract<Section, { kind: 'bars' }>;
type Lines = Extract<Section, { kind: 'lines' }>;

/** Colours that the page has. */
const COLOURS = 6;
const BAR = 14;
const GAP = 4;
/** Of the width, so that the figure behind the longest bar has room. */
const LONGEST = 82;

export function barChart({ title, unit, series, bars }: Bars): string {
  const values = bars.flatMap((bar) => bar.values.filter(Number.isFinite));
  const most = Math.max(0, ...values);
  const height = series.length * (BAR + GAP);
  const groups = bars.map(({ name, values: own }) => {
    const drawn = series.map((_, index) => bar(own[index], index, index * (BAR + GAP), most, unit));
    return `<div class="name">${escaped(name)}</div><svg role="img" aria-label="${escaped(name)}" width="100%" height="${height}">${drawn.join('')}</svg>`;
  });
  return figure(title, unit, series.length > 1 ? series : [], groups.join(''));
}

function bar(value: number | undefined, index: number, top: number, most: number, unit: string): string {
  if (value === undefined || !Number.isFinite(value))
    return `<text class="value" x="0" y="${top + 12}">–</text>`;
  const width = most > 0 ? (Math.max(0, value) / most) * LONGEST : 0;
  const rect = `<rect class="fill-${index % COLOURS}" x="0" y="${top}" width="${round(width)}%" height="${BAR}" rx="2"/>`;
  return `${rect}<text class="value" x="${round(width)}%" dx="6" y="${top + 12}">${figureText(value)} ${escaped(unit)}</text>`;
}

const HEIGHT = 260;
/** Units along the plot, which is stretched to the width of the page. */
const WIDTH = 1000;
/** Above the plot, for the topmost label, and below, for those of the x axis. */
const HEAD = 16;
const FOOT = 24;

export function lineChart({ title, x, y, lines }: Lines): string {
  const points = lines.flatMap((line) => line.points.filter((point) => isDrawn(point, x, y)));
  if (points.length === 0) return figure(title, y.name, [], '<p class="note">no points</p>');
  const across = scaleOf(
    x,
    points.map(([value]) => value),
  );
  const up = scaleOf(
    y,
    points.map(([, value]) => value),
  );
  const left = (value: number) => round(across.at(value) * WIDTH);
  const top = (value: number) => round(HEAD + (1 - up.at(value)) * HEIGHT);
  const grid = up.ticks.map(
    (tick) =>
      `<line class="grid" x1="0" x2="100%" y1="${top(tick)}" y2="${top(tick)}"/><text class="tick" x="0" y="${top(tick) - 3}">${figureText(tick)}</text>`,
  );
  const marks = across.ticks.map((tick) => {
    const place = round(across.at(tick) * 100);
    const anchor = place < 5 ? 'start' : place > 95 ? 'end' : 'middle';
    return `<text class="tick" x="${place}%" y="${HEAD + HEIGHT + 16}" text-anchor="${anchor}">${figureText(tick)}</text>`;
  });
  const drawn = lines.map(({ points: own }, index) => {
    const kept = own.filter((point) => isDrawn(point, x, y)).map(([a, b]) => `${left(a)},${top(b)}`);
    // A line of no length with round ends is a dot that is not stretched.
    const dots = kept.length > MOST_DOTS ? '' : kept.map((place) => `M${place}h0`).join('');
    return `<polyline class="line-${index % COLOURS}" points="${kept.join(' ')}"/><path class="dot line-${index % COLOURS}" d="${dots}"/>`;
  });
  const plot = `<svg width="100%" height="${HEAD + HEIGHT}" viewBox="0 0 ${WIDTH} ${HEAD + HEIGHT}" preserveAspectRatio="none">${drawn.join('')}</svg>`;
  return figure(
    title,
    `${y.name}, over ${x.name}`,
    lines.length > 1 ? lines.map(({ name }) => name) : [],
    `<svg role="img" aria-label="${escaped(title)}" width="100%" height="${HEAD + HEIGHT + FOOT}">${grid.join('')}${marks.join('')}${plot}</svg>`,
  );
}

const MOST_DOTS = 40;

/** A logarithmic axis has no place for zero. */
function isDrawn([a, b]: readonly [number, number], x: Axis, y: Axis): boolean {
  const has = (value: number, { scale }: Axis) => Number.isFinite(value) && (scale === 'linear' || value > 0);
  return has(a, x) && has(b, y);
}

interface Scale {
  /** From 0 to 1. */
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** @param values at least one */
function scaleOf({ scale }: Axis, values: readonly number[]): Scale {
  const [least, most] = values.reduce(
    ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
    [Infinity, -Infinity],
  );
  return scale === 'logarithmic' ? logarithmic(least, most) : linear(Math.min(0, least), most);
}

function linear(from: number, most: number): Scale {
  const span = most > from ? most - from : 1;
  const raw = span / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  const to = Math.ceil((from + span) / step - 1e-9) * step;
  const start = Math.floor(from / step) * step;
  const count = Math.round((to - start) / step);
  return {
    at: (value) => (value - start) / (to - start),
    ticks: Array.from({ length: count + 1 }, (_, index) => Number((start + index * step).toPrecision(12))),
  };
}

const MOST_TICKS = 6;

function logarithmic(least: number, most: number): Scale {
  const from = Math.floor(Math.log10(least) + 1e-9);
  const to = Math.max(from + 1, Math.ceil(Math.log10(most) - 1e-9));
  const step = Math.ceil((to - from) / MOST_TICKS);
  const count = Math.floor((to - from) / step);
  return {
    at: (value) => (Math.log10(value) - from) / (to - from),
    ticks: Array.from({ length: count + 1 }, (_, index) => 10 ** (from + index * step)),
  };
}

function figure(title: string, unit: string, series: readonly string[], drawn: string): string {
  const legend = series.map(
    (name, index) =>
      `<li><svg width="12" height="12" aria-hidden="true"><rect class="fill-${index % COLOURS}" width="12" height="12" rx="2"/></svg>${escaped(name)}</li>`,
  );
  const list = legend.length === 0 ? '' : `<ul class="legend">${legend.join('')}</ul>`;
  return `<figure><figcaption>${escaped(title)} <span class="unit">${escaped(unit)}</span></figcaption>${list}${drawn}</figure>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
