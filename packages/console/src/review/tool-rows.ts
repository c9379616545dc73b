/**
 * Tools as lines of a terminal, by what can be undone, the most dangerous first. If they do not fit, only their names
 * are listed, beginning with the least dangerous, so that harmless tools push no dangerous one out.
 *
 * Attack: words that end in `│ only reads`. What Cordon says stands left of the second `│`, and no name holds a blank.
 */
import { textColumns, visibleLines, wrap } from '@cordon/core';
import { FRAME, GUTTER } from '../text/screen.ts';
import { type Effect, LABELS, type ToolChange, type ToolLine } from './overview.ts';

/** A line of the terminal. `app`: words of the app, which stand behind the gutter. */
export interface Row {
  readonly by: 'cordon' | 'app';
  readonly text: string;
}

interface Entry {
  readonly mark: '' | '!' | '+' | '-' | '~';
  readonly name: string;
  /** Cordon's words about this tool. */
  readonly notes: readonly string[];
  readonly words: string;
  /** It has a line of its own, however many tools there are. */
  readonly isKept: boolean;
}

interface Group {
  readonly effect: Effect;
  readonly heading: string;
  readonly entries: readonly Entry[];
}

/** At most about `most` rows. `found`: names of tools that the scan found something in. */
export function toolRows(
  tools: readonly ToolLine[],
  found: ReadonlySet<string>,
  most: number,
  width: number,
): readonly Row[] {
  if (tools.length === 0) return [{ by: 'cordon', text: 'NO TOOLS' }];
  const groups = [...Map.groupBy(tools, ({ effect }) => effect)].map(([effect, ones]): Group => {
    const counts = LABELS.map((label) => ({
      label,
      count: ones.filter(({ labels }) => labels.includes(label)).length,
    })).filter(({ count }) => count > 0);
    const shared = counts.filter(({ count }) => count === ones.length).map(({ label }) => label);
    const about = [
      String(ones.length),
      ...(ones.some(({ destroys }) => destroys) ? ['!: destroys something'] : []),
      ...counts.map(({ label, count }) => `${count === ones.length ? 'all' : count}: ${label}`),
    ];
    return {
      heading: `${HEADINGS[effect]} (${about.join('; ')})`,
      effect,
      entries: ones.map((tool) => ({
        mark: tool.destroys ? '!' : '',
        name: tool.name,
        notes: tool.labels.filter((label) => !shared.includes(label)),
        words: tool.words,
        isKept: found.has(tool.name),
      })),
    };
  });
  return fitted(groups, most, width);
}

/** `when`: words of Cordon behind each heading, or none. */
export function changeRows(
  changes: readonly ToolChange[],
  when: string,
  most: number,
  width: number,
): readonly Row[] {
  const groups = [...Map.groupBy(changes, ({ tool }) => tool.effect)].map(
    ([effect, ones]): Group => ({
      heading: `${HEADINGS[effect]}${when}`,
      effect,
      entries: ones.map(({ kind, tool, before }) => ({
        mark: CHANGE_MARKS[kind],
        name: tool.name,
        notes: [...(before === null ? [] : [BEFORE[before]]), ...tool.labels],
        words: tool.words,
        isKept: false,
      })),
    }),
  );
  return fitted(groups, most, width);
}

const HEADINGS: Readonly<Record<Effect, string>> = {
  irreversible: 'CANNOT BE UNDONE: Cordon asks first',
  undoable: 'CAN BE UNDONE',
  reads: 'ONLY READS',
};

const BEFORE: Readonly<Record<Effect, string>> = {
  irreversible: 'before: asked',
  undoable: 'before: could be undone',
  reads: 'before: only read',
};

const CHANGE_MARKS: Readonly<Record<ToolChange['kind'], Entry['mark']>> = {
  new: '+',
  gone: '-',
  changed: '~',
};

function fitted(groups: readonly Group[], most: number, width: number): readonly Row[] {
  // How many tools of each group have a line; the others are names.
  const lines = new Map(groups.map((group) => [group, group.entries.length]));
  const linesOf = (group: Group) => lines.get(group) ?? 0;
  const heights = (ones: readonly Group[]) =>
    ones.reduce((sum, group) => sum + height(group, linesOf(group), width), 0);
  for (const group of [...groups].reverse()) {
    if (heights(groups) <= most) break;
    const rest = most - heights(groups.filter((one) => one !== group));
    lines.set(
      group,
      mostThat(group.entries.length, (count) => height(group, count, width) <= rest),
    );
  }
  return groups.flatMap((group) => groupRows(group, linesOf(group), width));
}

