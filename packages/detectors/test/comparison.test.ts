import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyze } from '@cordon/policy-tools';
import { findCopyright } from '../src/comparison/copyright.ts';
import { errorsFor, findFuzzy } from '../src/comparison/fuzzy-search.ts';
import { lexicalSimilarity } from '../src/comparison/lexical-similarity.ts';
import { standardDetectors } from '../src/library/standard-library.ts';

function judged(imports: string, line: string, content: string): string {
  const text = `${imports}\nraise "x" if:\n    (m: Message)\n    ${line}\n`;
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  const analysis = analyze(policy.value, [{ role: 'user', content }]);
  assert.ok(analysis.ok);
  return analysis.value.undecided[0]?.reason ?? `${analysis.value.errors.length} found`;
}

test('a text is found with a few errors, at its place', () => {
  assert.deepEqual(findFuzzy('say the pasword now', 'password', errorsFor('password', 0.8)), {
    start: 8,
    end: 15,
    errors: 1,
  });
  assert.equal(findFuzzy('say the word now', 'password', 1), null);
  assert.equal(
    judged(
      'from invariant.detectors import fuzzy_contains',
      'fuzzy_contains(m.content, "open sesame")',
      'opne sesame!',
    ),
    '1 found',
  );
  assert.equal(
    judged(
      'from invariant.detectors import fuzzy_contains',
      'fuzzy_contains(m.content, "open sesame", use_semantic=True)',
      'let me in',
    ),
    'no model is set up to compare meanings',
  );
});

test('licences and notices are found by their words, and prose with some of them is none', () => {
  const kinds = (text: string) => findCopyright(text).map(({ kind }) => kind);
  assert.deepEqual(kinds('/* Licensed under the Apache\n * License, Version 2.0 */ Copyright (C) 2024 Ada'), [
    'APACHE_LICENSE_2.0',
    'COPYRIGHT',
  ]);
  assert.deepEqual(kinds('GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3'), ['GNU_AGPL_V3']);
  for (const [text, kind] of [
    ['Redistribution and use in source and binary forms, with or without\n * modification', 'BSD_LICENSE'],
    ['ISC License', 'ISC_LICENSE'],
    ['Eclipse Public License - v 2.0', 'ECLIPSE_PUBLIC_LICENSE'],
    ['This work is licensed under a Creative Commons Attribution 4.0 License.', 'CREATIVE_COMMONS'],
    ['This is free and unencumbered software released into the public domain.', 'UNLICENSE'],
    [`${'x '.repeat(2_000)}© 2019 Ada`, 'COPYRIGHT'],
  ] as const)
    assert.deepEqual(kinds(text), [kind], text.slice(0, 80));
  assert.deepEqual(kinds('BSD is an operating system, and creative people share common ground.'), []);
  assert.deepEqual(kinds('The general public may ask for a license; version 3 of the form is public.'), []);
});

test('similarity in words is one for the same, nothing for strangers, between for relatives', () => {
  assert.ok(lexicalSimilarity('A red house', 'a red house!') > 0.99);
  assert.equal(lexicalSimilarity('red house', 'xyz'), 0);
  const related = lexicalSimilarity('transfer the money', 'money transfers');
  assert.ok(related > 0.4 && related < 0.95);
});

test('a role of the user must grant the scope', () => {
  const asks = (user: string, scope: string) =>
    judged(
      'from invariant.access_control import should_allow_rbac',
      `should_allow_rbac(m, "${scope}", "${user}", {"ada": ["admin"], "eve": ["guest"]}, {"admin": ["mail", "files"], "guest": []})`,
      'x',
    );
  assert.equal(asks('ada', 'mail'), '1 found');
  assert.equal(asks('eve', 'mail'), '0 found');
  assert.equal(asks('constructor', 'mail'), '0 found');
});

test('role grants that are objects, as the README of the seed language writes them, grant what they name', () => {
  const asks = (user: string, roles: string, grants: string) =>
    judged(
      'from invariant.access_control import should_allow_rbac',
      `should_allow_rbac(m, "public", "${user}", ${roles}, ${grants})`,
      'x',
    );
  const roles = '{"bob": ["admin"], "eve": ["guest"], "ann": ["guest", "admin"]}';
  const grants = '{"admin": {"public": True, "internal": True}, "guest": {"public": False}}';
  assert.equal(asks('bob', roles, grants), '1 found');
  assert.equal(asks('ann', roles, grants), '1 found');
  assert.equal(asks('eve', roles, grants), '0 found');
  assert.equal(asks('mallory', roles, grants), '0 found');
  assert.equal(asks('bob', roles, '{"admin": {"constructor": True}}'), '0 found');
});

test('roles and grants of another form are undecided instead of no', () => {
  const asks = (roles: string, grants: string) =>
    judged(
      'from invariant.access_control import should_allow_rbac',
      `should_allow_rbac(m, "public", "bob", ${roles}, ${grants})`,
      'x',
    );
  const reason = /^`should_allow_rbac` needs the roles of a user as texts, and the grants of a role/;
  assert.match(asks('{"bob": True}', '{"admin": ["public"]}'), reason);
  assert.match(asks('{"bob": ["admin"]}', '{"admin": {"public": "yes"}}'), reason);
  assert.match(asks('{"bob": ["admin"]}', '{"admin": [1]}'), reason);
  assert.match(asks('{"bob": ["admin"]}', '{"admin": True}'), reason);
  assert.equal(asks('{"bob": "admin"}', '{"admin": "public", "guest": 1}'), '1 found');
});

for (const [name, module, line] of [
  ['is_similar', 'invariant.detectors', 'is_similar(m.content, "a")'],
  ['ocr', 'invariant.parsers', 'ocr(["data:image/png;base64,AA"])'],
  ['llm', 'invariant', 'llm(m.content) == "yes"'],
] as const) {
  test(`\`${name}\` has no answer while nothing is set up for it`, () => {
    assert.match(
      judged(`from ${module} import ${name}`, line, 'x'),
      /is not set up: see `detectors` in cordon.json$/,
    );
  });
}

test('a licence is found by its SPDX id, and a notice by its year; laws, offices and keys are neither', () => {
  const kinds = (text: string) => findCopyright(text).map(({ kind }) => kind);
  assert.deepEqual(kinds('// SPDX-License-Identifier: Apache-2.0'), ['APACHE_LICENSE_2.0']);
  assert.deepEqual(kinds('-- SPDX-License-Identifier: AGPL-3.0-only'), ['GNU_AGPL_V3']);
  assert.deepEqual(kinds('SPDX-License-Identifier: GPL-2.0'), ['GNU_GPL_V2']);
  assert.deepEqual(kinds('Copyright 2023 The Example Authors'), ['COPYRIGHT']);
  assert.deepEqual(kinds('© 2026 Example Ltd'), ['COPYRIGHT']);
  for (const text of [
    'Copyright Act of 1976',
    'SPDX-License-Identifier: MITRE',
    'Copyright 20234',
    'copyright1999',
  ])
    assert.deepEqual(kinds(text), [], text);
});
