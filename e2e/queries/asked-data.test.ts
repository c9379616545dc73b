/** An app asks for data of the user during its turn: with real processes, a model that does what the test says, and each way to answer. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  calls,
  type FakeAnswer,
  type FakeChatRequest,
  type FakeScript,
  says,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { answersIn, Home, object, ofKind, type Printed } from '../harness/cordon.ts';
import { inTurns, planning, requestsWith, step } from '../harness/provider-script.ts';

type Turn = FakeAnswer | ((results: readonly string[]) => FakeAnswer);

const need = (kinds: readonly string[], purpose = 'book') => ({
  name: 'need',
  arguments: { kinds, for: purpose },
});
/** The last thing that it was told. */
const hear = (results: readonly string[]) => says(results.at(-1) ?? '');
const NAME_AND_BIRTH: Turn = calls([need(['name', 'birth-date'])]);
const QUERY = 'Book a table for two.';

/** Books with what it was given. */
const book: Turn = (results) => {
  const { values } = object(JSON.parse(results.at(-1) ?? '')) as {
    readonly values: Readonly<Record<string, string>>;
  };
  return calls([
    { name: 'book', arguments: { name: values.name ?? '?', born: values['birth-date'] ?? '?' } },
  ]);
};

class Restaurant {
  readonly home = new Home();
  readonly #fake: Awaited<ReturnType<typeof startFakeOpenAi>>;

  private constructor(fake: Awaited<ReturnType<typeof startFakeOpenAi>>) {
    this.#fake = fake;
    const state = `\${state}`;
    this.home.write('cordon.json', {
      model: 'local/x',
      baseURL: fake.baseUrl,
      apps: {
        booking: {
          command: 'node',
          args: [join(import.meta.dirname, '../apps/booking.mjs')],
          env: { STATE: state },
          manifest: {
            description: 'Books tables.',
            files: { write: [state] },
            irreversible: [],
            untrusted: ['look'],
            private: [],
          },
        },
      },
    });
  }

  static async whose(...turns: readonly Turn[]): Promise<Restaurant> {
    const agent = inTurns(...turns);
    const booking = planning([step('booking', ['look', 'book'])], agent);
    const nobody = planning([step(null)], () => says('Hello.'));
    const isBooking = ({ messages }: FakeChatRequest) =>
      messages.some(({ content }) => content.includes(QUERY));
    const script: FakeScript = (request, number) => (isBooking(request) ? booking : nobody)(request, number);
    return new Restaurant(await startFakeOpenAi({ script }));
  }

  /** The user stated it in an earlier session. */
  async knowsTheName(): Promise<void> {
    await this.home.run(['ask', 'my name is Ada', '--deny-all', '--json']);
  }

  get bookings(): string {
    return readFileSync(join(this.home.data, 'apps/booking/bookings.txt'), 'utf8');
  }

