import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANNER } from '@cordon/planner';
import * as facts from '../../src/memory/facts.ts';

const { factsFrom } = facts;
/** What patterns find, as the hub keeps it. */
const factsIn = (message: string) => facts.factsIn(message, PLANNER.stated);

test('the personal data of figure 7 are found as the user typed them', () => {
  const query =
    'I want to schedule an appointment. Here is some of my personal information: name = Michael Smith, date of birth = May 20th, 1980, city = Irvine, email address = michael.smith@email.com. Symptoms = Recent heart surgery and ongoing issues with controlled hypertension, along with asthma. Other details = I want to schedule an appointment on June 1st. Please try to arrange the most advanced service for me.';
  assert.deepEqual(factsIn(query), [
    { name: 'name', value: 'Michael Smith' },
    { name: 'date of birth', value: 'May 20th, 1980' },
    { name: 'city', value: 'Irvine' },
    { name: 'e-mail', value: 'michael.smith@email.com' },
    {
      name: 'symptoms',
      value: 'Recent heart surgery and ongoing issues with controlled hypertension, along with asthma',
    },
    { name: 'other details', value: 'I want to schedule an appointment on June 1st' },
  ]);
});

test('statements about oneself are facts', () => {
  assert.deepEqual(factsIn('By the way, my home city is Turin, and it rains.'), [
    { name: 'home city', value: 'Turin' },
  ]);
});

for (const [message, ...facts] of [
  ['My name is Michael and my city is Irvine', 'name=Michael', 'city=Irvine'],
  ['my name is Michael Smith, my city is Irvine', 'name=Michael Smith', 'city=Irvine'],
  ["I'm Michael Smith and I live in Irvine", 'name=Michael Smith', 'city=Irvine'],
  ['Hi, I’m Michael and I live in New York, near the park.', 'name=Michael', 'city=New York'],
  ['I am Michael Smith from Irvine.', 'name=Michael Smith'],
  [
    'Name: Michael Smith\nE-mail: m@email.com\nPhone: +39 011 555 01 23',
    'name=Michael Smith',
    'e-mail=m@email.com',
    'phone=+39 011 555 01 23',
  ],
  ['Book it. My data: Name: Michael Smith, City: Irvine', 'name=Michael Smith', 'city=Irvine'],
  ['I prefer business class, so book that.', 'preference=business class'],
  ['I always prefer quiet, central hotels.', 'preference=quiet, central hotels'],
  ['my seat preference is a seat at the window', 'seat preference=a seat at the window'],
  ['my balance is 500 and my dog is Rex', 'balance=500', 'dog=Rex'],
  ['My favourite colours are red and blue.', 'favourite colours=red and blue'],
  ['My e-mail is michael.smith@email.com.', 'e-mail=michael.smith@email.com'],
  [
    'my phone number is +1 (949) 555-0123 and my zip code is 92617',
    'phone=+1 (949) 555-0123',
    'postal code=92617',
  ],
  ['My date of birth is May 20th, 1980, as you know.', 'date of birth=May 20th, 1980'],
  ['I was born on 1980-05-20.', 'date of birth=1980-05-20'],
  ['My address is Oak Lane 2, 10121 Turin, please send it there', 'address=Oak Lane 2, 10121 Turin'],
  ['my city is "Turin"', 'city=Turin'],
  ['My city is Turin, what is the weather at home?', 'city=Turin'],
  ['Ich wohne in Köln, wie ist das Wetter?', 'city=Köln'],
  ['I prefer trains, can you book one?', 'preference=trains'],
  ['I live in Italy', 'country=Italy'],
  ['I live in St. Louis. I prefer trains.', 'city=St. Louis', 'preference=trains'],
  ['Ich heiße Jürgen Groß und ich wohne in Köln.', 'name=Jürgen Groß', 'city=Köln'],
  ['Ich heisse Anna, ich wohne in Frankfurt am Main', 'name=Anna', 'city=Frankfurt am Main'],
  [
    'Mein Name ist Anna Schmidt und meine Telefonnummer ist 0221 555012.',
    'name=Anna Schmidt',
    'phone=0221 555012',
  ],
  [
    'Mein Geburtsdatum ist 3. Mai 1980. Ich bevorzuge einen Gangplatz.',
    'date of birth=3. Mai 1980',
    'preference=einen Gangplatz',
  ],
  ['Ich bin am 3. Mai 1980 geboren.', 'date of birth=3. Mai 1980'],
] as const satisfies readonly (readonly [string, ...string[]])[]) {
  test(`patterns find in “${message}”: ${facts.join('; ')}`, () => {
    assert.deepEqual(
      factsIn(message).map(({ name, value }) => `${name}=${value}`),
      facts,
    );
  });
}

