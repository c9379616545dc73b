/** The trusted computing base: every file says that it belongs to it, and what it stands on is known by name. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { localTarget, ROOT, type SourceFile, sourceFiles } from './imports.ts';
import { isTrusted, trustedPackages } from './tcb.ts';

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
  re2js: 'regular expressions in linear time, for patterns that others wrote',
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

const NAMES = readdirSync(join(ROOT, 'packages'));
const MANIFESTS = NAMES.map((name) => json<PackageManifest>(`packages/${name}/package.json`));

for (const name of NAMES.filter((_, index) => MANIFESTS[index]?.ring === 0)) {
  test(`every file of ${name} says in its header which ring it belongs to`, () => {
    const silent = sourceFiles(`packages/${name}/src`).filter((file) => !saysItsRing(file));
    assert.deepEqual(
      silent.map(({ path }) => path),
      [],
    );
  });
}

test('in a trusted package, only its index imports what does not belong to the trusted base, and planning its planner', () => {
  const leaks = NAMES.filter((_, index) => MANIFESTS[index]?.ring === 0).flatMap((name) => {
    const files = sourceFiles(`packages/${name}/src`);
    const untrusted = new Set(files.filter((file) => !isTrusted(file)).map(({ path }) => path));
    return files
      .filter((file) => isTrusted(file) && !file.path.endsWith('/src/index.ts'))
      .flatMap((file) => file.imports.map((specifier) => ({ file, target: localTarget(file, specifier) })))
      .filter(({ target }) => target !== null && untrusted.has(target))
      .map(({ file, target }) => `${file.path} imports ${target}`);
  });
  // A plan is a proposal like any other: what it says is checked, and decides nothing.
  const planning = ['app-index', 'evident-plan', 'planned-task', 'planner'].map(
    (name) => `packages/hub/src/planning/planning.ts imports packages/hub/src/planning/${name}.ts`,
  );
  assert.deepEqual(leaks, planning);
});

test('the trusted computing base is counted', (t) => {
  const packages = trustedPackages();
  for (const { name, files, lines } of packages) t.diagnostic(`${name}: ${files} files, ${lines} lines`);
  const all = packages.reduce((sum, { lines }) => sum + lines, 0);
  t.diagnostic(`all: ${all} lines`);
  assert.deepEqual(
    packages.map(({ name }) => name),
    [
      'core',
      'detector-process',
      'egress',
      'hub',
      'monitor',
      'policy',
      'protocol',
      'regex',
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

/** A file that only passes exports on has no ring of its own. */
function saysItsRing({ text }: SourceFile): boolean {
  if (/^\s*(?:#!.*\n)?\/\*\*(?:(?!\*\/)[\s\S])*\bRing [012]\b/.test(text)) return true;
  const rest = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/export [^;]*? from '[^']+';/g, '');
  return rest.trim() === '';
}

function json<T>(path: string): T {
  const read: T = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  return read;
}
