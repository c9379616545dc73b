/** The direction of dependencies between packages, rooms and files, against the imports that are really there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { localTarget, ROOT, type SourceFile } from './imports.ts';
import {
  blockBelow,
  crowded,
  cycleIn,
  differences,
  drawn,
  everySourceFile,
  fileGraph,
  type Graph,
  packageGraph,
  packageNames,
  reaching,
  roomGraph,
  workspaceOf,
} from './topology.ts';

/** What each package may import of third parties. A new line is a decision. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  cli: ['commander'],
  detectors: ['@lezer/python', 'acorn', 'compromise', 'htmlparser2', 'libphonenumber-js', 'tldts', 'unbash'],
  egress: ['tldts'],
  hub: ['@modelcontextprotocol/client', 'ajv'],
  oauth: ['@modelcontextprotocol/client'],
  onboarding: ['smol-toml'],
  llm: [
    '@ai-sdk/anthropic',
    '@ai-sdk/google',
    '@ai-sdk/openai',
    '@ai-sdk/openai-compatible',
    '@ai-sdk/provider',
  ],
};

/** More loose files than this, and nobody knows what a folder is about. */
const MOST_FILES = 15;

/** What no package may import: programs of the repository, and parts of the hub without its session. */
const NOT_FOR_PACKAGES = /^@cordon\/(?:attacks|bench|hub\/parts)(?:\/|$)/;

const FILES = everySourceFile();
const NAMES = packageNames();
const PAGE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

const sourcesOf = (name: string) => FILES.filter(({ path }) => path.startsWith(`packages/${name}/src/`));
const hasRooms = (name: string) => roomGraph(sourcesOf(name), `packages/${name}/src`).size > 1;
const named = (paths: readonly string[]) => [...new Set(paths)].sort();

describe('the workspaces', () => {
  test('all are read', () => {
    const workspaces = new Set(FILES.map(({ path }) => workspaceOf(path)));
    for (const name of [
      ...NAMES.map((name) => `packages/${name}`),
      'attacks',
      'bench',
      'e2e',
      'examples/apps',
    ])
      assert.ok(workspaces.has(name), name);
    for (const name of ['formal', 'tools', 'examples']) assert.ok(workspaces.has(name), name);
    assert.ok(FILES.length > 1_000);
  });

  test('no two files import each other, also not by way of others, type imports included', () => {
    const workspaces = Map.groupBy(FILES, ({ path }) => workspaceOf(path));
    const cyclic = [...workspaces].filter(([, files]) => cycleIn(fileGraph(files)).length > 0);
    assert.deepEqual(named(cyclic.map(([workspace]) => workspace)), []);
  });

  test('none imports sources or tests of another by a path', () => {
    assert.deepEqual(named(reaching(FILES).map(workspaceOf)), []);
  });

  test(`no folder has more than ${MOST_FILES} loose files`, () => {
    assert.deepEqual(named(crowded(FILES, MOST_FILES)), []);
  });
});

describe('the packages', () => {
  test('import each other as docs/architecture.md draws it, without a cycle', () => {
    const real = packageGraph(
      NAMES,
      FILES.filter(({ path }) => path.startsWith('packages/')),
    );
    assert.deepEqual(differences(drawn(blockBelow(PAGE, 'Packages') ?? ''), real), []);
    assert.deepEqual(cycleIn(real), []);
  });

  test('import neither `bench` nor `attacks`, nor single parts of the hub', () => {
    const importing = NAMES.flatMap(sourcesOf).filter(({ imports }) =>
      imports.some((specifier) => NOT_FOR_PACKAGES.test(specifier)),
    );
    assert.deepEqual(named(importing.map(({ path }) => path)), []);
  });

  for (const name of NAMES) {
    test(`${name} imports of third parties only what the table allows`, () => {
      const outside = sourcesOf(name).flatMap((file) =>
        file.imports
          .filter((specifier) => !isAllowed(name, file, specifier))
          .map((specifier) => `${file.path}: ${specifier}`),
      );
      assert.deepEqual(outside, []);
    });
  }
});

describe('the rooms', () => {
  test('of every package that has some are drawn', () => {
    const undrawn = NAMES.filter((name) => hasRooms(name) && drawingOf(name) === null);
    assert.deepEqual(undrawn, []);
  });

  for (const name of NAMES.filter((name) => drawingOf(name) !== null)) {
    test(`of ${name} import each other as docs/architecture.md draws it, without a cycle`, () => {
      const real = roomGraph(sourcesOf(name), `packages/${name}/src`);
      assert.deepEqual(differences(drawn(drawingOf(name) ?? ''), real), []);
      assert.deepEqual(cycleIn(real), []);
    });
  }
});

