/** Which folders the user names: a text may have any other file read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserTexts } from '../../src/context/session-texts.ts';

const PATH = '/user/info/ada.txt';

for (const [said, isNamed] of [
  ['her address is at /user/info.', true],
  ['look into /user/info/', true],
  ['look into /user/info/ and pay', true],
  // Attack: the user names one file, or something that begins or ends like the folder, and a text has another file read.
  ['her address is in /user/info/eve.txt', false],
  ['look into /user/info.old', false],
  ['look into /user/information', false],
  ['look into /other/user/info', false],
  ['look into /user', false],
  ['look for user info', false],
] as const)
  test(`"${said}" ${isNamed ? 'names' : 'does not name'} the folder of a file`, () => {
    assert.equal(new UserTexts([said], () => []).holdPlaceOf(PATH), isNamed);
  });

// Attack: a path that leads out of the folder.
test('a path through `..` lies in no folder that the user names', () => {
  const said = new UserTexts(['look into /user/info'], () => []);
  assert.equal(said.holdPlaceOf('/user/info/../key.pem'), false);
  assert.equal(said.holdPlaceOf('/user/info/..'), false);
  assert.equal(said.holdPlaceOf('/user/info/key.pem'), true);
});
