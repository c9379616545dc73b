/**
 * Writes `texts/pii.jsonl`: personal data of every kind in mails, chats, forms, records and logs of several languages, and texts
 * with numbers and words that are none. `node bench/detectors/generation/pii.ts`. Nobody's data: domains and telephone numbers
 * that are reserved for examples where there are such, test numbers of cards, numbers drawn by a seed with their check digits.
 */
import { type Labelled, writeLabelled } from '../labelled.ts';
import { Chance, filled, type Part, wanted } from './writing.ts';

const chance = new Chance(20_260_607);
const DIGITS = '0123456789';
const digits = (length: number) => chance.text(DIGITS, length);
const number = (length: number) => chance.text('123456789', 1) + digits(length - 1);
const letters = (length: number) => chance.text('ABCDEFGHJKLMNPRSTUVWXYZ', length);

/** The first of the candidates that passes, drawn again and again. */
function drawn(draw: () => string, passes: (candidate: string) => boolean): string {
  for (;;) {
    const candidate = draw();
    if (passes(candidate)) return candidate;
  }
}

const grouped = (text: string, sizes: readonly number[], between = ' ') => {
  let at = 0;
  return sizes
    .map((size) => {
      at += size;
      return text.slice(at - size, at);
    })
    .join(between);
};

function weighted(text: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * Number(text[at]), 0);
}

