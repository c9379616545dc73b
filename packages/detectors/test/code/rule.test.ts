import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyze } from '@cordon/policy-tools';
import { standardDetectors } from '../../src/index.ts';

interface Outcome {
  readonly ranges: readonly (readonly string[])[];
  readonly undecided: readonly string[];
}

function outcome(module: string, name: string, line: string, content: unknown, subject = 'Message'): Outcome {
  const text = `from ${module} import ${name}\nraise "x" if:\n    (m: ${subject})\n    ${line}\n`;
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  const trace =
    subject === 'Message'
      ? [{ role: 'user', content }]
      : [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: '1', type: 'function', function: { name: 'run', arguments: content } }],
          },
        ];
  const analysis = analyze(policy.value, trace);
  assert.ok(analysis.ok, JSON.stringify(analysis));
  const { errors, undecided } = analysis.value;
  return {
    ranges: errors.map(({ ranges }) => [...ranges]),
    undecided: undecided.map(({ reason }) => reason),
  };
}

const STANDARD = 'invariant.detectors';
const OWN = 'cordon.detectors';

test('python_code has the fields of the rule language', () => {
  for (const line of [
    '"os" in python_code(m).imports',
    '"eval" in python_code(m.content).builtins',
    '"os.system" in python_code(m).function_calls',
    'not python_code(m).syntax_error',
    'python_code(m).syntax_error_exception is None',
    '"PROCESS" in python_code(m).dangerous',
    'any([f.kind == "DYNAMIC_CODE" for f in python_code(m).findings])',
  ])
    assert.equal(
      outcome(STANDARD, 'python_code', line, 'import os as o\no.system(eval(x))').ranges.length,
      1,
      line,
    );
  assert.equal(
    outcome(STANDARD, 'python_code', '"os" in python_code(m).imports', 'import sys').ranges.length,
    0,
  );
});

test('what does not parse is a syntax error, and says why', () => {
  for (const line of [
    'python_code(m).syntax_error',
    '"invalid" in python_code(m).syntax_error_exception',
    '"UNPARSEABLE" in python_code(m).dangerous',
  ])
    assert.equal(outcome(STANDARD, 'python_code', line, 'def f(').ranges.length, 1, line);
});

test('dangerous constructs are marked where they stand', () => {
  assert.deepEqual(outcome(STANDARD, 'python_code', 'any(python_code(m).dangerous)', 'é = eval(x)').ranges, [
    ['0', '0.content:4-8'],
  ]);
});

test('a threshold leaves out what is less sure', () => {
  const line = (threshold: string) => `any(python_code(m, threshold=${threshold}).dangerous)`;
  assert.equal(outcome(STANDARD, 'python_code', line('0.6'), 'open("a", "w")').ranges.length, 1);
  assert.equal(outcome(STANDARD, 'python_code', line('0.9'), 'open("a", "w")').ranges.length, 0);
});

test('ipython_code and the mode of python_code read the commands of notebooks', () => {
  const cell = '!curl x | sh';
  for (const [name, line] of [
    ['ipython_code', '"DOWNLOAD_AND_RUN" in ipython_code(m).dangerous'],
    ['python_code', '"DOWNLOAD_AND_RUN" in python_code(m, ipython_mode=True).dangerous'],
    ['python_code', 'python_code(m).syntax_error'],
  ] as const)
    assert.equal(outcome(STANDARD, name, line, cell).ranges.length, 1, line);
});

test('semgrep gives issues with a description and a severity, for Python and bash', () => {
  const python = 'any([i.severity == "error" for i in semgrep(m.content, lang="python")])';
  const bash = 'any(["DOWNLOAD_AND_RUN" in i.description for i in semgrep(m, "bash")])';
  assert.equal(outcome(STANDARD, 'semgrep', python, 'eval(x)').ranges.length, 1);
  assert.equal(outcome(STANDARD, 'semgrep', python, 'print(x)').ranges.length, 0);
  assert.equal(outcome(STANDARD, 'semgrep', bash, 'curl x | sh').ranges.length, 1);
  assert.equal(outcome(STANDARD, 'semgrep', bash, 'ls').ranges.length, 0);
  assert.deepEqual(outcome(STANDARD, 'semgrep', 'any(semgrep(m, lang=m.content))', 'cobol').undecided, [
    '`semgrep` knows the languages "python" and "bash"',
  ]);
});

test('shell, SQL and JavaScript are detectors of Cordon’s own', () => {
  for (const [name, line, content] of [
    ['shell_code', '"DESTRUCTIVE" in shell_code(m).dangerous and "rm" in shell_code(m).commands', 'rm -rf /'],
    ['sql_code', '"DROP" in sql_code(m).dangerous and "users" in sql_code(m).tables', 'DROP TABLE users'],
    ['sql_code', '"DELETE" in sql_code(m, dialect="mysql").statements', 'DELETE FROM t WHERE a = 1'],
    ['javascript_code', '"child_process" in javascript_code(m).imports', "require('child_process')"],
  ] as const)
    assert.equal(outcome(OWN, name, line, content).ranges.length, 1, line);
  assert.deepEqual(
    outcome(OWN, 'sql_code', 'any(sql_code(m, dialect=m.content).dangerous)', 'dbase').undecided,
    ['the dialect is none of "postgres", "mysql", "sqlite", "mssql"'],
  );
});

test('the texts of a call are read as they are those of a message, and None holds no code', () => {
  for (const data of ['m', 'm.function.arguments', 'm.function.arguments.code']) {
    const line = `"DYNAMIC_CODE" in python_code(${data}).dangerous`;
    assert.equal(
      outcome(STANDARD, 'python_code', line, { code: 'eval(x)' }, 'ToolCall').ranges.length,
      1,
      data,
    );
    assert.equal(outcome(STANDARD, 'python_code', line, { code: 'f(x)' }, 'ToolCall').ranges.length, 0, data);
  }
  const line = 'any(python_code(m.function.arguments.code).dangerous)';
  assert.deepEqual(outcome(STANDARD, 'python_code', line, { code: null }, 'ToolCall'), {
    ranges: [],
    undecided: [],
  });
});

test('a text that is too long to look at leaves the rule undecided', () => {
  const long = 'x '.repeat(600_000);
  for (const [module, name] of [
    [STANDARD, 'python_code'],
    [OWN, 'javascript_code'],
    [OWN, 'shell_code'],
    [OWN, 'sql_code'],
  ] as const)
    assert.deepEqual(outcome(module, name, `any(${name}(m).dangerous)`, long).undecided, [
      'the text is too long to look at',
    ]);
});
