/**
 * `cordon bench protection`: recorded attacks against the rules, and an obedient model in the real runtime. Each half has
 * its own units, whose keys begin with its name; with data of others only the half that they are for is run.
 */
import { type Fault, failed, fault, type JsonObject, ok, type Result } from '@cordon/core';
import type { BenchRequest, PreparedSuite, Suite, SuiteReport } from '../evaluation/suite.ts';
import { recordedHalf } from './recorded.ts';

interface Half {
  readonly name: 'recorded' | 'obedient';
  readonly what: string;
  /** Whether it has anything to do with the data that are named. */
  readonly isFor: (request: BenchRequest) => boolean;
  readonly prepare: (request: BenchRequest) => Promise<Result<PreparedSuite, Fault>>;
}

/** One for each field of the result. */
const HALVES: readonly Half[] = [
  {
    name: 'recorded',
    what: 'recorded traces',
    isFor: ({ traces, pairs, model }) => model === undefined && (traces !== null || pairs === null),
    prepare: recordedHalf,
  },
  {
    name: 'obedient',
    what: 'the obedient model in the real runtime',
    isFor: ({ traces, pairs }) => pairs !== null || traces === null,
    // Hub and sandbox are loaded when they are used.
    prepare: async (request) => (await import('./runtime/obedient.ts')).obedientHalf(request),
  },
];

export const protectionSuite: Suite = {
  id: 'protection',
  question: 'Does Cordon stop attacks, and leave honest runs alone?',
  jobs: 2,
  takes: ['traces', 'labels', 'pairs', 'plans'],
  playsModels: true,
  parts: HALVES.map(({ name }) => name),
  prepare: async (request) => {
    const prepared: Prepared[] = [];
    const { part, model } = request;
    if (model !== undefined && part === 'recorded')
      return failed(
        fault('usage', '`recorded` plays no model: its traces were recorded', 'leave `--model` out'),
      );
    const asked = HALVES.filter(({ name, isFor }) => (part === undefined || part === name) && isFor(request));
    for (const half of asked) {
      const one = await half.prepare(request);
      if (!one.ok) {
        await closeAll(prepared);
        return one;
      }
      prepared.push({ half, suite: one.value });
    }
    return ok(joined(prepared, whyLeftOut(request)));
  },
};

function whyLeftOut({ part, model }: BenchRequest): string {
  if (part !== undefined) return `only \`${part}\` was asked for`;
  return model === undefined ? 'only other data were named' : 'no model is asked there';
}

interface Prepared {
  readonly half: Half;
  readonly suite: PreparedSuite;
}

/** @param why a half may be left out */
function joined(prepared: readonly Prepared[], why: string): PreparedSuite {
  return {
    data: prepared.flatMap(({ suite }) => suite.data),
    units: prepared.flatMap(({ suite }) => suite.units),
    notices: [
      ...prepared.flatMap(({ suite }) => suite.notices ?? []),
      ...HALVES.filter((half) => !prepared.some((one) => one.half === half)).map(
        ({ what }) => `left out: ${what}, because ${why}`,
      ),
    ],
    close: () => closeAll(prepared),
    report: (records) => {
      const reports = prepared.map(({ half, suite }) => ({
        name: half.name,
        report: suite.report(recordsOf(half, records)),
      }));
      return {
        result: resultOf(reports),
        aims: reports.flatMap(({ name, report }) => report.aims.map((aim) => ({ ...aim, part: name }))),
        sections: reports.flatMap(({ name, report }) =>
          report.sections.map((section) => ({ ...section, part: name })),
        ),
      };
    },
  };
}

async function closeAll(prepared: readonly Prepared[]): Promise<void> {
  await Promise.all(prepared.map(({ suite }) => suite.close()));
}

function recordsOf(
  { name }: Half,
  records: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, JsonObject> {
  return new Map([...records].filter(([key]) => key.startsWith(`${name}/`)));
}

/** A half that was not run is null, and never zero. */
function resultOf(
  reports: readonly { readonly name: Half['name']; readonly report: SuiteReport }[],
): JsonObject {
  const of = (name: Half['name']) => reports.find((one) => one.name === name)?.report.result ?? null;
  return { recorded: of('recorded'), obedient: of('obedient') };
}