  /** All that the models of the app were shown. */
  get shown(): string {
    return requestsWith(this.#fake.requests, 'book')
      .map(({ body }) => JSON.stringify(body))
      .join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.home[Symbol.dispose]();
    await this.#fake.close();
  }
}

const fieldsOf = (asked: Printed) =>
  (object(asked.prompt).data as readonly Printed[]).map(({ name, value, field }) => [name, value, field]);
const FIELDS = [
  ['name', 'Ada', 'name'],
  ['date of birth', '', 'birth-date'],
];
const ASK = ['ask', QUERY, '--json'];
const BOOKED = 'booked for Ada, born 1990-12-31';

test('the hub shows the name that it knows and asks for the date of birth, and the app books with both', async (t) => {
  if (isLeftOut(t)) return;
  await using at = await Restaurant.whose(NAME_AND_BIRTH, book, hear);
  await at.knowsTheName();
  const asking = at.home.start([...ASK, '--answers', '-']);
  const asked = await asking.event('permission.asked');
  assert.deepEqual(fieldsOf(asked), FIELDS);
  assert.deepEqual(object(asked.prompt).warnings, []);
  asking.say(
    JSON.stringify({ prompt: asked.id, decision: 'once', edits: { 'date of birth': '1990-12-31' } }),
  );
  asking.child.stdin?.end();
  const { events } = await asking.end();
  assert.deepEqual(answersIn(events), [BOOKED]);
  assert.equal(at.bookings, 'Ada 1990-12-31\n');
  const facts = await at.home.run(['memory', 'show', 'booking', '--kind', 'fact', '--json']);
  assert.match(facts.stdout, /date of birth.*1990-12-31/);
});

test('what the user says no to, and what nobody knows, is the same to the app', async (t) => {
  if (isLeftOut(t)) return;
  const told = async (isKnown: boolean, ...answers: readonly string[]) => {
    await using at = await Restaurant.whose(calls([need(['name'])]), hear);
    if (isKnown) await at.knowsTheName();
    return answersIn((await at.home.run([...ASK, ...answers])).events);
  };
  const nothing = ['{"values":{}}'];
  assert.deepEqual(await told(true, '--deny-all'), nothing);
  assert.deepEqual(await told(false, '--allow-rest'), nothing);
  assert.deepEqual(await told(false, '--deny-all'), nothing);
  assert.deepEqual(await told(true, '--allow-rest'), ['{"values":{"name":"Ada"}}']);
});

for (const [what, decision, said] of [
  ['given are said to be, once they are', '--allow-rest', /^→ booking is given name$/m],
  ['refused are said not to be given', '--deny-all', /^✗ booking is not given name: the user said no/m],
] as const) {
  test(`data that are ${what}`, async (t) => {
    if (isLeftOut(t, decision === '--deny-all')) return;
    await using at = await Restaurant.whose(calls([need(['name'])]), hear);
    await at.knowsTheName();
    const { stderr } = await at.home.run(['ask', QUERY, decision]);
    assert.match(stderr, said);
    assert.equal(stderr.match(/booking is (?:not )?given/g)?.length, 1);
  });
}

test('an answers file fills a form in', async (t) => {
  if (isLeftOut(t)) return;
  await using at = await Restaurant.whose(NAME_AND_BIRTH, book, hear);
  await at.knowsTheName();
  const rule = { match: { scope: 'data-release', to: 'booking' }, decision: 'once' };
  const answers = at.home.write('answers.json', [{ ...rule, fill: { 'birth-date': '1990-12-31' } }]);
  assert.deepEqual(answersIn((await at.home.run([...ASK, '--answers', answers])).events), [BOOKED]);
});

test('a form is filled in by keys at a terminal, and what does not fit is said at once', async (t) => {
  if (isLeftOut(t)) return;
  await using at = await Restaurant.whose(NAME_AND_BIRTH, book, hear);
  await at.knowsTheName();
  const ask = at.home.start(['ask', QUERY], { terminal: true });
  await ask.shown('date of birth, empty; you may fill it in, like `1990-12-31`');
  assert.doesNotMatch(ask.stdout, /is given/);
  await ask.answer('e');
  await ask.shown('name, like `Ada Lovelace`');
  await ask.answer('');
  await ask.shown('press Enter to leave it empty');
  await ask.answer('long ago');
  await ask.shown('the date of birth must look like');
  await ask.answer('1990-12-31');
  await ask.shown('[e] edit');
  await ask.answer('o');
  await ask.shown('booking is given name, date of birth');
  await ask.shown(BOOKED);
  assert.equal((await ask.end()).code, 0);
  assert.doesNotMatch(ask.stdout, /denied|not given/);
  assert.equal(at.bookings, 'Ada 1990-12-31\n');
});

test('a form of a hub that was killed is filled in from elsewhere, and not asked again', async (t) => {
  if (isLeftOut(t)) return;
  await using at = await Restaurant.whose(NAME_AND_BIRTH, book, hear);
  await at.knowsTheName();
  const config = ['--config', join(at.home.root, 'work/cordon.json')];
  const asking = at.home.start([...ASK, '--wait']);
  asking.child.stdin?.end();
  const asked = await asking.event('permission.asked');
  for (let isListed = false; !isListed; ) {
    const { stdout } = await at.home.run(['prompts', ...config]);
    isListed = stdout.includes(String(asked.id));
    if (isListed) assert.match(stdout, /field: date of birth, empty/);
  }
  asking.signal('SIGKILL');
  await asking.end();
  const edit = ['--edit', 'date of birth=1990-12-31'];
  const given = await at.home.run(['prompts', 'answer', String(asked.id), 'allow', ...edit, ...config]);
  assert.equal(given.code, 0, given.stderr);
  const { events } = await at.home.run(['resume', '--json', '--deny-all', ...config]);
  assert.deepEqual(answersIn(events), [BOOKED]);
  assert.equal(at.bookings, 'Ada 1990-12-31\n');
});

const EVERYTHING = ['name', 'email', 'phone', 'address', 'city', 'birth-date', 'country'];
for (const [what, turns, warnings] of [
  ['that asks for everything is not heard', [calls([need(EVERYTHING), need(['password'])]), hear], null],
  ['that names a tool of nobody is not heard', [calls([need(['name'], 'send_mail')]), hear], null],
  ['that asks for a name is heard', [calls([need(['name'])]), hear], []],
  [
    'that asks after it has read what others wrote is warned about',
    [calls([{ name: 'look', arguments: {} }]), calls([need(['name', 'address'])]), hear],
    ['the model has read text that others may have written, and this may be what that text asks for'],
  ],
] as const) {
  test(`an app ${what}`, async (t) => {
    if (isLeftOut(t)) return;
    await using at = await Restaurant.whose(...turns);
    await at.knowsTheName();
    const { events } = await at.home.run([...ASK, '--deny-warned', '--allow-rest']);
    const asked = ofKind(events, 'permission.asked').map(({ prompt }) => object(prompt).warnings);
    assert.deepEqual(asked, warnings === null ? [] : [warnings]);
    const isGiven = warnings !== null && warnings.length === 0;
    assert.equal(at.shown.includes('Ada'), isGiven);
    assert.equal(answersIn(events).length, 1);
  });
}
