import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorCall } from '@cordon/policy';
import { FORMS } from '../../src/secrets/kinds.ts';
import { secrets } from '../../src/secrets/rule.ts';
import { findSecrets } from '../../src/secrets/secrets.ts';

function found(text: string): readonly string[] {
  return findSecrets(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
}

function call(texts: readonly string[], named: DetectorCall['named'] = {}): DetectorCall {
  return { texts, kind: 'list', given: named, rest: [], named, mark: () => undefined };
}

test('there are more than sixty kinds', () => {
  assert.ok(new Set(FORMS.map(({ kind }) => kind)).size >= 60);
});

test('what the seed language reports is reported, placeholders too', () => {
  for (const [text, kind] of [
    ['AKIAIOSFODNN7EXAMPLE', 'AWS_ACCESS_KEY'],
    ['A3TXIOSFODNN7EXAMPLE', 'AWS_ACCESS_KEY'],
    ["aws_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'", 'AWS_ACCESS_KEY'],
    ['xghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay', 'GITHUB_TOKEN'],
    [`AccountKey=${'Ab3/'.repeat(21)}Ab==`, 'AZURE_STORAGE_KEY'],
    ['XOXB-123-456-abc', 'SLACK_TOKEN'],
    ['https://hooks.slack.com/services/T1/B1/x', 'SLACK_TOKEN'],
  ] as const)
    assert.deepEqual(secrets(call([`say ${text} ok`])), [kind], text);
});

test('a rule can ask for what is surer than a form', () => {
  const real = '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';
  assert.deepEqual(secrets(call([real, `ghp_${'a'.repeat(36)}`], { threshold: 0.95 })), ['GITHUB_TOKEN']);
});

test('the checksum of a token is the proof that it is one', () => {
  const confidence = (text: string) => findSecrets(text).map((one) => one.confidence);
  assert.deepEqual(confidence('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'), [1]);
  assert.deepEqual(confidence('ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18'), [0.9]);
});

test('a password is found where a word announces it, and only the password is marked', () => {
  assert.deepEqual(found('password = "hunter2"'), ['PASSWORD hunter2']);
  assert.deepEqual(found('{\\"password\\":\\"hunter2\\"}'), ['PASSWORD hunter2']);
  assert.deepEqual(found('my password is Sommer2024!'), ['PASSWORD Sommer2024!']);
  assert.deepEqual(found('пароль: Qwe123asd'), ['PASSWORD Qwe123asd']);
  assert.deepEqual(found('postgres://shop:s3cr3t-pw@db/shop'), ['CONNECTION_STRING s3cr3t-pw']);
  assert.deepEqual(found('https://mira:s3cr3t-pw@git.example.org/x'), ['BASIC_AUTH_URL s3cr3t-pw']);
});

test('a password that a program is given is found, and a variable in its place is none', () => {
  for (const [text, expected] of [
    ['mysql -u root -pS3cr3t!pass9 -h db01 shop < dump.sql', 'S3cr3t!pass9'],
    ['curl -u admin:Hx7!kkq02Lm https://files.acme.io/rest', 'Hx7!kkq02Lm'],
    ["sshpass -p 'Wint3r!sComing' ssh root@10.0.0.4", 'Wint3r!sComing'],
    ['machine api.acme.io\n  login ops\n  password 1feb8824-7349-4344', '1feb8824-7349-4344'],
    ['Das Passwort für den Server lautet Krk99!tulpe, bitte löschen.', 'Krk99!tulpe'],
  ] as const)
    assert.deepEqual(found(text), [`PASSWORD ${expected}`], text);
  assert.deepEqual(found('{"r.acme.io":{"auth":"cm9ib3Q6MEpEbUtHQmQzQ3plenAz"}}'), [
    'BASIC_AUTH_HEADER cm9ib3Q6MEpEbUtHQmQzQ3plenAz',
  ]);
  assert.deepEqual(found('pass the API key 70aa01d22a5db45db4e0cfb65a203cab as the first argument'), [
    'GENERIC_SECRET 70aa01d22a5db45db4e0cfb65a203cab',
  ]);
  assert.deepEqual(found("app.secret_key = b'dnEd5micnPjT5YOxtXV8Q1rEwCSbyyv5'"), [
    'GENERIC_SECRET dnEd5micnPjT5YOxtXV8Q1rEwCSbyyv5',
  ]);
  assert.deepEqual(found('ALGOLIA_ADMIN_KEY=21f8b9a97999edf45d4d6f8419a9a8cf'), [
    'GENERIC_SECRET 21f8b9a97999edf45d4d6f8419a9a8cf',
  ]);
  for (const text of [
    'login page password field',
    'mysql -u root -p$DB_PASSWORD shop',
    'mysql -u root -p shop',
    'curl -u "$USER:$PASS" https://files.acme.io',
    'curl -u username:password https://example.com',
    'docker run -u 1000:1000 nginx',
    'sshpass -p "$PASSWORD" ssh root@host',
    'The password for the server is strong enough.',
    'the API key page of the console',
    '{"auth":"disabled-for-tests"}',
  ])
    assert.deepEqual(found(text), [], text);
});

test('what stands in the place of a secret is none', () => {
  for (const text of [
    'password = "YOUR_PASSWORD"',
    'password: $' + '{DB_PASSWORD}',
    'password = os.environ["DB_PASSWORD"]',
    'password: string;',
    'the password is required',
    'npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'sk_test_your_key_goes_here_please',
    'postgres://user:password@localhost/db',
    'Authorization: Bearer <token>',
    '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
    '"nextPageToken":"CAUQAA9hZ2Vfc2l6ZT01MCZwYWdlPTI"',
    '"integrity": "sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"',
  ])
    assert.deepEqual(found(text), [], text);
});

test('a key that an announcing word stands before is reported as what it is', () => {
  const key = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
  assert.deepEqual(found(`api_key = "${key}"`), [`STRIPE_KEY ${key}`]);
});

test('what is twice there is found twice, whatever is between', () => {
  const token = 'npm_Q7dk3vXc9LmB2sTz8RfH4yWn6JpKaE1u0oGi';
  assert.deepEqual(
    findSecrets(`🔑 ${token}, ${token}`).map(({ start, end }) => [start, end]),
    [
      [3, 43],
      [45, 85],
    ],
  );
});
