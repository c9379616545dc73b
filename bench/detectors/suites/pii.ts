/** `pii`, and what others find. Kinds of others are told as ours where they mean the same. */
import { findForms, findPersonalData } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { peerModule, replaced } from '../peers.ts';
import type { Find, Row, Suite } from '../suite.ts';
import { openRedaction } from './open-redaction.ts';

/** As `pii` does in rules when it is given no other. */
const THRESHOLD = 0.5;

const NATIONAL = [
  'US_SSN',
  'US_ITIN',
  'UK_NINO',
  'UK_NHS',
  'DE_TAX_ID',
  'DE_SOCIAL_SECURITY',
  'FR_NIR',
  'ES_NIF',
  'ES_NIE',
  'IT_FISCAL_CODE',
  'NL_BSN',
  'PL_PESEL',
  'IN_AADHAAR',
  'IN_PAN',
  'BR_CPF',
  'BR_CNPJ',
];

const AIM = { recall: 0.98, precision: 0.98 };
const OF_NAMES = { recall: 0.8, precision: 0.8 };

const ROWS: readonly Row[] = [
  { name: 'e-mail', kinds: ['EMAIL_ADDRESS'], aim: AIM },
  { name: 'phone', kinds: ['PHONE_NUMBER'], aim: AIM },
  { name: 'card', kinds: ['CREDIT_CARD'], aim: AIM },
  { name: 'IBAN', kinds: ['IBAN_CODE'], aim: AIM },
  { name: 'national numbers', kinds: NATIONAL, aim: null },
  { name: 'passport', kinds: ['PASSPORT'], aim: null },
  { name: 'IP, MAC', kinds: ['IP_ADDRESS', 'MAC_ADDRESS'], aim: null },
  { name: 'postal address', kinds: ['ADDRESS'], aim: null },
  { name: 'date of birth', kinds: ['DATE_OF_BIRTH'], aim: null },
  { name: 'person', kinds: ['PERSON'], aim: OF_NAMES },
  { name: 'place', kinds: ['LOCATION'], aim: OF_NAMES },
  { name: 'organisation', kinds: ['ORGANIZATION'], aim: null },
];

/** What packages call it, by how the name begins. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^e-?mail/i, 'EMAIL_ADDRESS'],
  [/^phone|^mobile|^tel/i, 'PHONE_NUMBER'],
  [/^credit|^card/i, 'CREDIT_CARD'],
  [/^iban/i, 'IBAN_CODE'],
  [/^(?:us_social|ssn|social|sin\b)/i, 'US_SSN'],
  [/^(?:nino|national_insurance|uk_nino)/i, 'UK_NINO'],
  [/^passport/i, 'PASSPORT'],
  [/^ip|^ipv/i, 'IP_ADDRESS'],
  [/^mac/i, 'MAC_ADDRESS'],
  [/^(?:street|address|po_box)/i, 'ADDRESS'],
  [/^(?:date_?of_?birth|dob|birth)/i, 'DATE_OF_BIRTH'],
  [/^(?:person|name)/i, 'PERSON'],
];

function ourKind(theirs: string): string {
  return NAMES.find(([pattern]) => pattern.test(theirs))?.[1] ?? theirs;
}

function translated(found: readonly Label[]): readonly Label[] {
  return found.map((label) => ({ ...label, kind: ourKind(label.kind) }));
}

interface Redactor {
  redact(text: string): string;
}

async function redactPii(): Promise<Find | null> {
  const module = await peerModule<{ readonly SyncRedactor: new () => Redactor }>('redact-pii');
  if (module === null) return null;
  const redactor = new module.SyncRedactor();
  return (text) => translated(replaced(text, redactor.redact(text), UPPER_CASE));
}

async function redactPiiNode(): Promise<Find | null> {
  const module = await peerModule<{ readonly Redactor: new () => Redactor }>('@redactpii/node');
  if (module === null) return null;
  const redactor = new module.Redactor();
  return (text) => translated(replaced(text, redactor.redact(text), UPPER_CASE));
}

const UPPER_CASE =
  /(PERSON_NAME|EMAIL_ADDRESS|PHONE_NUMBER|CREDIT_CARD_NUMBER|IP_ADDRESS|STREET_ADDRESS|US_SOCIAL_SECURITY_NUMBER|ZIPCODE|USERNAME|PASSWORD|CREDENTIALS|DIGITS|URL)/g;

async function arcjet(): Promise<Find | null> {
  const module = await peerModule<{ redact(text: string): Promise<readonly [string, unknown]> }>(
    '@arcjet/redact',
  );
  if (module === null) return null;
  return async (text) => {
    const [redacted] = await module.redact(text);
    return translated(replaced(text, redacted, /<Redacted ([a-zA-Z ]+) #\d+>/g));
  };
}

async function sanitizePii(): Promise<Find | null> {
  const module = await peerModule<{ sanitizePii(text: string): string }>('@cdssnc/sanitize-pii');
  if (module === null) return null;
  return (text) => translated(replaced(text, module.sanitizePii(text), /\[Redacted: (\w+)\]/g));
}

async function removePii(): Promise<Find | null> {
  const module = await peerModule<{
    detectPII(text: string): {
      detectedItems: readonly { type: string; positions: readonly { start: number; end: number }[] }[];
    };
  }>('@coffeeandfun/remove-pii');
  if (module === null) return null;
  return (text) =>
    translated(
      module
        .detectPII(text)
        .detectedItems.flatMap(({ type, positions }) =>
          positions.map(({ start, end }) => ({ kind: type, start, end })),
        ),
    );
}

/** What our own dependency finds when it is given the whole text. */
async function phones(): Promise<Find | null> {
  const { findPhoneNumbersInText } = await import('libphonenumber-js/max');
  return (text) =>
    findPhoneNumbersInText(text, 'US').map(({ startsAt, endsAt }) => ({
      kind: 'PHONE_NUMBER',
      start: startsAt,
      end: endsAt,
    }));
}

