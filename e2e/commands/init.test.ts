/**
 * `cordon init`: labels are proposed for what was reviewed, written only where the user says so, and then in force. The labels
 * of the examples are such ones. Apps of other clients are taken over: init-from-clients.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { EXAMPLES, Home, ofKind, REPOSITORY } from '../harness/cordon.ts';

type Labels = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const EXAMPLE = JSON.parse(readFileSync(EXAMPLES, 'utf8'));

/** The mail app of the examples without labels, with a comment that has to stay. */
function mailAlone(): string {
  const { mail } = EXAMPLE.apps;
  const app = { ...mail, args: [join(REPOSITORY, 'examples/apps/mail/app.ts')] };
  const { pin: _, ...unpinned } = app;
  return `{\n  // My mail.\n  "apps": ${JSON.stringify({ mail: unpinned }, null, 2)}\n}\n`;
}

test('the labels of the examples are among those that `cordon init` proposes for them', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const bare = { ...EXAMPLE, labels: undefined, scenario: undefined };
  const text = JSON.stringify(bare).replaceAll('apps/', `${REPOSITORY}/examples/apps/`);
  const config = home.write('cordon.json', text);
  assert.equal((await home.run(['apps', 'review', '--yes', '--config', config])).code, 0);
  const run = await home.run(['init', '--json', '--config', config]);
  const proposed = ofKind(run.events, 'labels.proposed').flatMap((event) => {
    const { app, tools } = event as { app?: string; tools?: { tool: string; says: object }[] };
    return (tools ?? []).map(({ tool, says }): [string, object] => [`${app}/${tool}`, says]);
  });
  const all: Record<string, object> = Object.fromEntries(proposed);
  const labels: Labels = EXAMPLE.labels.tools;
  assert.ok(Object.keys(labels).length > 8);
  for (const [tool, says] of Object.entries(labels))
    assert.deepEqual({ ...all[tool], ...says }, all[tool], `${tool} is proposed otherwise`);
});

test('what is agreed to is written, what is there stays, and nothing is proposed twice', async () => {
  using home = new Home();
  const config = home.write('cordon.json', mailAlone());
  const at = ['--config', config];
  const before = await home.run(['init', '--yes', ...at]);
  assert.match(before.stdout, /there is nothing to propose/);
  assert.match(before.stderr, /mail: was not reviewed yet/);
  await home.run(['apps', 'review', '--yes', ...at]);

  const refused = await home.run(['init', ...at]);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /looser: readOnly, because the app says so/);
  assert.equal(readFileSync(config, 'utf8'), mailAlone());

  const written = await home.run(['init', '--yes', ...at]);
  assert.equal(written.code, 0, written.stderr);
  const text = readFileSync(config, 'utf8');
  assert.match(text, /\/\/ My mail\./);
  assert.match(text, /"mail\/search_mail": \{\s+"readOnly": true,\s+"outward": false\s+\}/);
  const again = await home.run(['init', '--yes', ...at]);
  assert.match(again.stdout, /there is nothing to propose/);
  assert.equal(readFileSync(config, 'utf8'), text);
});

test('labels that are there already stay word for word, and others are put beside them', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const own = '"labels": { "tools": { "mail/send_mail": { "irreversible": true } } },';
  const text = mailAlone().replace('{\n', `{\n  ${own}\n`);
  const config = home.write('cordon.json', text);
  await home.run(['apps', 'review', '--yes', '--config', config]);
  const run = await home.run(['init', '--yes', '--config', config]);
  assert.equal(run.code, 0, run.stderr);
  assert.doesNotMatch(run.stdout, /send_mail/);
  const written = readFileSync(config, 'utf8');
  assert.match(written, /"mail\/send_mail": \{ "irreversible": true \},\n/);
  assert.match(written, /"mail\/search_mail": \{ "readOnly": true, "outward": false \}/);
  assert.ok(written.endsWith(text.slice(text.indexOf('  // My mail.'))));
});

// Attack: a tool that was labelled as sending nothing out sends what it gets to a host that its app was given later.
test('a label that was given because there was no network is taken back when there is one', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const labels =
    '"labels": { "tools": { "mail/search_mail": { "readOnly": true, "outward": false }, "*": { "private": true } } },';
  const bare = mailAlone().replace('{\n', `{\n  ${labels}\n`);
  const config = home.write('cordon.json', bare);
  const before = await home.run(['init', '--json', '--config', config]);
  assert.deepEqual(ofKind(before.events, 'labels.outdated'), []);
  home.write('cordon.json', bare.replace('"network": []', '"network": ["example.com"]'));
  const run = await home.run(['init', '--yes', '--config', config]);
  assert.equal(run.code, 0, run.stderr);
  assert.match(run.stdout, /takes back outward of search_mail, because the app has a network\s+now/);
  assert.match(
    readFileSync(config, 'utf8'),
    /"mail\/search_mail": \{ "readOnly": true \}, "\*": \{ "private": true \}/,
  );
});

test('a file of the current folder that was in effect stays so with the labels, and no other does', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = home.write('cordon.json', mailAlone());
  const state = async () => {
    const { stdout } = await home.run(['apps']);
    return /review: ([^,]*)/.exec(stdout.replace(/\s+/g, ' '))?.[1];
  };
  assert.equal((await home.run(['apps', 'review', '--yes'])).code, 0);
  assert.match((await state()) ?? '', /^agreed to/);
  assert.equal((await home.run(['init', '--yes'])).code, 0);
  assert.match(readFileSync(config, 'utf8'), /"labels"/);
  assert.match((await state()) ?? '', /^agreed to/);
  home.write('cordon.json', mailAlone().replace('My mail', 'Not mine'));
  assert.equal((await home.run(['init', '--yes'])).code, 0);
  assert.match((await state()) ?? '', /^the configuration was not agreed to/);
});
