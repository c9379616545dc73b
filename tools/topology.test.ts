/** The direction of dependencies between packages, and between the rooms of the hub, against the imports that are really there. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
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
  'detector-process': { own: ['core', 'policy/rules', 'protocol', 'sandbox'], others: [] },
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
      'detector-process',
      'detector-process/launch',
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
    assert.deepEqual(cycleIn(valueImports(sourceFiles(`packages/${name}/src`))), []);
  });
}

const HUB_FILES = sourceFiles('packages/hub/src');
/** More loose files than this, and nobody knows what a folder is about. */
const MOST_FILES = 15;

test('a cycle is found, and a graph without one has none', () => {
  const graph = (...arrows: readonly (readonly [string, readonly string[]])[]) => new Map(arrows);
  assert.deepEqual(cycleIn(graph(['a', ['b']], ['b', ['c']], ['c', ['b']])), ['b', 'c', 'b']);
  assert.deepEqual(cycleIn(graph(['a', ['b', 'c']], ['b', ['c']], ['c', []])), []);
});

test('rooms are told from paths, and from a drawing', () => {
  const file = (path: string, ...imports: readonly string[]): SourceFile => ({ path, imports, text: '' });
  const files = [
    file('packages/hub/src/hub.ts', './query/turn.ts', 'node:fs'),
    file('packages/hub/src/query/turn.ts', '../context/context.ts', './steps.ts'),
    file('packages/hub/src/context/context.ts'),
  ];
  const rooms = new Map([
    ['context', []],
    ['query', ['context']],
    ['root', ['query']],
  ]);
  assert.deepEqual(roomsOf(files), rooms);
  assert.deepEqual(roomsIn('root ─► query\nquery ─► context\ncontext ─► nothing\n'), rooms);
});

test('the rooms of the hub import what docs/architecture.md draws, and nothing else', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, drawing = ''] = /^## Rooms of the hub$.*?^```$(.*?)^```$/ms.exec(page) ?? [];
  assert.deepEqual(roomsOf(HUB_FILES), roomsIn(drawing));
});

test('no rooms of the hub need each other, and no two of its files, type imports included', () => {
  assert.deepEqual(cycleIn(roomsOf(HUB_FILES)), []);
  assert.deepEqual(cycleIn(allImports(HUB_FILES)), []);
});

test(`no room of the hub has more than ${MOST_FILES} files`, () => {
  const rooms = HUB_FILES.map(({ path }) => roomOf(path));
  const crowded = [...new Set(rooms)].filter(
    (room) => rooms.filter((other) => other === room).length > MOST_FILES,
  );
  assert.deepEqual(crowded, []);
});

test('nobody but its own tests imports sources of the hub by a path', () => {
  const everywhere = ['packages', 'examples', 'attacks', 'bench', 'e2e', 'formal', 'tools'];
  const outside = everywhere.flatMap(sourceFiles).filter(({ path }) => !path.startsWith('packages/hub/'));
  assert.ok(outside.length > 500);
  const reaching = outside.filter((file) =>
    file.imports.some((specifier) => localTarget(file, specifier)?.startsWith('packages/hub/src/') === true),
  );
  assert.deepEqual(
    reaching.map(({ path }) => path),
    [],
  );
});

/** Which rooms import which, type imports included. */
function roomsOf(files: readonly SourceFile[]): Graph {
  const rooms = new Map<string, Set<string>>();
  for (const [path, targets] of allImports(files)) {
    const room = roomOf(path);
    const others = targets.map(roomOf).filter((other) => other !== room);
    rooms.set(room, new Set([...(rooms.get(room) ?? []), ...others]));
  }
  return sorted([...rooms].map(([room, others]) => [room, [...others]]));
}

/** A room is a folder of the hub's sources; what lies in none is the root. */
function roomOf(path: string): string {
  const [, , , folder = '', file] = path.split('/');
  return file === undefined ? 'root' : folder;
}

/** A drawing of `rooms ─► rooms`, a line each. */
function roomsIn(drawing: string): Graph {
  const lines = drawing.split('\n').filter((line) => line.trim() !== '');
  const arrows = lines.map((line) => line.split('─►').map((names) => names.trim().split(/, */)));
  return sorted(
    arrows.flatMap(([from = [], to = []]) =>
      from.map((room): [string, readonly string[]] => [room, to.filter((name) => name !== 'nothing')]),
    ),
  );
}

function sorted(arrows: readonly (readonly [string, readonly string[]])[]): Graph {
  return new Map(arrows.map(([room, others]) => [room, [...others].sort()]));
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

/** Who imports whom: files, or the rooms that they are in. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** One cycle, from a place to itself; empty: there is none. */
function cycleIn(graph: Graph): readonly string[] {
  const done = new Set<string>();
  const visit = (place: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(place)) return [...trail.slice(trail.indexOf(place)), place];
    if (done.has(place)) return [];
    for (const next of graph.get(place) ?? []) {
      const found = visit(next, [...trail, place]);
      if (found.length > 0) return found;
    }
    done.add(place);
    return [];
  };
  for (const place of graph.keys()) {
    const found = visit(place, []);
    if (found.length > 0) return found;
  }
  return [];
}

/** Type-only imports vanish, and may point back. */
function valueImports(files: readonly SourceFile[]): Graph {
  return new Map(files.map((file) => [file.path, valueTargets(file)]));
}

function allImports(files: readonly SourceFile[]): Graph {
  const targets = (file: SourceFile) =>
    file.imports.flatMap((specifier) => localTarget(file, specifier) ?? []);
  return new Map(files.map((file) => [file.path, targets(file)]));
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
