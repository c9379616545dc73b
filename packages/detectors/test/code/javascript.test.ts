import assert from 'node:assert/strict';
import { test } from 'node:test';
import { javascriptCode } from '../../src/code/javascript/javascript.ts';

function found(code: string): readonly string[] {
  return javascriptCode(code).constructs.map(({ kind, start, end }) => `${kind} ${code.slice(start, end)}`);
}

test('modules and call targets are listed by their names', () => {
  const { imports, functionCalls } = javascriptCode(
    "import cp from 'node:child_process';\nconst { readFile: r } = require('fs');\ncp.exec(r('a'));\nimport('x');",
  );
  assert.deepEqual(imports, ['child_process', 'fs', 'x']);
  assert.deepEqual(functionCalls, ['child_process.exec', 'cp.exec', 'fs.readFile', 'r', 'require']);
});

for (const [code, expected] of [
  ['eval(x)', ['DYNAMIC_CODE eval']],
  ['(0, eval)(x)', ['DYNAMIC_CODE eval']],
  ['const e = eval; e(x)', ['DYNAMIC_CODE eval', 'DYNAMIC_CODE e']],
  [
    "globalThis['ev' + 'al'](x)",
    ["DYNAMIC_ACCESS globalThis['ev' + 'al']", "DYNAMIC_CODE globalThis['ev' + 'al']"],
  ],
  ["window['eval'](x)", ["DYNAMIC_CODE window['eval']"]],
  ['process[name](x)', ['DYNAMIC_ACCESS process[name]']],
  ['new Function("a", x)', ['DYNAMIC_CODE Function']],
  ["[].constructor.constructor('x')()", ['DYNAMIC_CODE [].constructor.constructor']],
  ["(() => {}).constructor('x')()", ['DYNAMIC_CODE (() => {}).constructor']],
  ["setTimeout('f()', 1)", ['DYNAMIC_CODE setTimeout']],
  ["require('child_process').exec(x)", ["PROCESS require('child_process').exec"]],
  ["const { exec: run } = require('node:child_process'); run(x)", ['PROCESS run']],
  ["import { spawn as s } from 'child_process';\ns(x)", ['PROCESS s']],
  ["import * as cp from 'child_process';\ncp.fork(x)", ['PROCESS cp.fork']],
  ["const { exec } = await import('node:child_process'); exec(x)", ['PROCESS exec']],
  ["const run = promisify(require('child_process').exec)", ["PROCESS require('child_process').exec"]],
  [
    "require('child' + '_process').exec(x)",
    ["DYNAMIC_IMPORT require('child' + '_process')", "PROCESS require('child' + '_process').exec"],
  ],
  ['require(name)', ['DYNAMIC_IMPORT require(name)']],
  ['import(name)', ['DYNAMIC_IMPORT import(name)']],
  ["import 'data:text/javascript,f()'", ["DYNAMIC_CODE import 'data:text/javascript,f()'"]],
  ["process.binding('fs')", ['NATIVE_CODE process.binding']],
  [
    "const r = process.mainModule.require; r('child_process').exec(x)",
    ['DYNAMIC_IMPORT process.mainModule', "PROCESS r('child_process').exec"],
  ],
  ["require('vm').runInNewContext(x)", ["DYNAMIC_CODE require('vm').runInNewContext"]],
  ["fetch('https://x.example', { body })", ['NETWORK fetch']],
  ["import axios from 'axios';\naxios.post(u, d)", ['NETWORK axios.post']],
  ["require('fs').writeFileSync(p, d)", ["FILE_WRITE require('fs').writeFileSync"]],
  [
    "import { rm } from 'node:fs/promises';\nawait rm(p, { recursive: true })",
    ['DESTRUCTIVE rm', 'FILE_DELETE rm'],
  ],
  ["const fs = require('fs'); fs.unlinkSync(p)", ['FILE_DELETE fs.unlinkSync']],
  ["const https = require('node:https'); https.get(u)", ['NETWORK https.get']],
  ["require('fs').readFileSync('/etc/shadow')", ["SENSITIVE_FILE '/etc/shadow'"]],
  ['send(process.env)', ['ENVIRONMENT process.env']],
  ['send(process.env.API_TOKEN)', ['ENVIRONMENT process.env']],
  ['a.__proto__.x = 1', ['INTROSPECTION a.__proto__']],
  [
    "require('child_process').execSync('rm -rf /')",
    ["PROCESS require('child_process').execSync", 'DESTRUCTIVE rm -rf /', 'FILE_DELETE rm -rf /'],
  ],
  ['eval(\'require("fs").unlinkSync(p)\')', ['DYNAMIC_CODE eval', 'FILE_DELETE require("fs").unlinkSync']],
  ['with (x) { y }', ['DYNAMIC_ACCESS with (x']],
] as const)
  test(`is dangerous: ${JSON.stringify(code)}`, () => {
    assert.deepEqual([...found(code)].sort(), [...expected].sort());
  });

for (const code of [
  "/a(b)/.exec('x'); pattern.exec(text)",
  'const o = { eval: 1, exec() {} }; o.exec();',
  'function evaluate(x) { return x + 1; }',
  'setTimeout(() => f(), 10)',
  "const { join } = require('node:path'); join('a', 'b')",
  'console.log("eval(x); rm -rf /") // eval(x)',
  'x instanceof Function; typeof eval',
  'if (process.env.NODE_ENV === "test") f()',
  "import fs from 'fs';\nfs.readFileSync('a.txt', 'utf8')",
  'items.map(process); function process(item) { return item; }',
  'class A { fetch() { return this.items; } }',
  'const fetch = (id) => cache.get(id); fetch(1)',
  'a[i] = b[j]; map[key]()',
  'export default async function* f() { yield* g() }',
])
  test(`is harmless: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(code), []);
    assert.equal(javascriptCode(code).syntaxError, null);
  });

test('a payload that is decoded and run is read, and said to be hidden', () => {
  const payload = Buffer.from("require('fs').unlinkSync(p)").toString('base64');
  for (const decoded of [`atob('${payload}')`, `Buffer.from('${payload}', 'base64').toString()`])
    assert.deepEqual(
      javascriptCode(`eval(${decoded})`).constructs.map(({ kind }) => kind),
      ['DYNAMIC_CODE', 'ENCODED_PAYLOAD', 'FILE_DELETE'],
    );
});

for (const code of ['const x: number = 1', '<a>b</a>', 'function (', 'a b', "'", 'let a; let a;', 'x\0'])
  test(`does not parse: ${JSON.stringify(code)}`, () => {
    const { syntaxError, constructs } = javascriptCode(code);
    assert.notEqual(syntaxError, null);
    assert.deepEqual(
      constructs.map(({ kind }) => kind),
      ['UNPARSEABLE'],
    );
  });

for (const code of [
  '',
  'return 1',
  'await f()',
  'import a from "a"; export { a }',
  'var let = 1; with(a) b',
  '#!/usr/bin/env node\nf()',
  '010',
])
  test(`parses: ${JSON.stringify(code)}`, () => {
    assert.equal(javascriptCode(code).syntaxError, null);
  });

test('code in Markdown is read at its place', () => {
  assert.deepEqual(found('So:\n```js\neval(x)\n```\n```python\neval(x)\n```'), ['DYNAMIC_CODE eval']);
});
