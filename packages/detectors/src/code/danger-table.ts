/** What names are known for, as tables say it: a row has a kind, how sure it is, and names. */
import { byWord } from '../text/words.ts';
import type { ConstructKind } from './construct.ts';

export interface Danger {
  readonly kind: ConstructKind;
  readonly confidence: number;
}

export type DangerRow = readonly [kind: ConstructKind, confidence: number, names: string];

export function dangersByName(rows: readonly DangerRow[]): ReadonlyMap<string, Danger> {
  return byWord(rows.map(([kind, confidence, names]) => [names, { kind, confidence }]));
}

/**
 * What a mention of a full name is known for; null: nothing. In a row `module.*` stands for every member of a module.
 * @param harmless members of such modules that only describe
 */
export function dangerFinder(
  rows: readonly DangerRow[],
  harmless: ReadonlySet<string>,
): (name: string) => Danger | null {
  const dangers = dangersByName(rows);
  return (name) => {
    const exact = dangers.get(name);
    if (exact !== undefined) return exact;
    const dot = name.lastIndexOf('.');
    if (dot < 0 || harmless.has(name)) return null;
    return dangers.get(`${name.slice(0, dot)}.*`) ?? null;
  };
}
