/** One row of the store that is broken hides no other from a list, and is named. */
import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { id, USER_LABEL } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { openStore, type Store, type StoreKey } from '@cordon/trace';
import { isLeftOut } from '../../../../tools/cases.ts';

const KEY_TEXT = '07'.repeat(32);
const KEY: StoreKey = { kind: 'bytes', bytes: Buffer.alloc(32, 7) };

/** A store with two of everything; ids by what they are of. */
function filled(folder: string, place = '/work'): Readonly<Record<string, readonly string[]>> {
  const opened = openStore(folder, Date.now, { key: KEY });
  assert.ok(opened.ok);
  const store: Store = opened.value;
  const sessions = ['one', 'two'].map(() => store.sessions.create());
  const grants = sessions.map((session, index) => {
    const subject = { scope: 'exchange', from: id<'app'>('mail'), to: null, what: `thing ${index}` } as const;
    const given = store.grants.give({ subject, session, digest: 'd', duration: 'permanent' });
    assert.ok(given.ok);
    return given.value.id;
  });
  for (const app of ['mail', 'desk'])
    store.pins.pin({
      ...{ place, app: id<'app'>(app), by: 'user', digest: 'sha256:0' },
      ...{ configured: {}, description: {} },
    });
  const memory = store.memory({ kind: 'system' });
  for (const name of ['home', 'work'])
    memory.learn(name, `${name} street`, { origin: null, source: id<'event'>('said'), label: USER_LABEL });
  const prompts = sessions.map((session, index) => {
    const prompt = {
      id: id<'event'>(`asked${index}`),
      session,
      question: `Which ${index}?`,
      choices: [id<'app'>('mail')],
    };
    const question = {
      kind: 'choice',
      prompt: { ...prompt, context: id<'context'>('c'), reason: '' },
    } as const;
    return store.prompts.open(question, `print ${index}`)?.id ?? '';
  });
  const facts = store.memories.items({ kind: 'fact' }).map((item) => item.id);
  store.close();
  return { grants, sessions, prompts, facts };
}

function damage(folder: string, sql: string): void {
  const raw = new DatabaseSync(join(folder, 'cordon.db'), { enableForeignKeyConstraints: false });
  raw.exec('PRAGMA ignore_check_constraints = ON');
  for (const { name } of raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    raw.exec(`DROP TRIGGER "${String(name)}"`);
  raw.exec(sql);
  raw.close();
}

const BROKEN: Readonly<Record<string, (grant: string) => string>> = {
  'a text that is not sealed with the key': (grant) =>
    `UPDATE grants SET subject = '{}' WHERE id = '${grant}'`,

  'a word that is none': (grant) => `UPDATE grants SET duration = 'forever' WHERE id = '${grant}'`,
  'a tag that is none': (grant) => `UPDATE grants SET tag = x'00' WHERE id = '${grant}'`,
  'another time': (grant) => `UPDATE grants SET given_at = given_at - 1 WHERE id = '${grant}'`,
};

for (const [name, sql] of Object.entries(BROKEN))
  test(`a grant with ${name} is named, and the other is listed`, (t) => {
    if (isLeftOut(t, name === 'another time')) return;
    using place = new Workplace({});
    const folder = join(place.root, 'data');
    const [broken = '', kept = ''] = filled(folder).grants ?? [];
    const list = (...more: readonly string[]) =>
      place.run(['grants', 'list', '--data', folder, ...more], { env: { CORDON_KEY: KEY_TEXT } });
    assert.equal(list().code, 0);
    damage(folder, sql(broken));
    for (const more of [[], ['--all']]) {
      const shown = list(...more);
      assert.equal(shown.code, 1, shown.err);
      assert.match(shown.out, new RegExp(kept));
      assert.match(shown.err, new RegExp(`the grant ${broken}`));
    }
    const { code, lines } = list('--json');
    assert.equal(code, 1);
    assert.deepEqual(
      lines.map((line) => [Object(line).kind, Object(line).id]),
      [
        ['grant', kept],
        ['broken', broken],
      ],
    );
  });

/** What is listed by which command, how one of it is broken, and how it is named. */
const SIBLINGS: Readonly<Record<string, readonly [list: readonly string[], sql: string, named: string]>> = {
  sessions: [
    ['sessions'],
    "UPDATE sessions SET first_query = 'x' WHERE id = ",
    'the session ID cannot be read',
  ],
  prompts: [['prompts'], "UPDATE prompts SET question = 'x' WHERE id = ", 'the question ID is not what was'],
  facts: [['memory', 'show'], "UPDATE facts SET value = 'x' WHERE id = ", 'the item ID cannot be read'],
};

for (const [name, [command, sql, named]] of Object.entries(SIBLINGS))
  test(`${name}: one that is broken is named, and the other is listed`, (t) => {
    if (isLeftOut(t, name === 'sessions')) return;
    using place = new Workplace({});
    const folder = join(place.root, 'data');
    const [broken = '', kept = ''] = filled(folder)[name] ?? [];
    const list = (...more: readonly string[]) =>
      place.run([...command, '--data', folder, ...more], { env: { CORDON_KEY: KEY_TEXT } });
    assert.equal(list().code, 0, list().err);
    damage(folder, `${sql}'${broken}'`);
    const shown = list();
    assert.equal(shown.code, 1, shown.err);
    assert.ok(shown.err.replace(/\s+/g, ' ').includes(named.replace('ID', broken)), shown.err);
    const { out, code } = list('--json');
    assert.equal(code, 1);
    assert.ok(out.includes(kept), out);
  });

test('an agreement that cannot be read is named, and the other apps are listed', (t) => {
  if (isLeftOut(t)) return;
  const mcpServers = { mail: { command: 'node' }, desk: { command: 'node' } };
  using place = new Workplace({ 'cordon.json': { mcpServers } });
  const folder = join(place.root, 'data');
  filled(folder, realpathSync(place.root));
  const list = () =>
    place.run(['apps', 'list', '--config', join(place.root, 'cordon.json'), '--data', folder], {
      env: { CORDON_KEY: KEY_TEXT },
    });
  assert.equal(list().code, 0, list().err);
  damage(folder, "UPDATE pins SET configured = 'x' WHERE app = 'mail'");
  const shown = list();
  assert.equal(shown.code, 1, shown.err);
  assert.match(shown.out, /mail +its agreement is damaged/);
  assert.match(shown.out, /desk +changed/);
  assert.match(shown.err, /the agreement with mail is not what was written/);
});