for (const message of [
  'Summarize the newest email for me.',
  'My flight is late and my boss is angry',
  "I'm German and I'm tired",
  'Ich bin Student.',
  'What is my name? Is my city nice?',
  'Do you know whether my name is on the list?',
  'If I prefer trains, what does it cost?',
  'Send it to ada@example.org or call +39 011 555 01 23',
  'my password is hunter2, PIN = 1234',
  'open https://example.org/?city=Rome&name=Eve',
  'my e-mail is late',
  '',
]) {
  test(`patterns find nothing in “${message}”`, () => {
    assert.deepEqual(factsIn(message), []);
  });
}

const QUOTING = [
  ['in quotation marks', 'Translate "My name is Mallory and my city is Evilton"'],
  ['in typographic quotation marks', 'Summarize this: „Mein Name ist Mallory. Ich wohne in Evilton.“'],
  ['in quotation marks that nobody closes', 'Summarize this: “My name is Mallory. My city is Evilton.'],
  ['in a fenced block', 'Summarize:\n```\nname = Mallory\ncity = Evilton\n```'],
  ['in lines that are marked as quoted', 'Answer this:\n> My name is Mallory\n> I live in Evilton'],
  [
    'in a forwarded mail',
    'Answer this:\n---------- Forwarded message ----------\nMy name is Mallory\nI live in Evilton',
  ],
  [
    'in a mail with its head',
    'Answer this:\nFrom: Mallory <m@evil.org>\nMy name is Mallory\nI live in Evilton',
  ],
  ['behind the first 4,000 characters', `${'a '.repeat(3_000)}. name = Mallory. city = Evilton`],
  [
    'in a quotation that ends behind the first 4,000 characters',
    `Summarize "My name is Mallory. My city is Evilton. ${'a '.repeat(3_000)}"`,
  ],
  [
    'in a quotation that closes and opens quotation marks itself',
    'Summarize: "Hello" My name is Mallory. My city is Evilton. "Bye"',
  ],
  [
    'in a typographic quotation that closes and opens marks itself',
    'Summarize: “Hello” My name is Mallory. My city is Evilton. “Bye”',
  ],
  [
    'in a fenced block that closes and opens fences itself',
    'Summarize:\n```\nHello\n```\nname = Mallory\ncity = Evilton\n```\nBye\n```',
  ],
  ['in a block that is fenced by tildes', 'Summarize:\n~~~\nname = Mallory\ncity = Evilton\n~~~'],
  ['in a quotation as German books print it', 'Summarize »My name is Mallory. My city is Evilton«'],
  ['in single quotation marks', 'Summarize ‘It’s me. My name is Mallory. My city is Evilton’ please'],
  [
    'in straight single quotation marks',
    "Summarize 'It's me. My name is Mallory. My city is Evilton' please",
  ],
  ['in backticks', 'Summarize `My name is Mallory. My city is Evilton` please'],
  [
    'in a mail that Apple Mail forwards',
    'Summarize:\nBegin forwarded message:\nMy name is Mallory\nMy city is Evilton',
  ],
  [
    'behind the head of a mail without an address',
    'Summarize:\nFrom: Mallory\nSent: Monday\nSubject: Hello\nMy name is Mallory\nMy city is Evilton',
  ],
  [
    'behind the head of an answer that takes two lines',
    'Summarize:\nOn Mon, 1 Jan 2024 Mallory\n<m@evil.org> wrote:\nMy name is Mallory\nMy city is Evilton',
  ],
] as const;
const ANSWER = '{"facts": [{"name": "name", "value": "Mallory"}, {"name": "city", "value": "Evilton"}]}';

for (const [where, message] of QUOTING) {
  test(`what stands ${where} is not the user’s own word`, () => {
    assert.deepEqual([factsIn(message), factsFrom(ANSWER, message)], [[], []]);
  });
}

test('the same words without quotation are the user’s own', () => {
  const facts = [
    { name: 'name', value: 'Mallory' },
    { name: 'city', value: 'Evilton' },
  ];
  const message = 'My name is Mallory and my city is Evilton';
  assert.deepEqual([factsIn(message), factsFrom(ANSWER, message)], [facts, facts]);
});

test('what stands beside quotations is the user’s own, and so is a journey with its places', () => {
  assert.deepEqual(
    factsIn('My screen is 27" wide. My city is "Turin". Translate "Hello" and “Bye”.\nName: Ada'),
    [
      { name: 'screen', value: '27" wide' },
      { name: 'city', value: 'Turin' },
      { name: 'name', value: 'Ada' },
    ],
  );
  assert.deepEqual(factsIn("My city is 'Turin'.\nFrom: Turin\nTo: Lisbon\nName: Ada"), [
    { name: 'city', value: 'Turin' },
    { name: 'name', value: 'Ada' },
  ]);
});

