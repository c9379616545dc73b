/**
 * What others reach on the same traces, to be compared with: two rules of one line, asked here together with the packs,
 * and figures that were published.
 */

export interface Bar {
  /** Of its rules, in `bars/`; they are a pack of that name. */
  readonly file: string;
  readonly name: string;
}

export const BARS: readonly Bar[] = [
  { file: 'any-write-after-any-output', name: 'one rule: any write after any output' },
  {
    file: 'argument-that-the-user-did-not-type',
    name: 'one rule: argument that the user did not type',
  },
];

/** Shares from 0 to 1 of good runs that are disturbed. */
export interface Published {
  readonly name: string;
  readonly disturbed: number;
  readonly suites: Readonly<Record<string, number>>;
}

/** CaMeL's policies on AgentDojo; attacks on it cannot be counted on these traces, because it runs another program. */
export const CAMEL: Published = {
  name: 'CaMeL, as published',
  disturbed: 0.339,
  suites: { banking: 0.58, slack: 0.6, workspace: 0.17 },
};
