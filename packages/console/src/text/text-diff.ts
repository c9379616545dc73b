/**
 * The difference of two texts, line by line, in the unified form that people know from other programs. Pure; time and
 * memory are bounded: texts that have little in common differ as a whole.
 *
 * A change of an app is agreed to as it is shown by it.
 */

export interface DiffLine {
  readonly kind: 'place' | 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Lines around a difference. */
const CONTEXT = 2;
/** A stretch with more changed lines than this is shown as a whole; the memory grows with the square. */
const MOST_EDITS = 400;

interface Edit extends DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
}

/** From `before` to `after`; empty if they are equal. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  return hunks(edits(before.split('\n'), after.split('\n')));
}

function edits(before: readonly string[], after: readonly string[]): readonly Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = (text: string): Edit => ({ kind: 'same', text });
  return [
    ...before.slice(0, head).map(same),
    ...shortest(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

/** The shortest way from one list to the other (E. W. Myers, "An O(ND) Difference Algorithm", 1986). */
function shortest(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const reached = new Map<number, number>([[1, 0]]);
  const steps: ReadonlyMap<number, number>[] = [];
  for (let count = 0; count <= Math.min(before.length + after.length, MOST_EDITS); count++) {
    steps.push(new Map(reached));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = isDown(reached, diagonal, count) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      reached.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return wayBack(before, after, steps);
    }
  }
  return [
    ...before.map((text): Edit => ({ kind: 'removed', text })),
    ...after.map((text): Edit => ({ kind: 'added', text })),
  ];
}

function at(reached: ReadonlyMap<number, number>, diagonal: number): number {
  return reached.get(diagonal) ?? -1;
}

/** Whether the furthest way to a diagonal comes from the one above it, by a line that was added. */
function isDown(reached: ReadonlyMap<number, number>, diagonal: number, count: number): boolean {
  if (diagonal === -count) return true;
  return diagonal !== count && at(reached, diagonal - 1) < at(reached, diagonal + 1);
}

function wayBack(
  before: readonly string[],
  after: readonly string[],
  steps: readonly ReadonlyMap<number, number>[],
): readonly Edit[] {
  const way: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let count = steps.length - 1; count >= 0; count--) {
    const reached = steps[count] ?? new Map<number, number>();
    const diagonal = x - y;
    const isAdded = isDown(reached, diagonal, count);
    const previous = isAdded ? diagonal + 1 : diagonal - 1;
    const fromX = count === 0 ? 0 : at(reached, previous);
    const fromY = count === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) {
      way.push({ kind: 'same', text: before[--x] ?? '' });
      y--;
    }
    if (count === 0) break;
    if (isAdded) way.push({ kind: 'added', text: after[--y] ?? '' });
    else way.push({ kind: 'removed', text: before[--x] ?? '' });
  }
  return way.reverse();
}

/** The changed lines with some around them, each stretch below its place. */
function hunks(all: readonly Edit[]): readonly DiffLine[] {
  const shown = new Set<number>();
  for (const [index, { kind }] of all.entries())
    if (kind !== 'same') for (let near = index - CONTEXT; near <= index + CONTEXT; near++) shown.add(near);
  const out: DiffLine[] = [];
  let line = 1;
  for (const [index, edit] of all.entries()) {
    if (shown.has(index)) {
      if (index === 0 || !shown.has(index - 1)) out.push({ kind: 'place', text: `line ${line}` });
      out.push(edit);
    }
    if (edit.kind !== 'added') line++;
  }
  return out;
}
