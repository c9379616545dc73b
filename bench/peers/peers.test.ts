/** Peers on the paper's rules. Those of others are measured only where they are installed; what they say is told. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AGENT_GOVERNANCE } from './engines/agent-governance.ts';
import { CEDAR } from './engines/cedar.ts';
import { CORDON } from './engines/cordon.ts';
import { OPA } from './engines/opa.ts';
import { OPENAI_GUARDRAILS } from './engines/openai-guardrails.ts';
import { paperRecord } from './paper.ts';
import { IDEAS, PAPER_RULES, type Peer } from './peer.ts';
import { peersReport } from './report.ts';
import { sandboxTable, sandboxUnits } from './sandboxes.ts';

const PEERS: readonly Peer[] = [CORDON, OPA, CEDAR, AGENT_GOVERNANCE, OPENAI_GUARDRAILS];

const RIGHT = {
  'link-preview': { attacks: 2, stopped: 2, twins: 3, disturbed: 0 },
  'leaked-secret': { attacks: 2, stopped: 2, twins: 2, disturbed: 0 },
  'pickled-model': { attacks: 2, stopped: 2, twins: 3, disturbed: 0 },
  'mail-after-pii': { attacks: 1, stopped: 1, twins: 3, disturbed: 0 },
};

for (const peer of PEERS)
  test(`${peer.id} stops what the paper's rules stop, lets their twins pass, or says that it cannot say them`, async (t) => {
    const engine = await peer.load();
    if (engine === null) return t.skip('it is not installed');
    const sayable = PAPER_RULES.filter((rule) => peer.says[rule].kind !== 'none');
    const expected = Object.fromEntries(sayable.map((rule) => [rule, RIGHT[rule]]));
    assert.deepEqual(await paperRecord(peer, engine), expected);
  });

test('every rule that Rego and Cedar can say has a file, and no file is without its rule', () => {
  for (const [peer, folder, ending] of [
    [OPA, 'opa', '.rego'],
    [CEDAR, 'cedar', '.cedar'],
  ] as const) {
    const files = readdirSync(join(import.meta.dirname, 'rules', folder)).sort();
    const rules = [...PAPER_RULES, ...IDEAS].filter((rule) => peer.says[rule].kind !== 'none');
    assert.deepEqual(files, rules.map((rule) => `${rule}${ending}`).sort(), peer.name);
  }
});

test('sandboxes have a row each, measured or not, and a sample says that it leaves them out', () => {
  const record = { version: '1.2', attempts: 70, ran: 68, through: 21, twins: 69 };
  const table = sandboxTable(new Map([['sandbox/firejail', record]]));
  assert.ok(table.kind === 'table');
  assert.deepEqual(table.rows, [
    ['Cordon', 'not measured', 'not measured'],
    ['bubblewrap', 'not measured', 'not measured'],
    ['firejail 1.2', '21 of 68', '69 of 70'],
    ['sandbox-runtime', 'not measured', 'not measured'],
  ]);
  const request = { isQuick: true, data: null, traces: null, labels: null, pairs: null };
  const { units, notices } = sandboxUnits(request);
  assert.deepEqual(units, []);
  assert.deepEqual(notices, ['sandboxes of others are not measured: a sample leaves them out']);
});

test('a peer that is not installed leaves no figures, and its rules are told', () => {
  const { sections } = peersReport(PEERS, new Map());
  const [paper, recorded, missing] = sections;
  assert.ok(paper?.kind === 'table' && recorded?.kind === 'table' && missing?.kind === 'table');
  const cells = paper.rows.flatMap((row) => row.slice(1));
  assert.deepEqual([...new Set(cells)].sort(), ['not measured', '–']);
  assert.ok(
    recorded.rows.every(
      ([, , caught, disturbed]) => `${caught} ${disturbed}` === 'not measured not measured',
    ),
  );
  assert.deepEqual(
    missing.rows.filter(([by]) => by === OPENAI_GUARDRAILS.name).map(([, , reason]) => reason),
    ['a guard sees one text and no history', 'its guard against injection asks a model'],
  );
});

test('the packages of others are in no lock file of the project', () => {
  const lock = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
  for (const name of ['@cedar-policy/cedar-wasm', '@ai-sdk/policy-opa', '@openai/guardrails'])
    assert.equal(lock.includes(`node_modules/${name}"`), false, name);
  assert.ok(existsSync(join(import.meta.dirname, 'installed/package.json')));
});
