/**
 * Labels: whether a value may steer (integrity) and who may see it (confidentiality), as an element of a
 * four-point lattice. Joining two values joins their labels and never lowers either.
 */
export interface Label {
  readonly integrity: 'trusted' | 'untrusted';
  readonly confidentiality: 'public' | 'private';
}

/** What is not known to be otherwise: an attacker may have written it, and it may be the user's secret. */
export const DEFAULT_LABEL: Label = Object.freeze({ integrity: 'untrusted', confidentiality: 'private' });

/** The user's own words. */
export const USER_LABEL: Label = Object.freeze({ integrity: 'trusted', confidentiality: 'private' });

/** What the hub itself says. */
export const HUB_LABEL: Label = Object.freeze({ integrity: 'trusted', confidentiality: 'public' });

export function joinLabels(a: Label, b: Label): Label {
  if (isAtLeast(a, b)) return a;
  if (isAtLeast(b, a)) return b;
  return {
    integrity: a.integrity === 'untrusted' ? 'untrusted' : b.integrity,
    confidentiality: a.confidentiality === 'private' ? 'private' : b.confidentiality,
  };
}

/** Whether joining `b` to `a` would add nothing. */
function isAtLeast(a: Label, b: Label): boolean {
  return (
    (a.integrity === b.integrity || a.integrity === 'untrusted') &&
    (a.confidentiality === b.confidentiality || a.confidentiality === 'private')
  );
}

/** As rules see it: `"untrusted" in event.labels`. */
export function labelNames(label: Label): readonly string[] {
  return [label.integrity, label.confidentiality];
}