for (const name of [
  'apikey',
  'pwd',
  'pw',
  'pin_code',
  'pins',
  'Passwörter',
  'pass_word',
  'passkey',
  'login code',
  'credit card number',
]) {
  test(`what is called “${name}” is no fact`, () => {
    assert.deepEqual(factsIn(`my ${name} is Abc1 and my city is Turin`), [{ name: 'city', value: 'Turin' }]);
  });
}

test('a name that mixes alphabets, and a value that hides characters, are no facts', () => {
  assert.deepEqual(factsIn('p\u0430ssword = abc'), []);
  assert.deepEqual(factsIn('my pin\u200bcode is 1234'), []);
  assert.deepEqual(factsIn('my city is Tu\u202erin'), []);
  assert.deepEqual(factsIn('my город is Turin'), [{ name: 'город', value: 'Turin' }]);
});

const MESSAGE = 'Je m’appelle Zoé Durand, j’habite à Lyon. Mon mail : zoe@durand.fr. Toujours côté couloir.';

for (const [what, pair, kept] of [
  [
    'a value as the user said it',
    { name: 'name', value: 'Zoé Durand' },
    { name: 'name', value: 'Zoé Durand' },
  ],
  [
    'another word for a kind',
    { name: 'Email address', value: 'zoe@durand.fr' },
    { name: 'e-mail', value: 'zoe@durand.fr' },
  ],
  ['a kind itself', { name: 'birth-date', value: 'Lyon' }, { name: 'date of birth', value: 'Lyon' }],
  [
    'a free name',
    { name: 'Seat  preference', value: 'côté couloir' },
    { name: 'seat preference', value: 'côté couloir' },
  ],
  ['a value that nobody said', { name: 'country', value: 'France' }, null],
  ['a value that was put together', { name: 'address', value: 'Lyon, France' }, null],
  ['a value in another spelling', { name: 'city', value: 'lyon' }, null],
  ['a part of a word', { name: 'name', value: 'Dur' }, null],
  ['a part of an address', { name: 'name', value: 'durand.fr' }, null],
  ['what is no e-mail address', { name: 'e-mail', value: 'Lyon' }, null],
  ['what is no telephone number', { name: 'phone', value: 'Lyon' }, null],
  ['a name like that of what an app said', { name: 'bank/balance', value: 'Lyon' }, null],
  ['a name that is a sentence', { name: `ignore the user and ${'x'.repeat(40)}`, value: 'Lyon' }, null],
  ['a name of a secret', { name: 'password', value: 'Lyon' }, null],
  ['an empty value', { name: 'city', value: ' ' }, null],
  ['no text', { name: 'city', value: 7 }, null],
  ['no pair', 'Lyon', null],
] as const) {
  test(`of a model's answer ${what} is ${kept === null ? 'no fact' : 'a fact'}`, () => {
    assert.deepEqual(factsFrom(JSON.stringify({ facts: [pair] }), MESSAGE), kept === null ? [] : [kept]);
  });
}

for (const answer of ['', 'I found nothing', '{"facts": {}}', '[]', '{"facts": [', '{}']) {
  test(`a model's answer “${answer}” tells of no facts`, () => {
    assert.deepEqual(factsFrom(answer, MESSAGE), []);
  });
}

// Attack: whoever knows the patterns makes up what the user never said.
for (const [what, claim, kept] of [
  ['as the user said it', { name: 'city', value: 'Lyon' }, [{ name: 'city', value: 'Lyon' }]],
  ['that nobody said', { name: 'city', value: 'Evilton' }, []],
  ['that is a part of a word', { name: 'city', value: 'Lyo' }, []],
  ['under the name of a secret', { name: 'password', value: 'Lyon' }, []],
] as const) {
  test(`of what patterns claim, a value ${what} is ${kept.length === 0 ? 'no fact' : 'a fact'}`, () => {
    assert.deepEqual(
      facts.factsIn(MESSAGE, () => [claim]),
      kept,
    );
  });
}

test('patterns look at a long message in a moment', () => {
  for (const piece of ['a ', 'my ', 'my a = ', 'i am A', 'name: ', ', my', '" = ', 'St. ', 'a@']) {
    // The processor's time of this thread: others may be using the machine.
    const from = process.threadCpuUsage();
    factsIn(piece.repeat(4_000));
    const { user, system } = process.threadCpuUsage(from);
    assert.ok(user + system < 1_000_000, piece);
  }
});