function drawingOf(name: string): string | null {
  return blockBelow(PAGE, `Rooms of (?:the )?${name}`);
}

/** A path of the package itself, another package of ours, a part of Node (but for core, which reaches for nothing), or a line of the table. */
function isAllowed(name: string, file: SourceFile, specifier: string): boolean {
  if (specifier.startsWith('node:')) return name !== 'core';
  const local = localTarget(file, specifier);
  if (local !== null) return workspaceOf(local) === `packages/${name}`;
  if (specifier.startsWith('@cordon/')) return true;
  return (OTHERS[name] ?? []).some((other) => specifier === other || specifier.startsWith(`${other}/`));
}

describe('what is read off the sources', () => {
  const file = (path: string, ...imports: readonly string[]): SourceFile => ({ path, imports, text: '' });
  const graph = (...arrows: readonly (readonly [string, readonly string[]])[]): Graph => new Map(arrows);
  const FEW = [
    file('packages/hub/src/hub.ts', './query/turn.ts', 'node:fs', '@cordon/core', '@cordon/policy/rules'),
    file('packages/hub/src/query/turn.ts', '../context/context.ts', './steps.ts'),
    file('packages/hub/src/context/context.ts'),
    file('packages/hub/test/hub.test.ts', '../src/hub.ts', '@cordon/llm', '../../../tools/seed.ts'),
    file('packages/core/src/index.ts'),
  ];

  test('a cycle is found, and a graph without one has none', () => {
    assert.deepEqual(cycleIn(graph(['a', ['b']], ['b', ['c']], ['c', ['b']])), ['b', 'c', 'b']);
    assert.deepEqual(cycleIn(graph(['a', ['b', 'c']], ['b', ['c']], ['c', []])), []);
  });

  test('rooms are folders of the sources', () => {
    const rooms = graph(['root', ['query']], ['query', ['context']], ['context', []]);
    assert.deepEqual(roomGraph(FEW.slice(0, 3), 'packages/hub/src'), rooms);
    assert.deepEqual(drawn('root ─► query\nquery ─► context\ncontext ─► nothing\n'), rooms);
  });

  test('packages are told from the names that their sources import', () => {
    assert.deepEqual(packageGraph(['core', 'hub'], FEW), graph(['core', []], ['hub', ['core', 'policy']]));
  });

  test('a drawing is the block below its heading, before the next one', () => {
    const page =
      '# Rooms of the hub\n\nwords\n\n```\na ─► b\n```\n\n## Rooms of core\n\nnone\n\n## Packages\n\n```\nc ─► d\n```\n';
    assert.equal(blockBelow(page, 'Rooms of the hub'), 'a ─► b\n');
    assert.equal(blockBelow(page, 'Packages'), 'c ─► d\n');
    assert.equal(blockBelow(page, 'Rooms of core'), null);
    assert.equal(blockBelow(page, 'Rooms of trace'), null);
  });

  test('a missing arrow and a surplus one are found', () => {
    const real = graph(['a', ['b', 'c']], ['b', []], ['c', []]);
    assert.deepEqual(differences(real, real), []);
    assert.deepEqual(differences(graph(['a', ['b']], ['b', ['c']]), real), [
      'missing: a ─► c',
      'missing: c',
      'surplus: b ─► c',
    ]);
  });

  test('a path into the sources or tests of another workspace is found', () => {
    const reachers = [
      file('bench/a.ts', '../packages/hub/src/hub.ts'),
      file('examples/apps/test/a.ts', '../../../packages/app/test/b.ts'),
      file('packages/hub/test/a.ts', '../../core/src/index.ts'),
    ];
    assert.deepEqual(reaching([...FEW, ...reachers]), [
      'bench/a.ts',
      'examples/apps/test/a.ts',
      'packages/hub/test/a.ts',
    ]);
  });

  test('a crowded folder is found, its sub-folders apart', () => {
    const many = Array.from({ length: 4 }, (_, n) => file(`e2e/${n}.test.ts`));
    assert.deepEqual(crowded([...many, file('e2e/more/a.ts')], 3), ['e2e']);
    assert.deepEqual(crowded(many, 4), []);
  });
});
