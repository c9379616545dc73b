import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyze, ExplainingMonitor, mask } from '@cordon/policy-tools';
import { standardDetectors } from '../../src/library/standard-library.ts';
import { KINDS } from '../../src/pii/kinds.ts';
import { DIGITS_FIRST, LETTERS_FIRST } from '../../src/pii/numbers.ts';
import { findPersonalData } from '../../src/pii/pii.ts';

function found(text: string, ...kinds: readonly string[]): readonly string[] {
  return findPersonalData(text, kinds.length === 0 ? null : new Set(kinds))
    .filter(({ confidence }) => confidence >= 0.5)
    .map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
}

test('addresses of persons and machines are found with their exact ranges', () => {
  assert.deepEqual(found('Mail <ada@example.org>, or bob.o’neil@sub.example.co.uk.'), [
    'EMAIL_ADDRESS ada@example.org',
    'EMAIL_ADDRESS neil@sub.example.co.uk',
  ]);
  assert.deepEqual(found('at 10.1.2.3 and fe80::1ff:fe23:4567:890a, aa:bb:cc:dd:ee:ff'), [
    'IP_ADDRESS 10.1.2.3',
    'IP_ADDRESS fe80::1ff:fe23:4567:890a',
    'MAC_ADDRESS aa:bb:cc:dd:ee:ff',
  ]);
  assert.deepEqual(found('Internet 10.1.2.3 ARPA 001a.2b3c.4d5e'), [
    'IP_ADDRESS 10.1.2.3',
    'MAC_ADDRESS 001a.2b3c.4d5e',
  ]);
});

test('passports and dates of birth are found in the forms of other countries', () => {
  for (const [text, expected] of [
    ['passeport n° 14AB12345', 'PASSPORT 14AB12345'],
    ['паспорт 4510 123456', 'PASSPORT 4510 123456'],
    ['née le 14 juillet 1969', 'DATE_OF_BIRTH 14 juillet 1969'],
    ['date_of_birth=19840723', 'DATE_OF_BIRTH 19840723'],
    ['DOB 23-Jul-1984', 'DATE_OF_BIRTH 23-Jul-1984'],
    ['тел. 8 (495) 123-45-67', 'PHONE_NUMBER 8 (495) 123-45-67'],
    ['habite 8 Rue Victor Hugo, 69002 Lyon', 'ADDRESS 8 Rue Victor Hugo, 69002 Lyon'],
  ] as const)
    assert.deepEqual(found(text, expected.split(' ')[0] ?? ''), [expected], text);
});

test('what only looks like an address is none', () => {
  for (const text of [
    'npm i pkg@1.2.3',
    'git@github.com:a/b.git',
    'logo@2x.png',
    'a @ b',
    'https://user@host.example/',
    '12:30:45',
    'v1.2.3.4',
    '.NET Framework 4.7.2.0',
    '1.2.3.4.5',
    '1234.5678.9012',
    'Chapter 12 The Long Road',
    'Merry Christmas!',
  ])
    assert.deepEqual(found(text), [], text);
});

test('`sin` and `nas` announce a number of Canada only right before it: they are words of other languages', () => {
  for (const text of [
    'Pedido 046454286 enviado sin gastos',
    'sin gastos de envío 046454286',
    'nas lojas: 046454286',
  ])
    assert.deepEqual(found(text, 'CA_SIN'), [], text);
  for (const text of ['SIN: 046454286', 'my SIN is 046454286', 'NAS no. 046454286', 'SIN (046454286)'])
    assert.deepEqual(found(text, 'CA_SIN'), ['CA_SIN 046454286'], text);
});

test('accounts and cards have their check digits', () => {
  assert.deepEqual(found('pay 4111 1111 1111 1111 or DE89 3704 0044 0532 0130 00 now'), [
    'CREDIT_CARD 4111 1111 1111 1111',
    'IBAN_CODE DE89 3704 0044 0532 0130 00',
  ]);
  assert.deepEqual(found('pay 4111 1111 1111 1112 or DE88 3704 0044 0532 0130 00 now'), []);
});

