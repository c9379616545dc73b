/** General categories of characters, as Unicode assigns them and the runtime knows them. Ring 1. */

const NAMES =
  'Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn'.split(' ');
const OF_CATEGORY = NAMES.map((name) => ({ name, pattern: new RegExp(`^\\p{${name}}`, 'u') }));

export interface CategoryFinding {
  readonly category: string;
  readonly start: number;
  readonly end: number;
}

/** Each character of the wanted categories, neighbours of one category together; null: of all. */
export function categoriesIn(text: string, wanted: readonly string[] | null): readonly CategoryFinding[] {
  const found: { category: string; start: number; end: number }[] = [];
  // Most texts are made of few characters.
  const known = new Map<string, string>();
  let at = 0;
  for (const character of text) {
    const category = known.get(character) ?? categoryOf(character);
    known.set(character, category);
    const end = at + character.length;
    const last = found.at(-1);
    if (wanted === null || wanted.includes(category)) {
      if (last !== undefined && last.category === category && last.end === at) last.end = end;
      else found.push({ category, start: at, end });
    }
    at = end;
  }
  return found;
}

function categoryOf(character: string): string {
  return OF_CATEGORY.find(({ pattern }) => pattern.test(character))?.name ?? 'Cn';
}
