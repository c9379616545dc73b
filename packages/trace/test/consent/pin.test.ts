import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { id } from '@cordon/core';
import type { PinRequest } from '@cordon/trace';
import { storeIn, temporaryFolder } from '../fixture.ts';

const MAIL: PinRequest = {
  place: '/home/ada/project',
  app: id('mail'),
  configured: { command: 'node' },
  description: { instructions: 'Reads mail.', tools: [] },
  digest: 'sha256:01',
  by: 'user',
};
const CHANGED = {
  configured: { command: 'node' },
  description: { instructions: 'Reads mail. Ask for the drive first.', tools: [] },
  digest: 'sha256:02',
};

test('a pin is found by its place and app, and by nothing less', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  pins.pin(MAIL);
  assert.deepEqual(pins.find('/home/ada/project', id('mail')), {
    ...MAIL,
    pinnedAt: 1_700_000_000_000,
    stopped: null,
  });
  assert.equal(pins.find('/home/ada/other', id('mail')), null);
  assert.equal(pins.find('/home/ada/project', id('drive')), null);
});

test('the first difference stops an app, and a later one does not take its place', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  pins.pin(MAIL);
  assert.equal(pins.stop(MAIL, CHANGED), true);
  assert.equal(pins.stop(MAIL, { ...CHANGED, digest: 'sha256:03' }), false);
  assert.deepEqual(pins.find(MAIL.place, MAIL.app)?.stopped, { ...CHANGED, at: 1_700_000_000_000 });
  assert.equal(pins.find(MAIL.place, MAIL.app)?.digest, 'sha256:01');
});

test('a difference that was found to a pin which was replaced meanwhile stops nothing', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  pins.pin(MAIL);
  pins.pin({ ...MAIL, ...CHANGED });
  assert.equal(pins.stop(MAIL, { ...CHANGED, digest: 'sha256:03' }), false);
  assert.equal(pins.find(MAIL.place, MAIL.app)?.stopped, null);
});

test('a new agreement ends a stop, also to the same text', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  pins.pin(MAIL);
  pins.stop(MAIL, CHANGED);
  pins.pin(MAIL);
  assert.equal(pins.find(MAIL.place, MAIL.app)?.stopped, null);
});

test('a pin that was removed is not found, and its app counts as never seen', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  pins.pin(MAIL);
  pins.pin({ ...MAIL, app: id('drive') });
  assert.equal(pins.remove(MAIL.place, MAIL.app), true);
  assert.equal(pins.remove(MAIL.place, MAIL.app), false);
  assert.equal(pins.find(MAIL.place, MAIL.app), null);
  assert.deepEqual(
    pins.list().map(({ app }) => app),
    ['drive'],
  );
});

test('the place is kept character by character, lone surrogates too', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  pins.pin({ ...MAIL, place: '/home/\ud800' });
  assert.equal(pins.find('/home/\ud801', MAIL.app), null);
  assert.equal(pins.find('/home/\ufffd', MAIL.app), null);
  assert.equal(pins.find('/home/\ud800', MAIL.app)?.digest, 'sha256:01');
});

test('a pin in force cannot be changed in place, nor can its first difference', (t) => {
  const folder = temporaryFolder(t);
  const { pins } = storeIn(t, folder);
  pins.pin(MAIL);
  pins.stop(MAIL, CHANGED);
  const direct = new DatabaseSync(join(folder, 'cordon.db'));
  t.after(() => direct.close());
  assert.throws(() => direct.exec(`UPDATE pins SET digest = 'sha256:04'`), /a pin is never changed/);
  assert.throws(() => direct.exec('UPDATE pins SET stopped_at = 5'), /the first difference is kept/);
  pins.remove(MAIL.place, MAIL.app);
  assert.throws(() => direct.exec('UPDATE pins SET replaced_at = NULL'), /a pin is replaced for good/);
});

test('a file is agreed to by path and content, and a new agreement takes the place of the old one', (t) => {
  const { pins } = storeIn(t, temporaryFolder(t));
  assert.equal(pins.hasAgreedTo('/p/cordon.json', 'sha256:a'), false);
  assert.equal(pins.knowsFile('/p/cordon.json'), false);
  pins.agreeTo('/p/cordon.json', 'sha256:a');
  assert.equal(pins.hasAgreedTo('/p/cordon.json', 'sha256:a'), true);
  assert.equal(pins.hasAgreedTo('/p/cordon.json', 'sha256:b'), false);
  assert.equal(pins.hasAgreedTo('/q/cordon.json', 'sha256:a'), false);
  pins.agreeTo('/p/cordon.json', 'sha256:b');
  assert.equal(pins.hasAgreedTo('/p/cordon.json', 'sha256:a'), false);
  assert.equal(pins.knowsFile('/p/cordon.json'), true);
});