test('national numbers are found by their form and check digits, or behind the word for them', () => {
  for (const [text, expected] of [
    ['ssn 536-22-8726', 'US_SSN 536-22-8726'],
    ['NINO: AB 12 34 56 C', 'UK_NINO AB 12 34 56 C'],
    ['NHS number 943 476 5919', 'UK_NHS 943 476 5919'],
    ['Steuer-ID 86095742719', 'DE_TAX_ID 86095742719'],
    ['DNI 12345678Z', 'ES_NIF 12345678Z'],
    ['NIE X1234567L', 'ES_NIE X1234567L'],
    ['CF RSSMRA85T10A562S', 'IT_FISCAL_CODE RSSMRA85T10A562S'],
    ['BSN 111222333', 'NL_BSN 111222333'],
    ['SIN 046 454 286', 'CA_SIN 046 454 286'],
    ['henkilötunnus 131052-308T', 'FI_PERSONAL_IDENTITY_CODE 131052-308T'],
    ['PESEL 44051401359', 'PL_PESEL 44051401359'],
    ['CPF 529.982.247-25', 'BR_CPF 529.982.247-25'],
    ['CNPJ 11.222.333/0001-81', 'BR_CNPJ 11.222.333/0001-81'],
    ['PAN ABCPE1234F', 'IN_PAN ABCPE1234F'],
    ['AHV 756.9217.0769.85', 'CH_AHV 756.9217.0769.85'],
    ['passport no. C01X00T47', 'PASSPORT C01X00T47'],
    ['born on 12 March 1984', 'DATE_OF_BIRTH 12 March 1984'],
  ] as const)
    assert.deepEqual(found(text), [expected], text);
});

test('the kinds of Presidio are found, each beside a text that only looks like it', () => {
  for (const [kind, text, expected, lookalike] of [
    [
      'CRYPTO',
      'pay 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      'pay 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb',
    ],
    [
      'CRYPTO',
      'to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp',
    ],
    ['US_PASSPORT', 'passport number 912803456', '912803456', 'passport no. C01X00T47'],
    ['US_BANK_NUMBER', 'bank account number: 945456787654', '945456787654', 'order number: 945456787654'],
    [
      'US_DRIVER_LICENSE',
      "driver's license number: H12234567",
      'H12234567',
      'the driver has 12234567 points',
    ],
    ['US_DRIVER_LICENSE', 'Driver License: D123-456-78-901', 'D123-456-78-901', 'device driver 450.80.02'],
    ['MEDICAL_LICENSE', 'DEA number BB1388568', 'BB1388568', 'DEA number BB1388569'],
    ['URL', 'see https://a.example/x?y=1.', 'https://a.example/x?y=1', 'see a.example'],
    ['URL', 'see www.example.com/a now', 'www.example.com/a', 'wwww.'],
    ['DATE_TIME', 'due 2024-03-01T10:30', '2024-03-01T10:30', 'version 2024.3'],
    ['DATE_TIME', 'on March 5, 2024 at 10:30 pm', 'March 5, 2024 at 10:30 pm', 'march on'],
    ['NRP', 'She is Austrian.', 'Austrian', 'She likes polish.'],
    ['NRP', 'a Buddhist wedding', 'Buddhist', 'a bud'],
  ] as const) {
    assert.deepEqual(found(text, kind), [`${kind} ${expected}`], text);
    assert.deepEqual(found(lookalike, kind), [], lookalike);
  }
});

test('an address is a place too, and what a rule does not ask for hides nothing', () => {
  const text = 'at 12 Main Street, Springfield, IL 62704';
  assert.deepEqual(found(text, 'LOCATION'), ['LOCATION 12 Main Street, Springfield, IL 62704']);
  const kinds = (line: string) => {
    const analysis = analyze(policyOf(line), [{ role: 'user', content: text }]);
    assert.ok(analysis.ok);
    return analysis.value.errors.length;
  };
  assert.equal(kinds('"LOCATION" in pii(m)'), 1);
  assert.equal(kinds('"ADDRESS" in pii(m)'), 1);
  assert.equal(kinds('"PERSON" in pii(m)'), 0);
});

