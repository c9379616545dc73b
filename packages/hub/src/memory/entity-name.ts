/**
 * What a fact is called. A fact of a known kind of data has the hub's own word for that kind, in whatever language or words
 * it was stated, so that the same entity is found again by its kind, its label or another word for it.
 */
import { type DataKind, labelOfData } from '@cordon/core';

/** Kinds that a fact about the user can be of; the other kinds of data are of one errand. Each with other words for it. */
const WORDS = {
  name: 'name, full name, vollständiger name',
  email:
    'email, e-mail, mail, email address, e-mail address, mail address, e-mail-adresse, email-adresse, mailadresse',
  phone:
    'phone, phone number, telephone, telephone number, mobile, mobile number, cell number, telefon, telefonnummer, handynummer, mobilnummer',
  address: 'address, home address, postal address, adresse, anschrift',
  city: 'city, town, stadt, wohnort',
  'postal-code': 'postal code, postal-code, postcode, zip, zip code, postleitzahl, plz',
  country: 'country, land',
  'birth-date': 'date of birth, birth-date, birth date, birthdate, birthday, geburtsdatum, geburtstag',
  language: 'language, sprache',
  preference: 'preference, vorliebe',
} as const satisfies Partial<Record<DataKind, string>>;

export type FactKind = keyof typeof WORDS;

const FACT_KINDS: readonly FactKind[] = Object.keys(WORDS) as FactKind[];

/** The hub's names for facts of these kinds. */
export const FACT_NAMES: readonly string[] = FACT_KINDS.map(labelOfData);

const KIND_OF: ReadonlyMap<string, FactKind> = new Map(
  FACT_KINDS.flatMap((kind) => WORDS[kind].split(', ').map((word): [string, FactKind] => [word, kind])),
);

/** All words for a kind, the longest first: an expression that tries them in this order takes the whole word. */
export const KIND_WORDS: readonly string[] = [...KIND_OF.keys()].sort((a, b) => b.length - a.length);

/** The kind of data that a name stands for; null: the name is free. */
export function kindNamed(name: string): FactKind | null {
  return KIND_OF.get(plain(name)) ?? null;
}

/** The name that a fact is kept under and looked up by. */
export function entityName(name: string): string {
  const kind = kindNamed(name);
  return kind === null ? plain(name) : labelOfData(kind);
}

function plain(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, ' ');
}
