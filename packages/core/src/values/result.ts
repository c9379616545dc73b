/**
 * Failures are values. A function that can fail for a reason outside the program returns a `Result`; one that
 * can refuse returns a `Decision`; throwing is for bugs only.
 */
export type Result<T, F> = Ok<T> | Failed<F>;

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Failed<F> {
  readonly ok: false;
  readonly fault: F;
}

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function failed<F>(fault: F): Failed<F> {
  return { ok: false, fault };
}
