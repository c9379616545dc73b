/**
 * The results that are part of the repository, `bench/results/<suite>.json`, and the pages of the documentation that quote
 * them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { CODE_ROOT } from '../../places.ts';
import { readResults, resultFile, type SuiteResult } from '../result.ts';
import type { SuiteId } from '../suite.ts';
import { documented } from './documentation.ts';

export const RESULTS = join(CODE_ROOT, 'bench', 'results');
/** Pages with marks; a page that is not here is not looked at. */
export const PAGES: readonly string[] = [
  'README.md',
  'docs/benchmarks.md',
  'docs/claims.md',
  'docs/policy/packs.md',
];

/** All that pages may speak of. */
const SUITES: Readonly<Record<SuiteId, true>> = {
  protection: true,
  functionality: true,
  plans: true,
  overhead: true,
  machine: true,
  detectors: true,
  descriptions: true,
  peers: true,
};

/** Why a result must not stand in the repository; null: it may. */
export function objection({ suite, run }: SuiteResult): string | null {
  if (run.only !== undefined) return `${suite}: only units with \`${run.only}\` in their key were run`;
  if (run.every !== undefined) return `${suite}: only about one in ${run.every} units were run`;
  if (run.isSample) return `${suite}: it is of a sample`;
  if (run.model !== undefined) return `${suite}: \`${run.model}\` played in it, which nobody can run again`;
  if (run.isOnOtherData) return `${suite}: it is of data that are not the repository’s`;
  if (run.isMixed) return `${suite}: some of its records were made by another version of the code`;
  if (run.measured < run.units) return `${suite}: ${run.measured} of ${run.units} units were measured`;
  return null;
}

/**
 * A result of one part, with what was measured of the other part before: that keeps its figures, and a notice says when and of which code it
 * is. Where this part was measured alone before, the notice of then is still true.
 */
export function withPart(before: SuiteResult, { run, ...fresh }: SuiteResult, part: string): SuiteResult {
  const isOther = (one: { readonly part?: string }): boolean => one.part !== part;
  const { part: _, ...whole } = run;
  const measured = `This run measured \`${part}\` alone;`;
  const earlier = before.run.notices.filter((notice) => notice.startsWith(measured));
  const rest = `${measured} the rest is of ${before.run.ended.slice(0, 10)}, code ${before.run.code}.`;
  return {
    ...fresh,
    figures: { ...before.figures, [part]: fresh.figures[part] ?? null },
    aims: [...fresh.aims, ...before.aims.filter(isOther)],
    sections: [...fresh.sections, ...before.sections.filter(isOther)],
    run: {
      ...whole,
      data: [
        ...run.data,
        ...before.run.data.filter(({ name }) => !run.data.some((one) => one.name === name)),
      ],
      notices: earlier.length > 0 ? earlier : [rest],
    },
  };
}

/**
 * Takes over what may be, of a result of one part only that part; returns what was not, with the reason.
 *
 * @param code the version that is measured: the folder of a run may hold older results
 */
export function commit(results: readonly SuiteResult[], code: string): readonly string[] {
  mkdirSync(RESULTS, { recursive: true });
  return results.flatMap((result) => {
    const isOld = result.run.code !== code;
    const reason = isOld ? `${result.suite}: it is of another version of the code` : objection(result);
    if (reason !== null) return [reason];
    const file = join(RESULTS, `${result.suite}.json`);
    const { part } = result.run;
    const [before] = part === undefined ? [] : committedAt(file);
    if (part !== undefined && before === undefined) return [`${result.suite}: only \`${part}\` was measured`];
    const whole = part === undefined || before === undefined ? result : withPart(before, result, part);
    writeFileSync(file, `${JSON.stringify(resultFile(whole), null, 1)}\n`);
    return [];
  });
}

function committedAt(file: string): readonly SuiteResult[] {
  const read = readResults(file);
  return read.ok ? read.value : [];
}

/** Each page as it is, and as the results of the repository would have it. */
export function pagesNow(): Result<
  readonly { readonly page: string; readonly text: string; readonly made: string }[],
  Fault
> {
  const results = existsSync(RESULTS) ? readResults(RESULTS) : ok([]);
  if (!results.ok) return results;
  const pages = [];
  for (const page of PAGES) {
    const text = readFileSync(join(CODE_ROOT, page), 'utf8');
    const made = documented(text, results.value, Object.keys(SUITES));
    if (!made.ok) return failed(fault('usage', `${page}: ${made.fault.join('; ')}`));
    pages.push({ page, text, made: made.value });
  }
  return ok(pages);
}

/** Returns the pages that changed. */
export function writePages(): Result<readonly string[], Fault> {
  const pages = pagesNow();
  if (!pages.ok) return pages;
  const changed = pages.value.filter(({ text, made }) => text !== made);
  for (const { page, made } of changed) writeFileSync(join(CODE_ROOT, page), made);
  return ok(changed.map(({ page }) => page));
}
