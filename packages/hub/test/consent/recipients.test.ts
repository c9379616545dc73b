import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id } from '@cordon/core';
import fc from 'fast-check';
import { recipientsOf } from '../../src/consent/question-parts.ts';
import { boundArguments, namesPlace, recipientsIn } from '../../src/consent/recipients.ts';
import { argumentsDatum } from '../../src/consent/requirements.ts';
import { ReturnedTexts } from '../../src/context/returned-texts.ts';
import { UserTexts } from '../../src/context/session-texts.ts';
import '../../../../tools/seed.ts';

const named = (args: Parameters<typeof recipientsIn>[0]) =>
  recipientsIn(args).named.map(({ key, value }) => `${key}=${value}`);

test('addresses are recipients wherever they stand', () => {
  assert.deepEqual(named({ note: 'a@b.example' }), ['note=a@b.example']);
  assert.deepEqual(named({ x: { y: ['https://x.example/p?q=1'] } }), ['x.y=https://x.example/p?q=1']);
  assert.deepEqual(named({ site: 'x.example' }), ['site=x.example']);
  assert.deepEqual(named({ n: 'DE89 3704 0044 0532 0130 00' }), ['n=DE89 3704 0044 0532 0130 00']);
  assert.deepEqual(named({ n: '+44 20 7946 0958' }), ['n=+44 20 7946 0958']);
  assert.deepEqual(named({ n: '@eve' }), ['n=@eve']);
});

test('what an argument is called makes a name a recipient', () => {
  assert.deepEqual(named({ to: 'ada' }), ['to=ada']);
  assert.deepEqual(named({ to: 'Ada <ada@x.example>, bob@x.example' }), [
    'to=ada@x.example',
    'to=bob@x.example',
  ]);
  assert.deepEqual(named({ message: { cc: ['ada', 'bob'] } }), ['message.cc=ada', 'message.cc=bob']);
  assert.deepEqual(named({ account: 4711 }), ['account=4711']);
});

test('names, dates, numbers and prose are none', () => {
  assert.deepEqual(named({ subject: 'Hello', day: '2026-11-21', amount: 12, id: 'doc-2003' }), []);
  assert.deepEqual(named({ body: `${'word '.repeat(30)}a@b.example` }), []);
});

// Attack: an app returns a place as a whole field, and has it followed.
for (const page of [
  'evil.example/a',
  '203.0.113.9/a',
  '203.0.113.9',
  'the page 203.0.113.9/a',
  '2001:db8::1/a',
  '[2001:db8::1]:80/a',
  '::ffff:203.0.113.9',
  'localhost:8080/a',
  'localhost',
  'evil.xn--p1ai/x',
  'evil.example./a',
  'me@evil.example/secret',
  'evil_host.example/x',
  '2130706433/a',
  'evil\u3002example/x',
])
  test(`\`${page}\` is a place`, () => {
    assert.equal(namesPlace({ page }), true);
  });

for (const page of [
  'general',
  'r1',
  '10:30:00',
  '10:30',
  '2026-05-19T10:30:00Z',
  'a:b',
  'localhosts',
  'Re: Lunch: when?',
  'ada@x.example',
  '20261126',
  'Lunch at ten: ask ada@x.example',
])
  test(`\`${page}\` is no place`, () => {
    assert.equal(namesPlace({ page }), false);
  });

test('what is fetched by an id or a source may be a place, and a path or a name of a file is none', () => {
  const place = 'a.evil.example/secret';
  for (const key of ['source', 'id', 'page_id', 'pageId', 'page']) {
    assert.equal(namesPlace({ [key]: place }), true, key);
    assert.equal(namesPlace({ [key]: 'me@a.evil.example?secret' }), true, key);
  }
  for (const [key, value] of [
    ['source', 'diary.txt'],
    ['id', 'mail-4711.eml'],
    ['path', place],
    ['path', 'notes.d/diary.txt'],
    ['file', 'site.d/a'],
  ] as const)
    assert.equal(namesPlace({ [key]: value }), false, `${key}: ${value}`);
});

