import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const SOURCES = new URL('../src/', import.meta.url);

test('nothing is loaded at start but this package and two modules of Node', () => {
  const imported = readdirSync(SOURCES).flatMap((name) => {
    const found = readFileSync(new URL(name, SOURCES), 'utf8').matchAll(/(?:from|import)\s*\(?'([^']+)'/g);
    return [...found]
      .map(([, specifier]) => specifier ?? '')
      .filter((specifier) => !specifier.startsWith('./'));
  });
  assert.deepEqual([...new Set(imported)].toSorted(), ['node:fs', 'node:path']);
  const described: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(Object(described).dependencies, {});
});

test('the environment, the disk and the standard streams are touched in two files only', () => {
  const touching = readdirSync(SOURCES).filter((name) =>
    /\bprocess\b|'node:fs'/.test(readFileSync(new URL(name, SOURCES), 'utf8').replace(/\/\*.*?\*\//gs, '')),
  );
  assert.deepEqual(touching.toSorted(), ['serve.ts', 'state.ts']);
});
