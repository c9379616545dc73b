/**
 * What the Markdown files say, held against the sources: rules load, links lead somewhere, commands and options exist,
 * codes are those of the code, the recorded turn is in the protocol, the numbers of the trusted base are about right.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { standardDetectors } from '@cordon/detectors';
import { CODES, loadPolicy } from '@cordon/policy';
import { decodeHubMessage, decodeSpokeMessage } from '@cordon/protocol';
import { ROOT, sourceFiles } from './imports.ts';
import { trustedPackages } from './tcb.ts';
import { packageNames } from './topology.ts';

interface Page {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const PAGES: readonly Page[] = markdownBelow(ROOT).map((file) => ({
  path: relative(ROOT, file),
  text: readFileSync(file, 'utf8'),
}));

const BLOCKS: readonly Block[] = PAGES.flatMap(({ path, text }) =>
  [...text.matchAll(/^```([a-z]*)[^\n]*\n(.*?)^```$/gms)].map(([, language = '', inner = '']) => ({
    page: path,
    language,
    text: inner,
  })),
);

function markdownBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const isOurs = entry.name !== 'node_modules' && !entry.name.startsWith('.');
      return isOurs ? markdownBelow(path) : [];
    }
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

function page(path: string): string {
  return PAGES.find((candidate) => candidate.path === path)?.text ?? '';
}

function withoutBlocks(text: string): string {
  return text.replace(/^```.*?^```$/gms, '');
}

test('there are pages and blocks to look at', () => {
  assert.ok(PAGES.length > 20);
  for (const language of ['gr', 'sh', 'jsonl'])
    assert.ok(
      BLOCKS.some((block) => block.language === language),
      language,
    );
});

test('every rule on a page loads without a complaint', () => {
  const complaints = BLOCKS.filter(({ language }) => language === 'gr').flatMap((block) => {
    const loaded = loadPolicy(block.text, { file: block.page, detectors: standardDetectors() });
    return loaded.ok ? loaded.value.warnings : loaded.fault;
  });
  assert.deepEqual(complaints, []);
});

test('every relative link leads to a file, and to a heading that is there', () => {
  const broken = PAGES.flatMap(({ path, text }) =>
    [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(path, target))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

/** Decisions are records of their time. */
test('every file of a package that a page names as code exists', () => {
  const packages = packageNames();
  const pages = PAGES.filter(({ path }) => !path.startsWith('docs/decisions/'));
  const named = pages.flatMap(({ path, text }) =>
    [...withoutBlocks(text).matchAll(/`([a-z-]+)\/([\w./-]+)`/g)].flatMap(([, name = '', inner = '']) =>
      packages.includes(name) ? [{ path, name, inner }] : [],
    ),
  );
  assert.ok(named.length > 50);
  const absent = named.filter(({ name, inner }) =>
    ['', '.ts'].every((ending) => !existsSync(join(ROOT, 'packages', name, 'src', `${inner}${ending}`))),
  );
  assert.deepEqual(absent, []);
});

function leadsSomewhere(from: string, target: string): boolean {
  const [file = '', heading] = target.split('#');
  const path = file === '' ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, path))) return false;
  return heading === undefined || !path.endsWith('.md') || anchors(page(path)).has(heading);
}