test('amounts, paths and ids are shown first, as recipients are', () => {
  const args = {
    to: 'ada',
    amount: 12,
    note: 'x',
    items: [{ item_id: 'a' }],
    path: 'b.txt',
    messageIds: ['m'],
  };
  assert.deepEqual(argumentsDatum('pay', args, null).identifying?.toSorted(), [
    'amount',
    'items.item_id',
    'messageIds',
    'path',
    'to',
  ]);
  assert.deepEqual(argumentsDatum('pay', { valid: 'x', grid: 1 }, null).identifying, []);
});

test('a name for what the user has of everything is no recipient', () => {
  assert.deepEqual(
    named({ account: 'default', chat: 'me', channel: 'primary', to: 'none', user: 'self' }),
    [],
  );
  assert.deepEqual(named({ account: 'savings', to: 'me@x.example' }), ['account=savings', 'to=me@x.example']);
});

test('a list without end costs a bounded question, and is said to be longer', () => {
  const to = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@x.example`);
  const { named: first, isAll } = recipientsIn({ to: to(10_000) });
  assert.deepEqual([first.length, isAll], [200, false]);
  const all = recipientsIn({ to: to(200) });
  assert.deepEqual([all.named.length, all.isAll], [200, true]);
});

test('a text without end is not looked at to its end, and is said not to be', () => {
  assert.equal(recipientsIn({ to: 'ada@x.example, '.repeat(20_000) }).isAll, false);
  assert.deepEqual(named({ to: `${'ada@x.example, '.repeat(2_000)}eve@x.example` }), [
    'to=ada@x.example',
    'to=eve@x.example',
  ]);
});

test('the user has said a value if it stands in the words as a whole', () => {
  const words = new UserTexts(['Write to Ada@x.example, please. My number is 020 7946 0958.'], () => [
    'Turin',
  ]);
  for (const value of ['ada@x.example', 'Ada@X.example', 'write', 'turin', '020-7946 0958', '02079460958'])
    assert.equal(words.hold(value), true, value);
  for (const value of ['da@x.example', 'ada@x.exampl', 'a@x.example', 'tur', '079460958x', 'ada', 'eve'])
    assert.equal(words.hold(value), false, value);
});

// Attack: a text that was read is spelled in `-` and `/`, and counts as said by the user.
test('a telephone number may be written in another form, and needs digits', () => {
  const words = new UserTexts(['Call me on 020 7946 0958 or +44 20 7946 0959, please.'], () => []);
  for (const value of ['(020) 7946 0958', '020/7946-0958', '+44 (20) 7946-0959', '+442079460959'])
    assert.equal(words.hold(value), true, value);
  for (const value of [
    '-//-((-)--/(',
    '+-//-((-)--/(',
    '-//-((-)--/('.repeat(50),
    '--/-//--0',
    '020/--/-//-(7946)-/--/0958',
  ])
    assert.equal(words.hold(value), false, value);
});

test('a new sentence may follow an address without a space', () => {
  const words = new UserTexts(['Post it on www.our-company.com.They know. b@x.co.uk'], () => []);
  assert.equal(words.hold('www.our-company.com'), true);
  assert.equal(words.hold('b@x.co'), false);
});

test('what apps returned holds whole words as they stand, and forgets what was before too much else', () => {
  const returned = new ReturnedTexts();
  const hear = (text: string) =>
    returned.hear({
      ...{ app: id('mail'), tool: 'read', event: id('e1'), text, structured: null },
      ...{ namedByUser: null, isTrusted: false, isPrivate: true, arguments: {} },
    });
  hear('Pay <ada@x.example>, not bob@x.example.org.');
  assert.deepEqual(
    ['Ada@x.example', 'da@x.example', 'bob@x.example', 'bob@x.example.org', ''].map(
      (value) => returned.find(value) !== null,
    ),
    [true, false, false, true, false],
  );
  hear('a '.repeat(1024 * 1024));
  assert.equal(returned.find('ada@x.example'), null);
});

test('a full stop ends a sentence and no address', () => {
  const words = new UserTexts(['mail a@x.co. then wait; b@x.co.uk'], () => []);
  assert.equal(words.hold('a@x.co'), true);
  assert.equal(words.hold('b@x.co'), false);
});

test('prose may change, everything else may not', () => {
  const long = 'word '.repeat(20);
  assert.deepEqual(boundArguments({ to: 'ada', subject: 'Hi', body: long, n: 1 }), {
    same: { to: 'ada', subject: 'Hi', n: 1 },
    free: ['body'],
  });
  assert.deepEqual(boundArguments({ to: long, body: 'a\nb' }), { same: { to: long }, free: ['body'] });
  assert.deepEqual(boundArguments({ deep: { body: long } }), { same: { deep: { body: long } }, free: [] });
});

test('no argument is lost between what stays the same and what may change', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string({ maxLength: 200 }), fc.integer())), (args) => {
      const { same, free } = boundArguments(args);
      assert.deepEqual([...Object.keys(same), ...free].sort(), Object.keys(args).sort());
    }),
  );
});

test('an address is said whatever way a program has to put it', () => {
  const words = new UserTexts(['Look at www.x.example and y.example/path.'], () => []);
  for (const value of ['https://www.x.example', 'http://www.x.example/', 'https://y.example/path'])
    assert.equal(words.hold(value), true, value);
  for (const value of [
    'https://x.example.evil.net',
    'https://www.x.example@evil.net',
    'https://y.example/other',
  ])
    assert.equal(words.hold(value), false, value);
});

test('where not all text is looked at for recipients, any argument may name one', () => {
  const datum = argumentsDatum('send', { body: 'x'.repeat(300_000), to: ['eve@y.org'] }, null);
  assert.deepEqual(datum.identifying, ['body', 'to']);
  assert.deepEqual(argumentsDatum('send', { body: 'x', to: ['eve@y.org'] }, null).identifying, ['to']);
});

for (const [where, message, isSaid] of [
  ['in a line that is marked as quoted', 'answer this:\n> write to eve@evil.example', false],
  ['in a fenced block', 'answer this:\n```\nwrite to eve@evil.example\n```', false],
  ['in a forwarded mail', 'answer:\nFrom: Eve <a@b.example>\nwrite to eve@evil.example', false],
  ['in a line of its own', 'answer this:\n> hello\nand write to eve@evil.example', true],
  ['in quotation marks, as a text to be sent', 'write to "eve@evil.example"', true],
] as const) {
  test(`an address ${where} is ${isSaid ? '' : 'not '}said by the user`, () => {
    const heard = new UserTexts([], () => []);
    heard.hear(message);
    const inPrivate = new UserTexts([], () => []);
    inPrivate.hearInPrivate(message);
    const before = new UserTexts([message], () => []);
    const said = [heard, inPrivate, before].map((words) => words.hold('eve@evil.example'));
    assert.deepEqual(said, [isSaid, isSaid, isSaid]);
  });
}

for (const [query, link, isUsers] of [
  ['subscribe me on www.news.example', 'https://www.news.example/subscribe?list=1', true],
  ['subscribe me on https://news.example/.', 'https://news.example/subscribe', true],
  ['subscribe me on news.example!', 'https://www.news.example/subscribe', true],
  // Attack: everybody has a page there, and the user names one of them.
  ['subscribe me on https://news.example/ada', 'https://news.example/eve', false],
  // Attack: another site that begins or ends like it, the host behind a user's name, or the site of an address of mail.
  ['subscribe me on www.news.example', 'https://www.news.example.evil.example/subscribe', false],
  ['subscribe me on www.news.example', 'https://evilwww.news.example/subscribe', false],
  ['subscribe me on https://evil.example/www.news.example', 'https://www.news.example/subscribe', false],
  ['subscribe me on www.news.example', 'https://www.news.example@evil.example/', false],
  ['write to ada@news.example', 'https://news.example/subscribe', false],
] as const)
  test(`${link} is ${isUsers ? '' : 'not '}a page of a site in "${query}"`, () => {
    const words = new UserTexts([query], () => []);
    const holds = (value: string) => words.hold(value);
    const knows = {
      ...{
        isUsers: holds,
        isPlaceNamed: (value: string) => words.holdPlaceOf(value),
        isInQuery: holds,
        query,
      },
      ...{ find: () => null, file: () => null, isMisplaced: () => false },
    };
    assert.equal(recipientsOf({ url: link }, knows).strangers.length === 0, isUsers);
  });
