/** Which folders and sites the user names: a text may have any other file read, or any other page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserTexts } from '../../src/context/session-texts.ts';

function names(said: string, value: string): boolean {
  return new UserTexts([said], () => []).holdPlaceOf(value);
}

for (const [said, isNamed] of [
  ['write to Ada, her address is at /user/info.', true],
  ['look for Ada in /user/info/', true],
  ['look for Ada in "/user/info/" and pay', true],
  // Attack: the user names one file, or something that begins or ends like the folder, and a text has another file read.
  ['write to Ada, her address is in /user/info/eve.txt', false],
  ['write to Ada as /user/info/.signature has it', false],
  ['write to Ada as /user/info/@eve has it', false],
  ['write to Ada as /user/info/(1).txt has it', false],
  ['look for Ada in /user/info.old', false],
  ['look for Ada in /user/information', false],
  ['look for Ada in /other/user/info', false],
  ['look for Ada in ~/user/info', false],
  ['look for Ada in /user', false],
  ['look for Ada in user info', false],
  // Attack: the folder is for something else.
  ['save the receipt in /user/info', false],
] as const)
  test(`"${said}" ${isNamed ? 'names' : 'does not name'} the folder of a file and a word of its name`, () => {
    assert.equal(names(said, '/user/info/ada_data.txt'), isNamed);
  });

// Attack: a path that leads out of the folder.
test('a path through `..` lies in no folder that the user names', () => {
  const said = 'look for the key in /user/info';
  assert.equal(names(said, '/user/info/../key.pem'), false);
  assert.equal(names(said, '/user/info/..'), false);
  assert.equal(names(said, '/user/info/key.pem'), true);
});

for (const [said, isNamed] of [
  ['what is new on www.news.example?', true],
  ['what is new on https://news.example/?', true],
  ['what is new on "news.example"', true],
  // Attack: everybody has a page there, and the user names one; another site that ends or begins like it; an address of mail.
  ['what is new on https://news.example/ada?', false],
  ['what is new on news.example:8080', false],
  ['what is new on evil-news.example', false],
  ['what is new on my.news.example', false],
  ['what is new on news.example.org', false],
  ['what is new on https://evil.example/news.example', false],
  ['what did ada@news.example write?', false],
] as const)
  test(`"${said}" ${isNamed ? 'names' : 'does not name'} the site of a link`, () => {
    assert.equal(names(said, 'https://www.news.example/today?all=1'), isNamed);
  });