test('a finding of two kinds is of both where a rule asks for both', () => {
  const text = 'at 12 Main Street, Springfield, IL 62704';
  assert.deepEqual(found(text, 'LOCATION', 'ADDRESS'), [
    'ADDRESS 12 Main Street, Springfield, IL 62704',
    'LOCATION 12 Main Street, Springfield, IL 62704',
  ]);
  assert.deepEqual(found('passport number 912803456', 'US_PASSPORT', 'PASSPORT'), [
    'PASSPORT 912803456',
    'US_PASSPORT 912803456',
  ]);
});

test('a kind that nothing finds is refused where it is written, and leaves the rule undecided where it is computed', () => {
  const loaded = (entities: string) =>
    loadPolicy(
      `from invariant.detectors import pii\nKINDS := ["BANANA"]\nraise "x" if:\n    (m: Message)\n    any(pii(m, ${entities}))\n`,
      { detectors: standardDetectors() },
    );
  for (const entities of ['["IBAN_CODE", "BANANA"]', 'entities=["BANANA"]', 'KINDS']) {
    const policy = loaded(entities);
    assert.ok(!policy.ok);
    assert.deepEqual(
      policy.fault.map(({ code, message }) => `${code} ${message}`),
      ['POL025 `entities` of `pii` cannot be "BANANA"'],
    );
  }
  assert.ok(loaded('["IBAN_CODE", "US_PASSPORT"]').ok);
  const misspelt = loaded('["PHONE_NUMBERS"]');
  assert.equal(misspelt.ok ? '' : misspelt.fault[0]?.help, 'did you mean "PHONE_NUMBER"?');
  for (const kind of ['BANANA', 'email_address', ''])
    assert.deepEqual(reasons('any(pii(m, [m.content]))', kind), [
      `\`pii\` does not find the kind ${JSON.stringify(kind)}`,
    ]);
  assert.deepEqual(reasons('any(pii(m, [m.content]))', 'IBAN_CODE'), []);
});

test('every kind that is found can be asked for', () => {
  const found = ['ADDRESS', 'DATE_OF_BIRTH', ...[...DIGITS_FIRST, ...LETTERS_FIRST].map(({ kind }) => kind)];
  assert.deepEqual(
    found.filter((kind) => !KINDS.has(kind)),
    [],
  );
});

test('an argument that `pii` does not have is refused', () => {
  const policy = loadPolicy(
    'from invariant.detectors import pii\nraise "x" if:\n    (m: Message)\n    any(pii(m, entites=["PERSON"]))\n    any(pii(m, [], 0.5, 1))\n',
    { detectors: standardDetectors() },
  );
  assert.deepEqual(policy.ok ? [] : policy.fault.map(({ code, message }) => `${code} ${message}`), [
    'POL014 `pii` has no argument named `entites`',
    'POL014 `pii` takes (data, entities, threshold)',
  ]);
});

function reasons(line: string, content: string): readonly string[] {
  const analysis = analyze(policyOf(line), [{ role: 'user', content }]);
  assert.ok(analysis.ok);
  return analysis.value.undecided.map(({ reason }) => reason);
}

test('one wrong digit is no number of a person', () => {
  for (const text of [
    'DNI 12345678A',
    'CPF 529.982.247-26',
    'BSN 111222334',
    'PESEL 44051401358',
    'NHS number 943 476 5918',
    'ssn 000-22-8726',
  ])
    assert.deepEqual(found(text), [], text);
});