interface Document {
  json(options: object): readonly { offset: { start: number; length: number } }[];
}

/** The tagger whose word lists we use. It keeps the punctuation behind a name. */
async function compromise(): Promise<Find | null> {
  const { default: nlp } = await import('compromise');
  return (text) => {
    const document = nlp(text);
    const labels = (kind: string, part: Document): readonly Label[] =>
      part.json({ offset: true }).map(({ offset: { start, length } }) => ({
        kind,
        start,
        end: start + text.slice(start, start + length).replace(/[.,;:!?\s"')]+$/, '').length,
      }));
    return [
      ...labels('PERSON', document.people()),
      ...labels('LOCATION', document.places()),
      ...labels('ORGANIZATION', document.organizations()),
    ];
  };
}

async function openredaction(): Promise<Find | null> {
  const find = await openRedaction();
  return find === null ? null : async (text) => translated(await find(text));
}

const FORMS = ['e-mail', 'phone', 'card', 'IP, MAC'];

export const PII_SUITE: Suite = {
  detector: 'pii',
  judged: 'ranges',
  rows: ROWS,
  find: (text) => findPersonalData(text).filter(({ confidence }) => confidence >= THRESHOLD),
  peers: [
    {
      name: 'Cordon, asked for no names',
      rows: ['e-mail', 'phone', 'card', 'IBAN'],
      load: async () => (text) => findForms(text).filter(({ confidence }) => confidence >= THRESHOLD),
    },
    {
      name: '`openredaction` 1.1.5',
      rows: [...FORMS, 'IBAN', 'passport', 'postal address', 'date of birth', 'person'],
      load: openredaction,
    },
    { name: '`redact-pii` 3.4.0', rows: [...FORMS, 'postal address', 'person'], load: redactPii },
    { name: '`@redactpii/node` 1.0.17', rows: ['e-mail', 'phone', 'card', 'person'], load: redactPiiNode },
    {
      name: '`@coffeeandfun/remove-pii` 3.0.1',
      rows: [...FORMS, 'passport', 'postal address', 'date of birth'],
      load: removePii,
    },
    {
      name: '`@cdssnc/sanitize-pii` 2.1.1',
      rows: ['phone', 'card', 'IP, MAC', 'postal address'],
      load: sanitizePii,
    },
    { name: '`@arcjet/redact` 1.12.0', rows: FORMS, load: arcjet },
    { name: '`libphonenumber-js` 1.13.16', rows: ['phone'], load: phones },
    { name: '`compromise` 14.17.0', rows: ['person', 'place', 'organisation'], load: compromise },
  ],
  speedAim: null,
};
