/** `cordon policy show`, and that every pack is what the list says of it: a file, its tests, its section in the docs. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { BASE_PACK, PACKS } from '@cordon/config/packs';
import { CODE_ROOT } from '@cordon/config/reading';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { packFile, readEachPolicy, readPolicies } from '../src/rules/policies.ts';

const names = [BASE_PACK, ...PACKS].map(({ name }) => name);

test('every policy of ours is a pack, and every pack has a file, tests and a section in the docs', () => {
  const files = readdirSync(join(CODE_ROOT, 'policies')).filter((name) => name.endsWith('.gr'));
  assert.deepEqual(files.sort(), names.map((name) => `${name}.gr`).sort());
  const page = readFileSync(join(CODE_ROOT, 'docs/policy/packs.md'), 'utf8');
  for (const name of names) {
    assert.ok(existsSync(packFile(name).replace(/\.gr$/, '.test.json')), name);
    assert.ok(page.includes(`\`${name}\``), name);
  }
});

test('no pack names a tool: what tools do, labels say', () => {
  for (const name of names) assert.doesNotMatch(readFileSync(packFile(name), 'utf8'), /\btool:\S/, name);
});

test('all packs load together, without a warning, and no two rules have one name', () => {
  const each = readEachPolicy({ packs: PACKS.map(({ name }) => name), files: [] });
  assert.ok(each.ok, JSON.stringify(each));
  for (const policy of each.value) assert.deepEqual(policy.warnings, []);
  const rules = each.value.flatMap((policy) => policy.rules.map(({ id }) => id));
  assert.equal(new Set(rules).size, rules.length);
});

test('the base is in force whatever packs are named', () => {
  const policy = readPolicies({ packs: [], files: [] });
  assert.ok(policy.ok);
  assert.ok(policy.value.rules.some(({ id }) => id === 'no-egress-of-private-data-after-opened-text'));
});

test('the command tells each policy, its rules and what is not in force', () => {
  using place = new Workplace({ 'cordon.json': { packs: ['secrets'] } });
  const { code, out, err } = place.run(['policy', 'show', '--json', '--config', 'cordon.json']);
  assert.equal(code, 0, err);
  const lines = out
    .trim()
    .split('\n')
    .map((line): Told => JSON.parse(line));
  const inForce = lines.filter(({ kind }) => kind === 'policy');
  assert.deepEqual(
    inForce.map(({ pack }) => pack),
    [BASE_PACK.name, 'secrets'],
  );
  assert.ok(
    inForce[1]?.rules?.some(({ rule, effect }) => rule === 'secret-in-what-is-sent' && effect === 'raise'),
  );
  const left = lines.filter(({ kind }) => kind === 'policy.left-out').map(({ pack }) => pack);
  assert.deepEqual([...left, BASE_PACK.name, 'secrets'].sort(), [...names].sort());
});

interface Told {
  readonly kind: string;
  readonly pack: string;
  readonly rules?: readonly { readonly rule: string; readonly effect: string }[];
}
