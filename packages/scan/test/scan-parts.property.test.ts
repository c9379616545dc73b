import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ok } from '@cordon/core';
import fc from 'fast-check';
import { isLeftOut } from '../../../tools/cases.ts';
import { findInputs } from '../src/parts/input.ts';
import { LineReader } from '../src/parts/line-reader.ts';
import type { ScanTask } from '../src/parts/part.ts';
import { JsonReport } from '../src/report/json-report.ts';
import { FileOutput } from '../src/report/scan-output.ts';
import { type ScanEnd, scan } from '../src/scan.ts';
import { freshBeginning, ScanMemory } from '../src/scan-memory.ts';
import { type ScannerPool, SoleScanner, WorkerPool } from '../src/worker-pool.ts';

/** The seed is part of fast-check's report of a failure. */
const SEED = 20_261_121;

const POLICY = 'rule shouting:\nraise "somebody shouts" if:\n    (m: Message)\n    m.content == "HELP"\n';
const RULES = ['shouting'];

/** A folder that is gone at the end. */
class Folder {
  readonly root = mkdtempSync(join(tmpdir(), 'cordon-scan-'));

  write(name: string, content: string | Uint8Array): string {
    const file = join(this.root, name);
    writeFileSync(file, content);
    return file;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Pieces of logs: traces, what is none, empty lines, long lines; the last line may have no end. */
const log = fc
  .tuple(
    fc.array(
      fc.constantFrom(
        '[{"role":"user","content":"HELP"}]',
        '[{"role":"user","content":"hello"}]',
        '{"messages":[]}',
        '[{"role":"user","content":"ü€😀"}]',
        '{"broken',
        '',
        '   \r',
        `"${'x'.repeat(90)}"`,
        `[{"role":"user","content":"${'y'.repeat(40)}"}]\r`,
      ),
      { maxLength: 12 },
    ),
    fc.boolean(),
  )
  .map(([lines, isEnded]) => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));

const sizes = fc.integer({ min: 1, max: 120 });

function task(maxLine: number, waitsForRest = false): ScanTask {
  return {
    policies: [{ file: 'p.gr', text: POLICY }],
    dialect: 'cordon',
    parameters: {},
    labels: null,
    maxLine,
    records: { hasClean: true, hasDigest: false, waitsForRest, examples: null },
  };
}

interface Run {
  readonly files: readonly string[];
  readonly partBytes: number;
  readonly maxLine: number;
  readonly pool: ScannerPool;
  readonly output: string;
  /** Where the scan is remembered after every delivery, and after how many it is stopped. */
  readonly memory?: { readonly file: string; readonly stopAfter: number };
}

const PRINT = { policy: 'p', parameters: 'p', output: 'o' };

async function run({ files, partBytes, maxLine, pool, output, memory }: Run): Promise<ScanEnd> {
  const { inputs, problems } = findInputs(files);
  assert.deepEqual(problems, []);
  const kept = memory === undefined ? null : new ScanMemory(memory.file, PRINT);
  const recalled = kept?.recall(inputs) ?? ok(freshBeginning(inputs));
  assert.ok(recalled.ok);
  const beginning = recalled.value;
  const opened = FileOutput.open(output, beginning.outputLength);
  assert.ok(opened.ok);
  const stop = new AbortController();
  let deliveries = 0;
  const end = await scan({
    inputs: beginning.inputs,
    rules: RULES,
    before: beginning.before,
    pool,
    parts: { partBytes, maxLine, standardInput: nothing() },
    report: new JsonReport(),
    output: opened.value,
    progress: null,
    onDelivered: (soFar) => {
      if (stop.signal.aborted) return;
      kept?.save(soFar(), opened.value.length, false);
      if (++deliveries === memory?.stopAfter) stop.abort();
    },
    signal: stop.signal,
    now: () => 0,
  });
  opened.value.close();
  await pool.close();
  return end;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

test('ranges that follow each other give every line once, whatever their sizes', async () => {
  await fc.assert(
    fc.asyncProperty(log, sizes, async (text, size) => {
      using folder = new Folder();
      const path = folder.write('a.jsonl', text);
      const length = statSync(path).size;
      const reader = new LineReader(1000);
      const seen: string[] = [];
      let count = 0;
      for (let start = 0; start < length; start += size) {
        const end = Math.min(length, start + size);
        const part = { kind: 'range', path, start, end, size: length, startsLine: false } as const;
        count += reader.lines(part, (line) => {
          seen.push(line.bytes.toString('utf8', line.start, line.end));
        });
      }
      reader.close();
      const expected = text.split('\n');
      if (expected.at(-1) === '') expected.pop();
      assert.deepEqual(seen, expected);
      assert.equal(count, expected.length);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

test('the output does not depend on the sizes of parts, nor on compression', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(log, { minLength: 1, maxLength: 3 }), sizes, sizes, async (logs, one, two) => {
      using folder = new Folder();
      const files = logs.map((text, at) => folder.write(`${at}.jsonl`, text));
      const packed = logs.map((text, at) => folder.write(`${at}.jsonl.gz`, gzipSync(text)));
      const outputs: string[] = [];
      for (const [at, [inputs, partBytes]] of (
        [
          [files, one],
          [files, two],
          [packed, one],
        ] as const
      ).entries()) {
        const output = join(folder.root, `out-${at}`);
        const pool = new SoleScanner(task(60));
        const end = await run({ files: inputs, partBytes, maxLine: 60, pool, output });
        assert.equal(end.fault, null);
        const { counts, rules } = end.result;
        outputs.push(
          `${readFileSync(output, 'utf8').replaceAll('.gz', '')}${JSON.stringify({ counts, rules })}`,
        );
      }
      assert.equal(outputs[1], outputs[0]);
      assert.equal(outputs[2], outputs[0]);
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test('workers, with the program beside them or without, give what one scanner gives', async () => {
  using folder = new Folder();
  const logs = fc.sample(log, { numRuns: 40, seed: SEED });
  const files = logs.map((text, at) => folder.write(`${String(at).padStart(2, '0')}.jsonl`, text));
  const outputs: string[] = [];
  const pools = [
    new SoleScanner(task(60)),
    new WorkerPool(3, task(60)),
    new WorkerPool(1, task(60), new SoleScanner(task(60))),
    new WorkerPool(0, task(60), new SoleScanner(task(60))),
  ];
  for (const [at, pool] of pools.entries()) {
    const output = join(folder.root, `out-${at}`);
    const end = await run({ files, partBytes: 50, maxLine: 60, pool, output });
    outputs.push(readFileSync(output, 'utf8') + JSON.stringify(end.result.counts));
  }
  assert.ok((outputs[0] ?? '').length > 2000);
  assert.deepEqual(
    outputs.map((output) => output === outputs[0]),
    [true, true, true, true],
  );
});

for (const [who, poolOf] of [
  ['a worker', (bad: ScanTask) => new WorkerPool(1, bad)],
  ['the program beside its workers', (bad: ScanTask) => new WorkerPool(0, bad, new SoleScanner(bad))],
] as const) {
  test(`${who} that cannot scan is a fault: the scan is not complete, and nothing is said of what it had to scan`, async () => {
    using folder = new Folder();
    const files = [folder.write('a.jsonl', '[]\n')];
    const pool = poolOf({ ...task(60), policies: [{ file: 'p.gr', text: 'raise' }] });
    const output = join(folder.root, 'out');
    const { fault, result } = await run({ files, partBytes: 50, maxLine: 60, pool, output });
    assert.match(fault ?? '', /does not load/);
    assert.deepEqual([result.isComplete, result.counts.traces], [false, 0]);
  });
}

test('stopped after any delivery and gone on with, the output file is that of a scan that was never stopped', async (t) => {
  if (isLeftOut(t)) return;
  await fc.assert(
    fc.asyncProperty(
      fc.array(log, { minLength: 1, maxLength: 3 }),
      sizes,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      async (logs, partBytes, stopAfter, isPacked) => {
        using folder = new Folder();
        const files = logs.map((text, at) =>
          isPacked ? folder.write(`${at}.jsonl.gz`, gzipSync(text)) : folder.write(`${at}.jsonl`, text),
        );
        const options = { files, partBytes, maxLine: 60 };
        const whole = join(folder.root, 'whole');
        const { result } = await run({ ...options, pool: new SoleScanner(task(60)), output: whole });
        const output = join(folder.root, 'parts');
        const memory = { file: join(folder.root, 'state'), stopAfter };
        for (let scans = 0; ; scans++) {
          assert.ok(scans < 500, 'it goes on');
          const end = await run({ ...options, pool: new SoleScanner(task(60)), output, memory });
          if (!end.result.isComplete) continue;
          assert.equal(readFileSync(output, 'utf8'), readFileSync(whole, 'utf8'));
          assert.deepEqual(end.result.counts, result.counts);
          assert.deepEqual(end.result.rules, result.rules);
          assert.deepEqual(end.result.broken, result.broken);
          break;
        }
      },
    ),
    { seed: SEED, numRuns: 40 },
  );
});
