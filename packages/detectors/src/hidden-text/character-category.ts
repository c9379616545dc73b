/** General categories of characters, as Unicode assigns them and the runtime knows them. */
import type { Stretch } from '../text/finding.ts';
import { unitsOf } from '../text/text-units.ts';
import { CATEGORY_NAMES as NAMES } from './category-names.ts';

const OF_CATEGORY = NAMES.map((name) => new RegExp(`^\\p{${name}}`, 'u'));
const UNASSIGNED = NAMES.indexOf('Cn');

export interface CategoryFinding extends Stretch {
  readonly category: string;
}

/** By UTF-16 unit, one more than the index of its category; 0: not known yet. */
const KNOWN = new Uint8Array(0x10000);

/** Each character of the wanted categories, neighbours of one category together; null: of all. */
export function categoriesIn(text: string, wanted: readonly string[] | null): readonly CategoryFinding[] {
  const isWanted = NAMES.map((name) => wanted?.includes(name) ?? true);
  const units = unitsOf(text);
  const found: CategoryFinding[] = [];
  /** Of the stretch that is being read. */
  let category = -1;
  let start = 0;
  for (let at = 0; at < units.length; ) {
    const unit = units[at] ?? 0;
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.codePointAt(at) ?? 0) > 0xffff;
    const own = isPair ? categoryOf(text.slice(at, at + 2)) : categoryOfUnit(unit);
    if (own !== category) {
      if (isWanted[category] === true) found.push({ category: NAMES[category] ?? '', start, end: at });
      category = own;
      start = at;
    }
    at += isPair ? 2 : 1;
  }
  if (isWanted[category] === true) found.push({ category: NAMES[category] ?? '', start, end: text.length });
  return found;
}

function categoryOfUnit(unit: number): number {
  const known = KNOWN[unit] ?? 0;
  if (known > 0) return known - 1;
  const category = categoryOf(String.fromCharCode(unit));
  KNOWN[unit] = category + 1;
  return category;
}

function categoryOf(character: string): number {
  const index = OF_CATEGORY.findIndex((pattern) => pattern.test(character));
  return index < 0 ? UNASSIGNED : index;
}
