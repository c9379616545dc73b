/** The direction of dependencies between packages, against the imports that are really there. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { localTarget, ROOT, type SourceFile, sourceFiles } from './imports.ts';

/** What each package may import of the others, and of third parties. Adding a line here is a decision. */
const ALLOWED: Readonly<
  Record<string, { readonly own: readonly string[]; readonly others: readonly string[] }>
> = {
  core: { own: [], others: [] },
  regex: { own: ['core'], others: [] },
  policy: { own: ['core', 'regex'], others: [] },
  reference: { own: ['core', 'policy'], others: [] },
  monitor: { own: ['core', 'policy', 'policy/rules'], others: [] },
  detectors: {
    own: ['core', 'policy', 'policy/rules', 'policy/text-work'],
    others: ['@lezer/python', 'acorn', 'compromise', 'htmlparser2', 'libphonenumber-js', 'tldts', 'unbash'],
  },
  trace: { own: ['core'], others: [] },
  protocol: { own: ['core'], others: [] },
  sandbox: { own: ['core'], others: [] },
  egress: { own: ['core'], others: ['tldts'] },
  llm: {
    own: ['core'],
    others: [
      '@ai-sdk/anthropic',
      '@ai-sdk/google',
      '@ai-sdk/openai',
      '@ai-sdk/openai-compatible',
      '@ai-sdk/provider',
    ],
  },
  spoke: { own: ['core', 'protocol'], others: [] },
  app: { own: [], others: [] },
  hub: {
    own: ['core', 'egress', 'monitor', 'policy', 'policy/rules', 'protocol', 'sandbox', 'trace'],
    others: ['@modelcontextprotocol/client', 'ajv', 're2js'],
  },
  // `attacks` is loaded only by `cordon doctor --attack`, `bench` only by `cordon bench`.
  cli: {
    own: [
      'attacks',
      'bench',
      'core',
      'detectors',
      'egress',
      'egress/reach',
      'hub',
      'hub/begun-session',
      'hub/evidence',
      'hub/interruption',
      'llm',
      'policy',
      'policy/rules',
      'sandbox',
      'sandbox/layers',
      'sandbox/tree-digest',
      'trace',
    ],
    others: ['commander'],
  },
};

const PACKAGES = readdirSync(join(ROOT, 'packages'));

test('every package is in the table and the table names no other', () => {
  assert.deepEqual([...PACKAGES].sort(), Object.keys(ALLOWED).sort());
});

for (const [what, loader] of [
  ['attacks', 'packages/cli/src/commands/doctor-attack.ts'],
  ['bench', 'packages/cli/src/commands/bench.ts'],
] as const) {
  test(`\`${what}\` is loaded by one command, when it is called, and by nothing else`, () => {
    const files = PACKAGES.flatMap((name) => sourceFiles(`packages/${name}/src`));
    const users = files.filter(({ text }) => text.includes(`import('@cordon/${what}')`));
    assert.deepEqual(
      users.map(({ path }) => path),
      [loader],
    );
    const values = new RegExp(`^import (?!type)[^;]*@cordon/${what}`, 'gm');
    assert.deepEqual(
      files.flatMap(({ text }) => text.match(values) ?? []),
      [],
    );
  });
}

for (const name of PACKAGES) {
  test(`${name} imports only what the table allows`, () => {
    const rule = ALLOWED[name] ?? { own: [], others: [] };
    const outside = sourceFiles(`packages/${name}/src`).flatMap((file) =>
      file.imports
        .filter((specifier) => !isAllowed(file, specifier, name, rule))
        .map((specifier) => `${file.path}: ${specifier}`),
    );
    assert.deepEqual(outside, []);
  });

  test(`${name} has no import cycle`, () => {
    assert.deepEqual(cycle(sourceFiles(`packages/${name}/src`)), []);
  });
}

function isAllowed(
  file: SourceFile,
  specifier: string,
  name: string,
  rule: { readonly own: readonly string[]; readonly others: readonly string[] },
): boolean {
  if (specifier.startsWith('node:')) return name !== 'core';
  const local = localTarget(file, specifier);
  if (local !== null) return local.startsWith(`packages/${name}/`);
  if (specifier.startsWith('@cordon/')) return rule.own.includes(specifier.slice('@cordon/'.length));
  return rule.others.some((other) => specifier === other || specifier.startsWith(`${other}/`));
}

/** The files of one cycle of value imports, or nothing. Type-only imports vanish and may point back. */
function cycle(files: readonly SourceFile[]): readonly string[] {
  const graph = new Map(files.map((file) => [file.path, valueTargets(file)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const next of graph.get(path) ?? []) {
      const found = visit(next, [...trail, path]);
      if (found.length > 0) return found;
    }
    done.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const found = visit(path, []);
    if (found.length > 0) return found;
  }
  return [];
}

function valueTargets(file: SourceFile): readonly string[] {
  const statements = [...file.text.matchAll(/^(?:import|export)\s+(type\s)?([^;]*?)from\s+'(\.[^']+)'/gm)];
  return statements
    .filter(([, typeOnly, names]) => typeOnly === undefined && !isTypesOnly(names ?? ''))
    .map(([, , , specifier]) => localTarget(file, specifier ?? '') ?? '');
}

/** `{ type A, type B }` imports nothing at run time. */
function isTypesOnly(names: string): boolean {
  const listed =
    /\{([^}]*)\}/
      .exec(names)?.[1]
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '') ?? [];
  return listed.length > 0 && listed.every((name) => name.startsWith('type '));
}
