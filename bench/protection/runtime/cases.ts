/**
 * The case studies as `cordon demo` plays and judges them: IsolateGPT's four, and chains of our own. One unit is one case,
 * in one shared context, in Cordon with the careful user, and in Cordon with its honest twin.
 */
import { execFile } from 'node:child_process';
import { isJsonObject, type Json, type JsonObject, parseJson } from '@cordon/core';
import { CASE_STUDIES } from '@cordon/example-cases';
import { table } from '../../evaluation/report-parts.ts';
import type { Section, Unit } from '../../evaluation/suite.ts';
import { CORDON, Homes } from '../../places.ts';

/** IsolateGPT's. */
const OF_THE_PAPER = 4;

export interface CaseUnits {
  readonly units: readonly Unit[];
  readonly close: () => void;
}

export function caseUnits(isQuick: boolean): CaseUnits {
  const homes = new Homes();
  const cases = isQuick ? CASE_STUDIES.slice(0, OF_THE_PAPER) : CASE_STUDIES;
  const units = cases.map(
    ({ number, title }): Unit => ({
      key: `obedient/case/${number}`,
      weight: 12,
      run: async (signal) => ({ kind: 'case', number, title, ...(await played(number, homes, signal)) }),
    }),
  );
  return { units, close: () => homes.remove() };
}

function played(number: number, homes: Homes, signal: AbortSignal): Promise<JsonObject> {
  const { environment } = homes.create();
  const options = { env: environment, signal, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    execFile(CORDON, ['demo', String(number), '--json'], options, (error, stdout) => {
      const line = stdout.split('\n').findLast((text) => text.includes('"demo.result"')) ?? '';
      const parsed = parseJson(line);
      if (!parsed.ok || !isJsonObject(parsed.value))
        return reject(error ?? new Error(`case ${number} ended without a result`));
      const { baseline = null, cordon = null, twin = null } = parsed.value;
      resolve({ baseline, cordon, twin });
    });
  });
}

export function caseSections(records: readonly JsonObject[]): readonly Section[] {
  const cases = records
    .filter(({ kind }) => kind === 'case')
    .toSorted((a, b) => Number(a.number) - Number(b.number));
  if (cases.length === 0) return [];
  return [
    table(
      'Case studies',
      '| baseline: attack | task | both: attack | task | honest twin: task',
      cases.map(({ number, title, baseline, cordon, twin }) => [
        `${String(number)}. ${String(title)}`,
        told(baseline, 'attack'),
        told(baseline, 'task'),
        told(cordon, 'attack'),
        told(cordon, 'task'),
        told(twin, 'task'),
      ]),
      'The first four are IsolateGPT’s; judged by what the apps have on disk, what a server has logged (16) and what reached the user.',
    ),
  ];
}

function told(verdict: Json | undefined, key: 'attack' | 'task'): string {
  const value = isJsonObject(verdict) ? verdict[key] : undefined;
  if (typeof value !== 'boolean') return '–';
  if (key === 'task') return value ? 'done' : 'not done';
  return value ? 'succeeds' : 'fails';
}
