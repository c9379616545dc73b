/**
 * What hinders the sandbox on this machine, for whoever can explain it to a person. An explanation is shown and decides
 * nothing: the refusal stands with and without it.
 */

export type HostProblem =
  /** bubblewrap was found and failed. `said`: its message. */
  | { readonly kind: 'refused'; readonly bwrap: string; readonly said: string }
  | { readonly kind: 'missing-program'; readonly package: string }
  /** As Node names them. */
  | { readonly kind: 'unsupported-system'; readonly platform: string; readonly architecture: string };

export interface Diagnosis {
  /** One sentence. */
  readonly why: string;
  readonly remedy: string;
}

/** Null: nothing is known about it. */
export type ExplainHost = (problem: HostProblem) => Diagnosis | null;
