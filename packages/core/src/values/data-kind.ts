/**
 * Kinds of personal data: what a fact that the user stated is, and what an app's context may ask the user for. The list is
 * closed, and the hub writes its words. Attack: an app chooses the words itself and asks the user anything.
 */
interface KindOfData {
  /** What stands beside the field of a form, and as the name of a fact. */
  readonly label: string;
  /** What a value looks like; null: any short line. */
  readonly pattern: RegExp | null;
  /** One value that fits, shown where another does not. */
  readonly example: string;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

const KINDS = {
  name: { label: 'name', pattern: null, example: 'Ada Lovelace' },
  email: { label: 'e-mail', pattern: /^[^\s@]{1,64}@[^\s@]{1,190}$/, example: 'ada@example.org' },
  phone: { label: 'phone', pattern: /^\+?[\d ()./-]{5,30}$/, example: '+39 011 555 01 23' },
  address: { label: 'address', pattern: null, example: 'Oak Lane 2, 10121 Turin' },
  city: { label: 'city', pattern: null, example: 'Turin' },
  'postal-code': { label: 'postal code', pattern: /^[\dA-Za-z][\dA-Za-z -]{1,11}$/, example: '10121' },
  country: { label: 'country', pattern: null, example: 'Italy' },
  'birth-date': { label: 'date of birth', pattern: DATE, example: '1990-12-31' },
  language: { label: 'language', pattern: null, example: 'English' },
  preference: { label: 'preference', pattern: null, example: 'a seat at the window' },
  date: { label: 'date', pattern: DATE, example: '2027-03-31' },
  time: { label: 'time', pattern: /^\d{1,2}:\d{2}$/, example: '18:30' },
  from: { label: 'from', pattern: null, example: 'Turin' },
  to: { label: 'to', pattern: null, example: 'Lisbon' },
  people: { label: 'number of people', pattern: /^\d{1,3}$/, example: '2' },
  amount: { label: 'amount', pattern: /^\d{1,12}([.,]\d{1,2})?$/, example: '120.50' },
  currency: { label: 'currency', pattern: /^[A-Za-z]{3}$/, example: 'EUR' },
} as const satisfies Record<string, KindOfData>;

export type DataKind = keyof typeof KINDS;

export const DATA_KINDS: readonly DataKind[] = Object.keys(KINDS) as DataKind[];

/** UTF-16 units of a value. */
const MOST_DATA_CHARACTERS = 200;

/** The hub's words for a kind. */
export function labelOfData(kind: DataKind): string {
  return KINDS[kind].label;
}

/** One value of this kind, to show how it is written. */
export function exampleOfData(kind: DataKind): string {
  return KINDS[kind].example;
}

/** Why a value does not fit this kind, as a sentence for the user; null: it fits. */
export function misfitOfData(kind: DataKind, value: string): string | null {
  const { label, pattern, example }: KindOfData = KINDS[kind];
  if (value.trim() === '') return `the ${label} is empty`;
  if (value.length > MOST_DATA_CHARACTERS || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value))
    return `the ${label} must be one line of at most ${MOST_DATA_CHARACTERS} characters`;
  return pattern === null || pattern.test(value) ? null : `the ${label} must look like \`${example}\``;
}