/** As GitHub makes them. */
function anchors(text: string): ReadonlySet<string> {
  const headings = [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

const MAIN = readFileSync(join(ROOT, 'packages/cli/src/main.ts'), 'utf8');
const COMMANDS = new Set(
  [...MAIN.matchAll(/(?:\.command|new Command)\('([a-z]+)/g)].map((match) => match[1]),
);
/** The benchmarks read their own options. */
const BENCH = readFileSync(join(ROOT, 'bench/evaluation/command/main.ts'), 'utf8');
const OPTIONS = new Set(`${MAIN}${BENCH}`.match(/--[a-z][a-z-]+/g));

/** Lines of shell blocks in which `cordon` is called, from its name on. */
function cordonLines(block: Block): readonly string[] {
  return block.text.split('\n').flatMap((line) => /(?:^|\s)cordon (.+)$/.exec(line)?.[1] ?? []);
}

test('every command and option of a shell block exists', () => {
  const unknown = BLOCKS.filter(({ language }) => language === 'sh')
    .flatMap((block) => cordonLines(block).map((line) => ({ page: block.page, line })))
    .filter(({ line }) => {
      const options = line.match(/--[a-z][a-z-]+/g) ?? [];
      return !COMMANDS.has(line.split(' ')[0]) || options.some((option) => !OPTIONS.has(option));
    });
  assert.deepEqual(unknown, []);
});

test('every command that a sentence names exists', () => {
  const unknown = PAGES.flatMap(({ path, text }) =>
    [...withoutBlocks(text).matchAll(/`(?:npx )?cordon ([a-z]+)/g)]
      .filter((match) => !COMMANDS.has(match[1]))
      .map((match) => `${path}: ${match[0]}`),
  );
  assert.deepEqual(unknown, []);
});

test('every code that a page names is a code of the sources', () => {
  const codes = /\b(?:SBX|POL|CFG|SCN|ANS)\d{3}\b/g;
  const sources = packageNames().flatMap((name) => sourceFiles(`packages/${name}/src`));
  const known = new Set(sources.flatMap(({ text }) => text.match(codes) ?? []));
  const unknown = PAGES.flatMap(({ path, text }) =>
    (text.match(codes) ?? []).filter((code) => !known.has(code)).map((code) => `${path}: ${code}`),
  );
  assert.deepEqual(unknown, []);
});

test('the reference lists the diagnostics of the language, each with its words', () => {
  const listed = [...page('docs/policy/reference.md').matchAll(/^\| (POL\d{3}) \| (.+) \|$/gm)];
  assert.deepEqual(Object.fromEntries(listed.map(([, code, words]) => [code, words])), CODES);
});

test('the recorded turn is in the protocol, line by line', () => {
  const lines = BLOCKS.filter(({ language }) => language === 'jsonl').flatMap(({ text }) =>
    text.split('\n').filter((line) => line !== ''),
  );
  assert.deepEqual(
    lines.filter((line) => !isInProtocol(line)),
    [],
  );
  assert.ok(lines.length > 15);
});

function isInProtocol(line: string): boolean {
  const message = line.slice(2);
  if (line.startsWith('> ')) return decodeSpokeMessage(message).ok;
  return line.startsWith('< ') && decodeHubMessage(message).ok;
}

test('every kind of event that docs/cli.md names is one', () => {
  const events = readFileSync(join(ROOT, 'packages/core/src/event/event.ts'), 'utf8');
  const [, table = ''] = /^### Events$(.*?)^All shapes/ms.exec(page('docs/cli.md')) ?? [];
  const kinds = [...table.matchAll(/`([a-z]+\.[a-z]+)`/g)].map((match) => match[1] ?? '');
  assert.ok(kinds.length > 15);
  assert.deepEqual(
    kinds.filter((kind) => !events.includes(`'${kind}'`)),
    [],
  );
});

test('the size of the trusted computing base is what the page says, give or take a tenth', () => {
  const said = new Map(
    [...page('docs/tcb.md').matchAll(/^\| `([a-z-]+)` \| (\d+) \|/gm)].map(([, name, lines]) => [
      name ?? '',
      Number(lines),
    ]),
  );
  const packages = trustedPackages();
  assert.deepEqual([...said.keys()].sort(), packages.map(({ name }) => name).sort());
  const off = packages.filter(({ name, lines }) => Math.abs(lines - (said.get(name) ?? 0)) > lines / 10);
  assert.deepEqual(off, []);
});

test('no package runs a script when it is installed', () => {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  assert.doesNotMatch(lock, /hasInstallScript/);
});
