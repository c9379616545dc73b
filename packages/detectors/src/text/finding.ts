/** What a detector says about a text. Rules treat it as a signal, never as a guarantee. */

/** A part of a text, in UTF-16 units. */
export interface Stretch {
  readonly start: number;
  /** Behind the last character. */
  readonly end: number;
}

/** A stretch of a text that a detector has something to say about. */
export interface Finding extends Stretch {
  /** What it is, as rules compare it: `EMAIL_ADDRESS`, `GITHUB_TOKEN`, … */
  readonly kind: string;
  /** From 0 to 1; 1 only where a check digit or an exact form leaves no doubt. */
  readonly confidence: number;
  /** One clause for people: why it is believed. Never quotes the text. */
  readonly reason: string;
}

/** Pure: the same text has the same findings, in order of their start. */
export type FindIn = (text: string) => readonly Finding[];

export function findingOf(
  kind: string,
  { start, end }: Stretch,
  confidence: number,
  reason: string,
): Finding {
  return { kind, start, end, confidence, reason };
}