test('telephone numbers of all countries are found where they are written as such', () => {
  assert.deepEqual(found('call +49 30 1234567 or (202) 555-0143, also 020 7946 0958'), [
    'PHONE_NUMBER +49 30 1234567',
    'PHONE_NUMBER (202) 555-0143',
    'PHONE_NUMBER 020 7946 0958',
  ]);
  assert.deepEqual(found('order 1234567890 of 2024-01-15, 1.234.567 pieces, ISBN 978-3-16-148410-0'), []);
});

test('postal addresses are found in several languages', () => {
  assert.deepEqual(
    found('at 12 Main Street, Springfield, IL 62704; or Hauptstraße 5, 10115 Berlin', 'ADDRESS'),
    ['ADDRESS 12 Main Street, Springfield, IL 62704', 'ADDRESS Hauptstraße 5, 10115 Berlin'],
  );
  assert.deepEqual(found('12 Monkeys is a film, and 5 Users were there', 'ADDRESS'), []);
});

test('names are found by lists and by what stands around them', () => {
  assert.deepEqual(found('Maria Gonzalez works at Siemens in Munich.'), [
    'PERSON Maria Gonzalez',
    'ORGANIZATION Siemens',
    'LOCATION Munich',
  ]);
  assert.deepEqual(found('The build will run in May, and then we mark the bill as paid.'), []);
});

function policyOf(line: string) {
  const text = `from invariant.detectors import pii\nraise "x" if:\n    (m: Message)\n    ${line}\n`;
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy));
  return policy.value;
}

test('the name of an organisation begins behind what somebody is in it', () => {
  assert.deepEqual(found('Anna Kowalska, CFO of Initech GmbH, resigned.'), [
    'PERSON Anna Kowalska',
    'ORGANIZATION Initech GmbH',
  ]);
  assert.deepEqual(found('Maria Rossi lives near Lake Como.'), ['PERSON Maria Rossi', 'LOCATION Lake Como']);
});

test('a rule may ask for some kinds only, by position or by name, and masking hides exactly what was found', () => {
  const trace = [{ role: 'user', content: 'ada@example.org, 🙂 +49 30 1234567' }];
  for (const line of [
    'any(pii(m, ["PHONE_NUMBER"]))',
    'any(pii(m, entities=["PHONE_NUMBER"]))',
    '"PHONE_NUMBER" in pii(m, entities=["PHONE_NUMBER"])',
  ]) {
    const analysis = analyze(policyOf(line), trace);
    assert.ok(analysis.ok);
    const [error] = analysis.value.errors;
    assert.deepEqual(error?.ranges, ['0', '0.content:19-33']);
    assert.deepEqual(mask(trace, error?.ranges ?? []), [
      { role: 'user', content: 'ada@example.org, 🙂 **************' },
    ]);
  }
  const analysis = analyze(policyOf('any(pii(m, ["IBAN_CODE"]))'), trace);
  assert.ok(analysis.ok);
  assert.deepEqual(analysis.value.errors, []);
});

test('the value references of tool patterns ask it', () => {
  const text =
    'raise "x" if:\n    (c: ToolCall)\n    c is tool:send({to: <EMAIL_ADDRESS>, body: <PERSON>})\n';
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok);
  const verdict = (to: string, body: string) => {
    const call = {
      type: 'ToolCall',
      callId: null,
      kind: 'function',
      name: 'send',
      arguments: { to, body },
    } as const;
    return new ExplainingMonitor(policy.value).decide([call]).verdict;
  };
  assert.equal(verdict('ada@example.org', 'Maria Gonzalez says hello'), 'deny');
  assert.equal(verdict('ada@example.org', 'it rains'), 'allow');
  assert.equal(verdict('ada', 'Maria Gonzalez says hello'), 'allow');
});

test('what is no list of kinds leaves the rule undecided', () => {
  const analysis = analyze(policyOf('any(pii(m, 3))'), [{ role: 'user', content: 'x' }]);
  assert.ok(analysis.ok);
  assert.deepEqual(
    analysis.value.undecided.map(({ reason }) => reason),
    ['`entities` of `pii` is a list of kinds'],
  );
});