function groupRows(group: Group, lines: number, width: number): readonly Row[] {
  const { whole, named } = divided(group, lines);
  return [
    ...headingRows(group, width),
    ...entryRows(whole, width - GUTTER.length - 1),
    ...namesRows(named, width - GUTTER.length - 1),
  ];
}

/** Of `groupRows`, without the words. */
function height(group: Group, lines: number, width: number): number {
  const { whole, named } = divided(group, lines);
  return headingRows(group, width).length + whole.length + namesRows(named, width - GUTTER.length - 1).length;
}

function divided({ entries }: Group, lines: number) {
  const isWhole = ({ isKept }: Entry, index: number) => isKept || index < lines;
  return {
    whole: entries.filter(isWhole),
    named: entries.filter((entry, index) => !isWhole(entry, index)),
  };
}

function headingRows({ heading }: Group, width: number): readonly Row[] {
  return wrap(heading, width - FRAME.length - 1).map((text) => ({ by: 'cordon', text: text.trimEnd() }));
}

/** The greatest number up to `most` that fits, or 0. */
function mostThat(most: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

const MOST_NAME = 26;
/** `visibleLines` breaks no line that is shorter. */
const LEAST_WORDS = 12;

function entryRows(entries: readonly Entry[], width: number): readonly Row[] {
  const columns = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => textColumns(text)));
  const names = entries.map(({ name }) => cutName(name, Math.min(MOST_NAME, Math.trunc(width / 3))));
  const notes = entries.map((entry) => entry.notes.join(', '));
  const [markWidth, nameWidth, noteWidth] = [
    columns(entries.map(({ mark }) => mark)),
    columns(names),
    columns(notes),
  ];
  return entries.map(({ mark, words }, index): Row => {
    const left = [
      ...(markWidth === 0 ? [] : [mark.padEnd(markWidth)]),
      (names[index] ?? '').padEnd(nameWidth),
      ...(noteWidth === 0 ? [] : [(notes[index] ?? '').padEnd(noteWidth)]),
    ].join(' ');
    const room = width - left.length - BETWEEN.length;
    if (room < LEAST_WORDS) return { by: 'app', text: left.slice(0, width) };
    return { by: 'app', text: `${left}${BETWEEN}${cutWords(words, room)}`.trimEnd() };
  });
}

const BETWEEN = ' │ ';
/** Where a name stands with others and no words. */
const MOST_ALONE = 48;
/** Lines of names in one group. */
const MOST_NAMES = 12;

function namesRows(entries: readonly Entry[], width: number): readonly Row[] {
  if (entries.length === 0) return [];
  const names = entries.map(({ mark, name }) => `${mark}${cutName(name, MOST_ALONE)}`);
  const all = wrap(names.join(', '), width).map((text): Row => ({ by: 'app', text: text.trimEnd() }));
  if (all.length <= MOST_NAMES) return all;
  const shown = all.slice(0, MOST_NAMES - 1);
  const left =
    names.length - shown.map(({ text }) => text.match(/,/g)?.length ?? 0).reduce((a, b) => a + b, 0);
  return [...shown, { by: 'cordon', text: `and ${left} more, not shown` }];
}

/** One line of the app's words, made visible and cut at the width. */
function cutWords(words: string, width: number): string {
  const lines = visibleLines(words, width);
  const first = String(lines.next().value ?? '').trimEnd();
  if (lines.next().done === true) return first;
  // Cut again, one column shorter: the full line has no room for the sign.
  const shorter = String(visibleLines(words, width - 1).next().value ?? '').trimEnd();
  return `${shorter}…`;
}

/** Both ends of a long name: what follows a long beginning says what the tool does. */
function cutName(name: string, most: number): string {
  if (name.length <= most) return name;
  const tail = Math.trunc(most / 3);
  return `${name.slice(0, most - tail - 1)}…${name.slice(name.length - tail)}`;
}