function luhnDigit(body: string): string {
  const sum = [...body].reverse().reduce((total, one, at) => {
    const value = Number(one) * (at % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

// ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Published by payment services for tests, and drawn ones of the same networks. */
const card = (): string => {
  const [prefix, length, groups] = chance.one([
    ['4', 16, [4, 4, 4, 4]],
    ['51', 16, [4, 4, 4, 4]],
    ['2221', 16, [4, 4, 4, 4]],
    ['37', 15, [4, 6, 5]],
    ['6011', 16, [4, 4, 4, 4]],
    ['3056', 14, [4, 6, 4]],
    ['3530', 16, [4, 4, 4, 4]],
  ] as const);
  const body = prefix + digits(length - 1 - prefix.length);
  const whole = body + luhnDigit(body);
  return chance.one([whole, grouped(whole, groups), grouped(whole, groups, '-')]);
};

const IBANS: readonly (readonly [string, () => string])[] = [
  ['DE', () => digits(18)],
  ['GB', () => `${chance.one(['WEST', 'BARC', 'MIDL'])}${digits(14)}`],
  ['FR', () => digits(23)],
  ['ES', () => digits(20)],
  ['NL', () => `${chance.one(['ABNA', 'INGB', 'RABO'])}${digits(10)}`],
  ['IT', () => `${letters(1)}${digits(22)}`],
  ['CH', () => digits(17)],
  ['AT', () => digits(16)],
  ['BE', () => digits(12)],
  ['PL', () => digits(24)],
  ['SE', () => digits(20)],
  ['PT', () => digits(21)],
];

const iban = (): string => {
  const [country, body] = chance.one(IBANS);
  const rest = body();
  const check =
    98 - Number(BigInt([...`${rest}${country}00`].map((one) => Number.parseInt(one, 36)).join('')) % 97n);
  const whole = `${country}${String(check).padStart(2, '0')}${rest}`;
  return chance.one([whole, whole.replace(/(.{4})(?=.)/g, '$1 ')]);
};

const email = (): string => {
  const local = chance.one([
    'ada',
    'k.lindqvist',
    'maria_gonzalez',
    'j.o.smith',
    'info',
    'billing+2024',
    'müller',
    'first.last',
    'r2d2',
    'a',
  ]);
  const domain = chance.one([
    'example.org',
    'example.com',
    'mail.example.net',
    'shop.example.co.uk',
    'dept.uni.example',
    'example.de',
    'sub.example.io',
    'firma.test',
  ]);
  return `${local}@${domain}`;
};

/** In ranges that are set aside for films where a country has such, else random numbers of ordinary ranges. */
const phone = (): string =>
  chance.one([
    () => `+1 202 555 01${digits(2)}`,
    () => `(415) 555-01${digits(2)}`,
    () => `212-555-01${digits(2)}`,
    () => `+1-303-555-01${digits(2)}`,
    () => `+44 20 7946 0${digits(3)}`,
    () => `020 7946 0${digits(3)}`,
    () => `07700 900${digits(3)}`,
    () => `+44 (0)161 496 0${digits(3)}`,
    () => `+49 30 23125${digits(3)}`,
    () => `030/23125${digits(3)}`,
    () => `+49 (0) 89 99998${digits(3)}`,
    () => `0171 39200${digits(2)}`,
    () => `+33 1 99 00 ${digits(2)} ${digits(2)}`,
    () => `06 39 98 ${digits(2)} ${digits(2)}`,
    () => `+34 612 ${digits(3)} ${digits(3)}`,
    () => `+39 06 698${digits(5)}`,
    () => `+31 20 62${number(5)}`,
    () => `+41 44 668 ${number(2)} ${digits(2)}`,
    () => `+48 22 5${digits(2)} ${digits(2)} ${digits(2)}`,
    () => `+91 98765 ${number(5)}`,
    () => `+55 11 9${number(4)}-${digits(4)}`,
    () => `+81 3-${number(4)}-${digits(4)}`,
    () => `+86 138 ${number(4)} ${digits(4)}`,
    () => `+61 2 5550 ${digits(4)}`,
    () => `+61 491 570 1${digits(2)}`,
    () => `+353 1 677 ${number(4)}`,
    () => `+46 8 465 004 ${digits(2)}`,
    () => `0044 20 7946 0${digits(3)}`,
    () => `+7 495 123-${number(2)}-${digits(2)}`,
    () => `+52 55 5${digits(3)} ${digits(4)}`,
  ])();

const SSN = () => {
  const area = drawn(
    () => number(3),
    (one) => !/^(?:666|9\d\d)$/.test(one),
  );
  return `${area}-${String(chance.whole(1, 99)).padStart(2, '0')}-${String(chance.whole(1, 9999)).padStart(4, '0')}`;
};

const elevenDigits = (text: string): string => {
  let product = 10;
  for (const one of text) {
    const sum = (Number(one) + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return `${text}${(11 - product) % 10}`;
};

const germanTax = (): string => {
  const order = chance.shuffled([...DIGITS]);
  const body = drawn(
    () => {
      const ten = [...order.slice(0, 9), order[chance.whole(0, 8)] ?? '1'];
      return chance.shuffled(ten).join('');
    },
    (one) => !one.startsWith('0'),
  );
  return elevenDigits(body);
};

const nir = (): string => {
  const body = `${chance.one(['1', '2'])}${digits(2)}${String(chance.whole(1, 12)).padStart(2, '0')}${chance.whole(10, 95)}${number(6)}`;
  return grouped(`${body}${String(97 - Number(BigInt(body) % 97n)).padStart(2, '0')}`, [1, 2, 2, 2, 3, 3, 2]);
};

const NIF = 'TRWAGMYFPDXBNJZSQVHLCKE';
const nif = () => {
  const body = number(8);
  return `${body}${NIF[Number(body) % 23]}`;
};
const nie = () => {
  const first = chance.whole(0, 2);
  const body = digits(7);
  return `${'XYZ'[first]}${body}${NIF[Number(`${first}${body}`) % 23]}`;
};

const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
const fiscal = () => {
  const body = `${letters(6)}${digits(2)}${chance.one([...'ABCDEHLMPRST'])}${chance.whole(10, 28)}${letters(1)}${digits(3)}`;
  const sum = [...body].reduce((total, one, at) => {
    const value = /\d/.test(one) ? Number(one) : one.charCodeAt(0) - 65;
    return total + (at % 2 === 0 ? (ODD[value] ?? 0) : value);
  }, 0);
  return `${body}${String.fromCharCode(65 + (sum % 26))}`;
};

const cpf = () => {
  const body = number(9);
  const check = (text: string, first: number) => {
    const rest =
      weighted(
        text,
        Array.from({ length: text.length }, (_, at) => first - at),
      ) % 11;
    return String(rest < 2 ? 0 : 11 - rest);
  };
  const ten = body + check(body, 10);
  const whole = ten + check(ten, 11);
  return `${whole.slice(0, 3)}.${whole.slice(3, 6)}.${whole.slice(6, 9)}-${whole.slice(9)}`;
};

const aadhaar = () => {
  const multiply = (a: number, b: number): number =>
    a < 5 ? (b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5) : b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 10) % 5;
  const shift = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
  const passes = (text: string) => {
    let check = 0;
    for (const [at, one] of [...text].reverse().entries()) {
      let value = Number(one);
      for (let times = 0; times < at % 8; times++) value = shift[value] ?? 0;
      check = multiply(check, value);
    }
    return check === 0;
  };
  return grouped(
    drawn(() => `${chance.whole(2, 9)}${digits(11)}`, passes),
    [4, 4, 4],
  );
};

/** By kind: a value, and what announces it where it needs that. */
const NATIONAL: readonly (readonly [string, () => string, readonly string[]])[] = [
  [
    'US_SSN',
    SSN,
    ['SSN: {}', 'My social security number is {}.', '{"ssn": "{}"}', 'applicant {} was approved'],
  ],
  [
    'US_ITIN',
    () => `9${digits(2)}-${chance.whole(70, 88)}-${number(4)}`,
    ['ITIN {}', 'taxpayer number {} on the form'],
  ],
  [
    'UK_NINO',
    () =>
      `${chance.one(['AB', 'CE', 'JK', 'PW'])} ${digits(2)} ${digits(2)} ${digits(2)} ${chance.one([...'ABCD'])}`,
    ['National Insurance number: {}', 'NI no {} starts in April', 'his {} was wrong'],
  ],
  [
    'UK_NHS',
    () =>
      grouped(
        drawn(
          () => number(10),
          (one) => weighted(one, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
        ),
        [3, 3, 4],
      ),
    ['NHS number {}', 'patient (NHS {}) was seen'],
  ],
  [
    'DE_TAX_ID',
    germanTax,
    ['Steuer-ID: {}', 'Meine Steueridentifikationsnummer lautet {}.', '"steuerId": "{}"'],
  ],
  ['FR_NIR', nir, ['Numéro de sécurité sociale : {}', 'n° sécu {}', 'assurée {} depuis 2011']],
  ['ES_NIF', nif, ['DNI {}', 'con NIF {} y sin domicilio', 'documento: {}']],
  ['ES_NIE', nie, ['NIE {}', 'residente {} desde mayo']],
  ['IT_FISCAL_CODE', fiscal, ['Codice fiscale: {}', 'C.F. {}', 'il signor {} dichiara']],
  [
    'NL_BSN',
    () =>
      drawn(
        () => number(9),
        (one) => weighted(one, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
      ),
    ['BSN: {}', 'burgerservicenummer {}', 'Zijn BSN is {}.'],
  ],
  [
    'PL_PESEL',
    () =>
      drawn(
        () => `${digits(2)}0${chance.whole(1, 9)}${chance.whole(10, 28)}${digits(5)}`,
        (one) => weighted(one, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
      ),
    ['PESEL {}', 'nr PESEL: {}'],
  ],
  ['IN_AADHAAR', aadhaar, ['Aadhaar {}', 'Aadhaar number: {} (verified)', 'KYC {} done']],
  [
    'IN_PAN',
    () => `${letters(3)}P${letters(1)}${number(4)}${letters(1)}`,
    ['PAN: {}', 'PAN card {} attached'],
  ],
  ['BR_CPF', cpf, ['CPF: {}', 'portador do CPF {}', 'cliente {} ativo']],
  [
    'PASSPORT',
    () => chance.one([`${letters(1)}${number(8)}`, number(9), `C01X${digits(2)}T47`]),
    [
      'Passport number: {}',
      'Reisepass Nr. {}',
      'pasaporte {}',
      '"passport": "{}"',
      'passport no. {}, valid until 2031',
    ],
  ],
];

const macAddress = () =>
  Array.from({ length: 6 }, () => chance.text('0123456789abcdef', 2)).join(chance.one([':', ':']));
const ip = () =>
  chance.one([
    `192.0.2.${chance.whole(1, 254)}`,
    `198.51.100.${chance.whole(1, 254)}`,
    `203.0.113.${chance.whole(1, 254)}`,
    `10.${chance.whole(0, 255)}.${chance.whole(0, 255)}.${chance.whole(1, 254)}`,
    `2001:db8:${chance.text('123456789abcdef', 4)}::${chance.text('123456789abcdef', 3)}`,
    `fe80::${chance.text('123456789abcdef', 4)}:${chance.text('123456789abcdef', 4)}:${chance.text('123456789abcdef', 3)}1`,
  ]);

const ADDRESSES: readonly string[] = [
  '12 Main Street, Springfield, IL 62704',
  '1600 Example Avenue NW, Washington, DC 20500',
  '221B Baker Street, London NW1 6XE',
  '77 Sunset Blvd, Los Angeles, CA 90028',
  '4 Privet Drive',
  '350 Fifth Ave, New York, NY 10118',
  'Hauptstraße 5, 10115 Berlin',
  'Am Alten Markt 12, 50667 Köln',
  'Lindenweg 7a, 80331 München',
  'Bahnhofstr. 21, 8001 Zürich',
  'Mariahilfer Straße 100, 1070 Wien',
  '12 rue de la Paix, 75002 Paris',
  '5 avenue Anatole France, 75007 Paris',
  '8 bis boulevard Voltaire, 69003 Lyon',
  'Calle de Alcalá 45, 28014 Madrid',
  'Avenida Diagonal 211, 08018 Barcelona',
  'Via Roma 10, 00184 Roma',
  'Piazza Garibaldi 3, 80142 Napoli',
  'Keizersgracht 123, 1015 CJ Amsterdam',
  'Rua Augusta 1500, São Paulo',
  'ul. Marszałkowska 12, 00-590 Warszawa',
  '18 Rothschild Close, Leeds LS1 4DY',
  '99 King St W, Toronto, ON M5H 1J9',
  'PO Box 1234',
];

const BORN: readonly string[] = [
  '12 March 1984',
  '1984-03-12',
  '03/12/1984',
  '12.03.1984',
  'March 12, 1984',
  '7 May 1961',
  '21/11/2001',
  '1990-07-04',
];

// ── names, written out: who reads them must not be told by the lists that the detector has ──────────────────────

const NAMES: readonly string[] = [
  'Maria Gonzalez',
  'Priya Raghunathan',
  'Chukwuemeka Okonkwo',
  'Søren Kierkegaard',
  'Yuki Tanaka',
  'Wei Zhang',
  'Fatima Al-Sayed',
  'Jean-Luc Moreau',
  'Katarzyna Nowak',
  'Dmitri Volkov',
  'Aoife O’Sullivan',
  'Lars Lindqvist',
  'Sarah Johnson',
  'Michael Brown',
  'Emily Clark',
  'David Nguyen',
  'Hannah Becker',
  'Thomas Müller',
  'Carlos Mendoza',
  'Giulia Rossi',
  'João Pereira',
  'Mehmet Yılmaz',
  'Omar Haddad',
  'Thandiwe Dlamini',
  'Min-jun Kim',
  'Anika Sharma',
  'Rebecca Goldstein',
  'Oliver Thompson',
  'Zoë van der Berg',
  'Ludwig von Hohenfels',
  'Beatriz de la Cruz',
  'Ingrid Solheim',
  'Tomasz Zieliński',
  'Nikolaos Papadakis',
  'Elena Popescu',
  'Rashid Khan',
  'Siobhan Murphy',
  'Kwame Mensah',
  'Lucía Fernández',
  'Pieter de Vries',
  'Grace Hopper',
  'Mark Ellison',
  'Will Hargreaves',
  'April Summers',
  'Jordan Blake',
  'Charlotte Webb',
  'Austin Reyes',
  'Rose Whitfield',
];
const FIRST: readonly string[] = [
  'Maria',
  'Priya',
  'Tom',
  'Sarah',
  'Ahmed',
  'Yuki',
  'Lena',
  'Carlos',
  'Emily',
  'Kwame',
  'Ingrid',
  'Mateusz',
  'Will',
  'Grace',
  'Mark',
  'Jordan',
];
const PLACES: readonly string[] = [
  'Berlin',
  'Munich',
  'Paris',
  'London',
  'New York',
  'San Francisco',
  'Tokyo',
  'Osaka',
  'Lagos',
  'Nairobi',
  'São Paulo',
  'Buenos Aires',
  'Mexico City',
  'Toronto',
  'Vancouver',
  'Sydney',
  'Melbourne',
  'Mumbai',
  'Bangalore',
  'Singapore',
  'Istanbul',
  'Cairo',
  'Warsaw',
  'Prague',
  'Vienna',
  'Zurich',
  'Amsterdam',
  'Lisbon',
  'Madrid',
  'Rome',
  'Dublin',
  'Edinburgh',
  'Oslo',
  'Reykjavik',
  'Germany',
  'France',
  'Japan',
  'Brazil',
  'Kenya',
  'India',
  'Canada',
  'Texas',
  'California',
  'Bavaria',
  'Lake Geneva',
  'Heidelberg',
  'Ghent',
  'Porto',
  'Aarhus',
  'Tbilisi',
  'Chattanooga',
  'Grenoble',
];
const ORGANISATIONS: readonly string[] = [
  'Siemens',
  'Google',
  'Microsoft',
  'Acme Corp.',
  'Globex Corporation',
  'Initech LLC',
  'Umbrella Inc.',
  'Wayne Enterprises',
  'Deutsche Bank',
  'the University of Oslo',
  'Harvard University',
  'the World Health Organization',
  'the United Nations',
  'Lindqvist & Sons Ltd',
  'Novartis',
  'Red Cross',
  'Ministry of Health',
  'Mayo Clinic',
  'Stark Industries',
  'Northwind Traders',
  'Contoso GmbH',
  'Bluebird Airlines',
  'Riverside Hospital',
  'Samsung',
].map((name) => name.replace(/^the /, ''));

const PERSON_FRAMES: readonly string[] = [
  'My name is {} and I would like to cancel my order.',
  'Dear {}, thank you for your message.',
  'Please forward this to {} before noon.',
  '{} said that the contract is ready.',
  'We met with {} last week to talk about the budget.',
  'The report was written by {} and reviewed by nobody.',
  '{"customer": {"full_name": "{}", "tier": "gold"}}',
  'Attendees: {}, and two guests from the city.',
  'I spoke to {} about it, and he agreed.',
  'Patient: {}\nDiagnosis: none',
  'Best regards,\n{}',
  'Can you ask {} whether the room is free?',
  'On Tuesday {} will present the results.',
  'Ticket assigned to {} by the system.',
  'Prof. {} teaches statistics.',
  'from: {} (reporter)',
];
const FIRST_FRAMES: readonly string[] = [
  'Hi {}, how are you?',
  'I asked {} to send it.',
  '{} said she would come.',
  'Thanks, {}!',
  'It was {}’s idea from the beginning.',
  'lunch with {} at noon',
];
const PLACE_FRAMES: readonly string[] = [
  'The office in {} opens in spring.',
  'She moved to {} two years ago.',
  'Flights from {} are cheap this week.',
  '{"city": "{}", "zip": "00000"}',
  'We shipped it to {} yesterday.',
  'It is raining in {} again.',
  'Our team in {}, which is small, grew quickly.',
  'born and raised in {}',
  'The train to {} leaves at nine.',
  'location: {}',
];
const ORGANISATION_FRAMES: readonly string[] = [
  'He works at {} since May.',
  'The invoice of {} is due.',
  'A contract with {} was signed.',
  '{} announced a new product.',
  'She studied at {} for a year.',
];

// ── places for values ───────────────────────────────────────────────────────────────────────────────────────────

const VALUE_FRAMES: Readonly<Record<string, readonly string[]>> = {
  EMAIL_ADDRESS: [
    'Write to {} please.',
    'Contact: <{}>',
    '{"email":"{}"}',
    'Meine Adresse ist {}, bis bald!',
    'mailto:{}?subject=hello',
    'Mon courriel : {}.',
    'cc={}&bcc=',
    "'{}' is not registered",
    'ссылка: {} (рабочая)',
    '連絡先は{}です',
    'a,b,{},c',
    '({})',
    'user {} logged in from the office',
    '- {}\n- nobody\n',
  ],
  PHONE_NUMBER: [
    'Call me at {}.',
    'Tel.: {}',
    'Phone: {} (office)',
    '{"phone": "{}"}',
    'Meine Nummer: {}',
    'Téléphone {}',
    'Llámame al {} mañana',
    'WhatsApp {}',
    'mobile {}, after six',
    'The hotline is {} and free of charge.',
    'fax {}',
    'tel:{}',
  ],
  CREDIT_CARD: [
    'Card number {}',
    'Please charge {} today.',
    '{"card":"{}","cvc":"***"}',
    'Kreditkarte: {}, gültig bis 04/29',
    'paid with {} at the desk',
    'carte {}',
    'cc {} exp 11/30',
    'log: payment token created for {} ok',
  ],
  IBAN_CODE: [
    'IBAN: {}',
    'Bitte überweisen Sie auf {}.',
    'Transfer it to {} by Friday.',
    '{"iban":"{}"}',
    'compte {} ouvert',
    'account {} BIC TESTDEFF',
    'IBAN {}, Kontoinhaber bekannt',
  ],
  IP_ADDRESS: [
    'connection from {} refused',
    '{"ip":"{}"}',
    'host {} is down',
    'ping {} failed',
    'Die Adresse {} ist gesperrt',
  ],
  MAC_ADDRESS: ['device {} joined', 'ether {} txqueuelen 1000', '{"mac":"{}"}'],
  ADDRESS: [
    'Ship it to {}.',
    'I live at {} since May.',
    'Address: {}\n',
    '{"address": "{}"}',
    'We are at {}; come by.',
    'Meine Adresse: {}',
  ],
  DATE_OF_BIRTH: [
    'Date of birth: {}',
    'She was born on {} in a small town.',
    'DOB {}',
    'geboren am {}',
    'née le {}',
    'fecha de nacimiento: {}',
    '{"birthdate": "{}"}',
    'His birthday is {}.',
  ],
};

const VALUES: Readonly<Record<string, () => string>> = {
  EMAIL_ADDRESS: email,
  PHONE_NUMBER: phone,
  CREDIT_CARD: card,
  IBAN_CODE: iban,
  IP_ADDRESS: ip,
  MAC_ADDRESS: macAddress,
  ADDRESS: () => chance.one(ADDRESSES),
  DATE_OF_BIRTH: () => chance.one(BORN),
};
/** Texts of one frame. */
const EACH: Readonly<Record<string, number>> = {
  EMAIL_ADDRESS: 4,
  PHONE_NUMBER: 6,
  CREDIT_CARD: 5,
  IBAN_CODE: 5,
  IP_ADDRESS: 3,
  MAC_ADDRESS: 2,
  ADDRESS: 4,
  DATE_OF_BIRTH: 2,
};

function place(note: string, frame: string, value: Part): Labelled {
  const at = frame.indexOf('{}');
  return filled(note, '{}{}{}', frame.slice(0, at), value, frame.slice(at + 2));
}

function times<T>(count: number, make: () => T): readonly T[] {
  return Array.from({ length: count }, make);
}

function positives(): readonly (readonly Labelled[])[] {
  const values = Object.entries(VALUE_FRAMES).flatMap(([kind, frames]) =>
    frames.map((frame) =>
      times(EACH[kind] ?? 1, () =>
        place('a value in a sentence or record', frame, wanted(kind, VALUES[kind]?.() ?? '')),
      ),
    ),
  );
  const national = NATIONAL.flatMap(([kind, value, frames]) =>
    frames.map((frame) => times(2, () => place('a national number', frame, wanted(kind, value())))),
  );
  const named = (kind: string, frames: readonly string[], names: readonly string[], each: number) =>
    frames.map((frame) =>
      times(each, () => place('a name in a sentence or record', frame, wanted(kind, chance.one(names)))),
    );
  return [
    ...values,
    ...national,
    ...named('PERSON', PERSON_FRAMES, NAMES, 5),
    ...named('PERSON', FIRST_FRAMES, FIRST, 3),
    ...named('LOCATION', PLACE_FRAMES, PLACES, 6),
    ...named('ORGANIZATION', ORGANISATION_FRAMES, ORGANISATIONS, 5),
  ];
}

/** Numbers and words that are nobody's. */
const NONE: readonly string[] = [
  'Order 4417 1234 5678 9114 was shipped',
  'tracking number 1Z999AA10123456784',
  'ISBN 978-3-16-148410-0',
  'ISSN 2049-3630',
  'EAN 4006381333931',
  'invoice 2024-000123',
  'ticket #20240115-001',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'epoch 1700000000',
  '1700000000000 ms',
  '2024-01-15T12:30:45.123Z',
  '15.01.2024, 12:30 Uhr',
  'between 2019-2023',
  'version 10.15.7',
  'v1.2.3.4 released',
  'release 2.0.0.1 is out',
  'section 1.2.3.4 of the manual',
  'pi is 3.14159265358979',
  'coordinates 52.520008, 13.404954',
  '1,234,567.89 USD',
  '12.345.678,90 EUR',
  '$4,111,111,111',
  'population 1 400 000 000',
  'chunk 0x7ffee4c0',
  '550e8400-e29b-41d4-a716-446655440000',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'port 8080, pid 123456',
  'RFC 2822 and RFC 5321',
  'CVE-2024-12345',
  'doi:10.1000/182',
  'model WH-1000XM5',
  'part no 5000123456',
  'batch 202401150001',
  'flight LH1234 at gate B42',
  'room 101, floor 3',
  'bus 42 to the harbour',
  'npm install pkg@1.2.3',
  'git@github.com:org/repo.git',
  '@mention in a chat',
  'user@host',
  'ssh deploy@server',
  'logo@2x.png',
  'a@b',
  'foo @ bar',
  'https://example.org/@handle',
  'https://deploy@ci.example.org/job/1',
  'x = a@b.T',
  '@pytest.mark.parametrize',
  '12:30:45',
  '00:00:00:00',
  'ratio 16:9',
  'std::vector::push_back',
  'a::b::c',
  'css a:hover { color: red }',
  'range 10.0-12.5',
  'scores: 10 9 8 7 6 5 4 3 2 1',
  '4111 1111 1111 1112 is no card',
  '5105-1051-0510-5101',
  'DE88 3704 0044 0532 0130 00 has a wrong check digit',
  'GB82 WEST 1234 5698 7654 33',
  'account 12345678',
  'SKU 123-45-6789-X',
  'part 000-12-3456',
  'the code 666-12-3456',
  '900-12-3456 is nothing',
  'IP 256.1.2.3',
  '1.2.3',
  'loop 10.0.0',
  'seed 20260606',
  'lottery 4 8 15 16 23 42',
  'phone home',
  'call the function twice',
  'call foo(1234567, 7654321)',
  'the number is 42',
  'number of rows: 1048576',
  'id 8675309',
  'reference 555-1234-AB',
  'timeout=30000000',
  'zip 62704',
  'PLZ 10115',
  'room +1',
  'C++ 11 and +2 points',
  'temperature +25 to +30',
  'size 10 000 000 bytes',
  '00 11 22 33 44 55 66',
  'hex 00:11:22',
  'mac and cheese',
  'passport control',
  'passport photo 35x45',
  'born ready',
  'a star is born in 2018',
  'the birth of a nation',
  'date of the meeting: 12 March 2024',
  'valid until 31.12.2029',
  'published 1984-03-12',
  '12 Monkeys',
  '5 Stars Hotel',
  '100 Years of Solitude',
  '3 Street musicians',
  '24 Hours of service',
  '2024 Annual Report',
  'Route 66',
  'Highway to hell',
  'Top 10 Ways to relax',
  'Chapter 4 Drive',
  'the way 2 go',
  'ring 0 and ring 1',
  'weg 2 mit dir',
  'Platz 3 im Turnier',
  'Formel 1',
  'hof 12',
  'page 12, place 3',
  'BSN 111222334 (Prüfziffer falsch)',
  'PESEL 44051401358',
  'CPF 111.111.111-11',
  'DNI 12345678A',
  'NHS number 943 476 5918',
  'Aadhaar 2345 6789 0123',
  'AB123456E',
  'BG123456A',
  'XX12345678',
  'serial RSSMRA85T10A562T',
  'PAN paper',
  'a pan 1234',
];
const NO_NAMES: readonly string[] = [
  'The build will run in May, and then we mark the bill as paid.',
  'Please log in with Google Chrome or Safari.',
  'JavaScript and Python are languages.',
  'On Monday, the Board met.',
  'Click Save, then Open Settings.',
  'The Terms of Service apply.',
  'Error: Connection Refused',
  'Happy New Year!',
  'Dear Sir or Madam, see below.',
  'Dear Customer, your parcel is here.',
  'Hi team, lunch is ready.',
  'Hello World',
  'Hello Kitty is a cat.',
  'Best regards',
  'Kind Regards',
  'Thank You',
  'Good Morning everyone',
  'Read the README first.',
  'Use the Read API.',
  'Total Amount Due',
  'Order Number and Date',
  'Privacy Policy',
  'Customer Service',
  'Machine Learning with Docker',
  'I am Happy to help.',
  'Subject: Weekly Report',
  'From: Support',
  'To: All Staff',
  'The Great Gatsby is a novel.',
  'Black Friday Sale',
  'Visual Studio Code',
  'Windows and Linux',
  'We will grace the stage with hope and faith.',
  'He has a frank opinion and a rich history.',
  'The rose is red.',
  'It may rain in April or June.',
  'Jack of all trades',
  'Nice work!',
  'A mobile phone and a reading lamp',
  'turkey sandwich with china plates',
  'The orange jersey',
  'Split the file',
  'Main Page',
  'Next Steps',
  'Project Plan',
  'User Guide',
  'Quick Start',
  'Error Handling in Rust',
  'Kubernetes Pods',
  'Apache Kafka and Redis',
  'The Constitution',
  'Thanksgiving Dinner',
  'Chief Executive Officer',
  'Senior Engineer',
  'My name is not important.',
  'What is your name?',
  'Signed by the author',
  'Written by hand',
  'Named Entity Recognition',
  'I’m Sorry',
  'This is Important',
  'Contact Sales',
  'With Love',
  'By Design',
  'In General, yes.',
  'In English, please.',
  'In Python, use a list.',
  'To Whom It May Concern',
  'At Least Once',
  'From Scratch',
  'API Key Rotation',
  'GET /users',
  'SELECT name FROM customers',
  'TRUE or FALSE',
  'class User extends Person',
  'new Date()',
  'String.valueOf(x)',
  'const Foo = require("foo")',
  'Die Rechnung liegt im Anhang.',
  'Das Treffen findet am Freitag statt.',
  'Der Bericht ist fertig.',
  'Le rapport est prêt.',
  'El informe está listo.',
];
const AROUND = ['{}', 'Note: {}', '{"text": "{}"}'];

function negatives(): readonly (readonly Labelled[])[] {
  return [...NONE, ...NO_NAMES].map((text) =>
    AROUND.map((around) => ({
      text: around.replace('{}', () => text),
      findings: [],
      note: 'nobody’s number, and no name',
    })),
  );
}

writeLabelled('pii', chance.shuffled([...positives(), ...negatives()]));
