/** How good what was found is, against labels. */
import type { Label, Labelled } from './labelled.ts';

export interface Judged {
  readonly labelled: Labelled;
  readonly found: readonly Label[];
}

export interface Score {
  /** Labels that something of their kind overlaps, of all labels. */
  readonly recall: number;
  /** Findings that a label of their kind overlaps, of all findings. */
  readonly precision: number;
  /** Findings with exactly the label's range, of those that overlap one; NaN where whole texts are judged. */
  readonly exact: number;
  readonly labels: number;
  readonly missed: readonly Mistake[];
  readonly wrong: readonly Mistake[];
}

export interface Mistake {
  readonly label: Label;
  readonly labelled: Labelled;
}

/** @param kinds null: all, and any kind is the right one */
export function scoreOfRanges(judged: readonly Judged[], kinds: ReadonlySet<string> | null): Score {
  const missed: Mistake[] = [];
  const wrong: Mistake[] = [];
  let [labels, hits, findings, right, exact] = [0, 0, 0, 0, 0];
  for (const { labelled, found } of judged) {
    const expected = labelled.findings.filter(({ kind }) => kinds?.has(kind) ?? true);
    const given = found.filter(({ kind }) => kinds?.has(kind) ?? true);
    const fits = (a: Label, b: Label) =>
      (kinds === null || a.kind === b.kind) && a.start < b.end && b.start < a.end;
    for (const label of expected) {
      labels += 1;
      if (given.some((one) => fits(one, label))) hits += 1;
      else missed.push({ label, labelled });
    }
    for (const one of given) {
      findings += 1;
      const met = expected.filter((label) => fits(one, label));
      if (met.length > 0) right += 1;
      else wrong.push({ label: one, labelled });
      if (met.some(({ start, end }) => start === one.start && end === one.end)) exact += 1;
    }
  }
  return { recall: hits / labels, precision: right / findings, exact: exact / right, labels, missed, wrong };
}

/** Whether something was found at all, where there is something to be found. */
export function scoreOfTexts(judged: readonly Judged[]): Score {
  const is = judged.filter(({ labelled }) => labelled.findings.length > 0);
  const said = judged.filter(({ found }) => found.length > 0);
  const right = is.filter(({ found }) => found.length > 0).length;
  const whole = (labelled: Labelled): Mistake => ({
    labelled,
    label: { kind: 'text', start: 0, end: labelled.text.length },
  });
  return {
    recall: right / is.length,
    precision: right / said.length,
    exact: Number.NaN,
    labels: is.length,
    missed: is.filter(({ found }) => found.length === 0).map(({ labelled }) => whole(labelled)),
    wrong: said
      .filter(({ labelled }) => labelled.findings.length === 0)
      .map(({ labelled }) => whole(labelled)),
  };
}
