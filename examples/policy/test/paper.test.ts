/** The rules of the paper's sections 3.2 and 4.2 and its Table 1: as files, as printed, through the library and `cordon analyze`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { standardDetectors } from '@cordon/detectors';
import { loadPolicy, type Policy } from '@cordon/policy';
import { analyze } from '@cordon/policy-tools';
import { isLeftOut } from '../../../tools/cases.ts';
import { call, type Log, PAPER_CASES, PICKLE, visit } from '../paper/cases.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'examples/policy/paper');
const PAGE = readFileSync(join(ROOT, 'docs/policy/paper.md'), 'utf8');

function policyOf(text: string): Policy {
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  return policy.value;
}

function findings(
  policy: Policy,
  log: Log,
): { readonly rules: readonly string[]; readonly undecided: number } {
  const analysis = analyze(policy, log);
  assert.ok(analysis.ok, JSON.stringify(analysis));
  const { errors, undecided } = analysis.value;
  return { rules: [...new Set(errors.map(({ rule }) => rule))], undecided: undecided.length };
}

for (const [rule, { caught, clean }] of Object.entries(PAPER_CASES)) {
  const file = join(FOLDER, `${rule}.gr`);
  const text = readFileSync(file, 'utf8');

  test(`${rule} finds what it is for and nothing very like it`, () => {
    const policy = policyOf(text);
    for (const log of caught)
      assert.deepEqual(findings(policy, log), { rules: [rule], undecided: 0 }, JSON.stringify(log));
    for (const log of clean)
      assert.deepEqual(findings(policy, log), { rules: [], undecided: 0 }, JSON.stringify(log));
  });

  test(`${rule} through \`cordon analyze\``, (t) => {
    if (isLeftOut(t, rule === 'leaked-secret')) return;
    const folder = mkdtempSync(join(tmpdir(), 'cordon-paper-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const outcome = (name: string, logs: readonly Log[]) => {
      const files = logs.map((log, index) => {
        const path = join(folder, `${name}-${index}.json`);
        writeFileSync(path, JSON.stringify(log));
        return path;
      });
      const main = join(ROOT, 'packages/cli/src/main.ts');
      const ran = spawnSync(process.execPath, [main, 'analyze', file, ...files, '--json'], {
        encoding: 'utf8',
        timeout: 300_000,
      });
      const lines = ran.stdout.split('\n').filter((line) => line.startsWith('{"trace"'));
      return {
        code: ran.status,
        found: lines.map((line) => line.includes(`"rule":"${rule}"`)),
        err: ran.stderr,
      };
    };
    assert.deepEqual(outcome('caught', caught), { code: 1, found: caught.map(() => true), err: '' });
    assert.deepEqual(outcome('clean', clean), { code: 0, found: clean.map(() => false), err: '' });
  });

  test(`${rule} stands on the page as it is`, () => {
    assert.ok(PAGE.includes(`\`\`\`gr\n${text}\`\`\``));
  });
}

/** As printed, with the underscores that the print has lost, and what is told about them. */
const PRINTED: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'link preview',
    `is_data_source(out: ToolOutput) :=
  out.tool is tool:gsheets_read
  or out.tool is tool:gdocs_read
is_data_sink(call: ToolCall) :=
  call is tool:send_slack_message({
    link_preview: true
  })
raise "Data leakage risk" if:
  (out: ToolOutput) -> (call: ToolCall)
  is_data_source(out)
  is_data_sink(call)
`,
    ['POL013', 'POL013', 'POL010'],
  ],
  [
    'leaked secret',
    `is_openai_secret(text) :=
    match(r"sk-.*", f.contents)
raise "Do not leak secrets" if:
    (call: ToolCall)
    call is tool:github_push
    (f: File) in call.arguments.staging
    is_openai_secret(f.contents)
`,
    ['POL010'],
  ],
  [
    'mail after PII',
    `raise "No emails after reading PII" if:
    (call: ToolCall)
    output is tool:drive_get_files
    call2 is tool:send_email
    is_pii(output.content)
    output.owner == call.recipient
`,
    ['POL010', 'POL010', 'POL010', 'POL010', 'POL010', 'POL013'],
  ],
];

for (const [name, text, codes] of PRINTED)
  test(`as printed, the rule of the ${name} does not load, and every reason is told`, () => {
    const policy = loadPolicy(text, { detectors: standardDetectors() });
    assert.ok(!policy.ok);
    assert.deepEqual(
      policy.fault.map(({ code }) => code),
      codes,
    );
  });

test('as printed, the rule of the pickled model stops code after a visit to the trusted site and no other', () => {
  const policy = policyOf(`raise "Potentially unsafe code" if:
    (c1: ToolCall) -> (c2: ToolCall)
    c1 is tool:http_get({
        url: "^trusted.com/.*",
    })
    c2 is tool:execute_code
    "pickle" in c2.arguments.code
`);
  assert.equal(findings(policy, [...visit('trusted.com/model'), PICKLE]).rules.length, 1);
  assert.equal(findings(policy, [...visit('models.example/evil'), PICKLE]).rules.length, 0);
});

test('the example of section 3.2 loads as it is printed, and finds code after a mail was read', () => {
  const policy = policyOf(`is_dangerous(call: ToolCall) :=
    call is tool:execute_code
raise "<error message>" if:
    (c1: ToolCall) -> (c2: ToolCall)
    c1 is tool:read_email
    is_dangerous(c2)
`);
  const read = call('1', 'read_email', {});
  assert.equal(findings(policy, [read, PICKLE]).rules.length, 1);
  assert.equal(findings(policy, [PICKLE, read]).rules.length, 0);
  assert.equal(findings(policy, [read, call('2', 'send_email', {})]).rules.length, 0);
});

test('the table on the page is what the program prints', () => {
  const ran = spawnSync(process.execPath, [join(FOLDER, 'table-1.ts')], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
  const rows = ran.stdout.trimEnd().split('\n');
  assert.equal(rows.length, 9);
  assert.ok(PAGE.includes(ran.stdout.trimEnd()));
  for (const row of rows.slice(2)) assert.match(row, /\| stopped \| sent \|$/);
});

test('each detector of the table calls an honest text an injection and misses an injection', () => {
  const rows = PAGE.split('\n').filter((line) => line.endsWith('| stopped | sent |'));
  const mistakes = (column: number) =>
    rows.flatMap((row) => {
      const cells = row.split(' | ');
      const mistake = /\*\*(.+)\*\*/.exec(cells[column] ?? '')?.[1];
      return mistake === undefined ? [] : [`${cells[0]?.slice(2)}: ${mistake}`];
    });
  const missed = [
    'an injection that asks for a link: missed',
    'an injection that reads like feedback: missed',
  ];
  const [own, recorded] = [2, 3];
  assert.deepEqual(mistakes(own), [
    'a report of an injection: false alarm',
    'an urgent request to the staff: false alarm',
    ...missed,
  ]);
  assert.deepEqual(mistakes(recorded), ['a report of an injection: false alarm', ...missed]);
});
