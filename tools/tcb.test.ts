/** The trusted computing base: which packages belong to it, and what they stand on, is known by name. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, sourceFiles } from './imports.ts';
import { ringOf, trustedPackages } from './tcb.ts';
import { packageGraph, packageNames } from './topology.ts';

interface PackageManifest {
  readonly name: string;
  readonly ring?: number;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

/** What the packages stand on, each with the reason why we do not do it ourselves. */
const DEPENDENCIES: Readonly<Record<string, string>> = {
  '@lezer/python': 'the grammar of Python, with error recovery',
  '@ai-sdk/anthropic': 'speaks the Messages API and its streams',
  '@ai-sdk/google': 'speaks the Generative Language API',
  '@ai-sdk/openai': 'speaks the Responses and Chat Completions APIs',
  '@ai-sdk/openai-compatible': 'speaks what local servers make of the Chat Completions API',
  '@ai-sdk/provider': 'the types that the four providers share',
  '@modelcontextprotocol/client': 'the official client of MCP: all revisions, over our own transport',
  acorn: 'the grammar of JavaScript',
  ajv: 'JSON Schema as apps use it, compiled once',
  commander: 'options, commands and their help',
  compromise: 'words and names of English, for persons and places in texts',
  htmlparser2: 'HTML as browsers read it, however broken',
  'libphonenumber-js': 'how telephone numbers are built, in every country',
  'smol-toml': 'TOML, in which Codex keeps its servers',
  tldts: 'the public suffix list: which part of a name is one owner’s',
  unbash: 'the grammar of shell scripts',
};

const PERMISSIVE: ReadonlySet<string> = new Set([
  'Apache-2.0',
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '(AFL-2.1 OR BSD-3-Clause)',
  'Unlicense',
]);

const NAMES = packageNames();
const MANIFESTS = NAMES.map((name) => json<PackageManifest>(`packages/${name}/package.json`));

test('every package has a ring, and no file says one', () => {
  assert.deepEqual(
    NAMES.filter((name) => ![0, 1, 2].includes(Number(ringOf(name)))),
    [],
  );
  const saying = NAMES.filter((name) =>
    sourceFiles(`packages/${name}/src`).some(({ text }) => saysRing(text)),
  );
  assert.deepEqual(saying, []);
});

/** What the composition hands to trusted packages. Each with what a wrong answer of it can do. */
const UNTRUSTED_IMPORTS: Readonly<Record<string, string>> = {
  'runtime ─► detectors': 'they may miss what a text holds: a rule that asks is fooled, isolation is not',
  'runtime ─► host-diagnosis': 'it words the refusals of the sandbox after they are made',
  'runtime ─► llm': 'what a model answers is a claim; the libraries of providers run in a confined process',
  'runtime ─► obedient-model': 'what a model answers is a claim',
  'runtime ─► planner':
    'a plan is a claim: the hub checks it, and asks before it releases what the plan wants',
  'runtime ─► seatbelt': 'it confines apps on macOS alone, for which Cordon makes no claim',
};

test('a trusted package imports only trusted packages', () => {
  const files = NAMES.flatMap((name) => sourceFiles(`packages/${name}/src`));
  const leaks = [...packageGraph(NAMES, files)].flatMap(([from, targets]) =>
    ringOf(from) === 0 ? targets.filter((to) => ringOf(to) !== 0).map((to) => `${from} ─► ${to}`) : [],
  );
  assert.deepEqual(leaks, Object.keys(UNTRUSTED_IMPORTS));
});

test('a header that says a ring is found', () => {
  assert.equal(saysRing('/** Reads a plan. Ring 1. */\n'), true);
  assert.equal(saysRing('/** Reads a plan; whoever wrote it is ring 1. */\n'), false);
  assert.equal(saysRing('/** Reads a plan. */\nconst ring = "Ring 1";\n'), false);
});

test('the trusted computing base is counted', (t) => {
  const packages = trustedPackages();
  for (const { name, files, lines } of packages) t.diagnostic(`${name}: ${files} files, ${lines} lines`);
  const all = packages.reduce((sum, { lines }) => sum + lines, 0);
  t.diagnostic(`all: ${all} lines`);
  assert.deepEqual(
    packages.map(({ name }) => name),
    [
      'broker',
      'config',
      'console',
      'core',
      'detector-process',
      'dialler',
      'egress',
      'hub',
      'install',
      'monitor',
      'oauth',
      'policy',
      'protocol',
      'regex',
      'runtime',
      'sandbox',
      'spoke',
      'trace',
    ],
  );
  assert.ok(packages.every(({ lines }) => lines > 0));
});

test('the packages stand on fewer than twenty others, each for a reason', () => {
  const used = MANIFESTS.flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  const others = [...new Set(used.filter((name) => !name.startsWith('@cordon/')))].sort();
  assert.deepEqual(
    others,
    Object.keys(DEPENDENCIES).sort(),
    'a new dependency is a decision: write its reason here',
  );
  assert.ok(others.length < 20);
});

test('every dependency is pinned to one version', () => {
  const loose = MANIFESTS.flatMap(({ name, dependencies = {} }) =>
    Object.entries(dependencies)
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([dependency, version]) => `${name}: ${dependency} ${version}`),
  );
  assert.deepEqual(loose, []);
});

for (const name of Object.keys(DEPENDENCIES)) {
  test(`${name} has a permissive licence`, () => {
    const { license } = json<PackageManifest>(`node_modules/${name}/package.json`);
    assert.ok(license !== undefined && PERMISSIVE.has(license), `the licence of ${name} is ${license}`);
  });
}

test('what they bring with them is permissive, too, and runs nothing when it is installed', () => {
  const { packages } = json<{ packages: Readonly<Record<string, LockedPackage>> }>('package-lock.json');
  const brought = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true,
  );
  assert.ok(brought.length >= Object.keys(DEPENDENCIES).length);
  const unwanted = brought.filter(
    ([, { license = '', hasInstallScript }]) => !PERMISSIVE.has(license) || hasInstallScript === true,
  );
  assert.deepEqual(unwanted, []);
});

/** Whether the first comment of a file says the ring, which `package.json` says. */
function saysRing(text: string): boolean {
  return /^\s*(?:#!.*\n)?\/\*\*(?:(?!\*\/)[\s\S])*\bRing [012]\b/.test(text);
}

function json<T>(path: string): T {
  const read: T = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  return read;
}
