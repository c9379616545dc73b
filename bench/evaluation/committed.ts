/**
 * The results that are part of the repository, `bench/results/<suite>.json`, and the pages of the documentation that quote
 * them.
 *
 * Ring 2.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { documented } from './documentation.ts';
import { readResults, resultFile, type SuiteResult } from './result.ts';
import type { SuiteId } from './suite.ts';

const ROOT = join(import.meta.dirname, '..', '..');
export const RESULTS = join(ROOT, 'bench', 'results');
/** Pages with marks; a page that is not here is not looked at. */
export const PAGES: readonly string[] = ['README.md', 'docs/benchmarks.md', 'docs/policy/packs.md'];

/** All that pages may speak of. */
const SUITES: Readonly<Record<SuiteId, true>> = {
  protection: true,
  functionality: true,
  overhead: true,
  machine: true,
  detectors: true,
  peers: true,
};

/** Why a result must not stand in the repository; null: it may. */
export function objection({ suite, run }: SuiteResult): string | null {
  if (run.isSample) return `${suite}: it is of a sample`;
  if (run.isOnOtherData) return `${suite}: it is of data that are not the repository’s`;
  if (run.isMixed) return `${suite}: some of its records were made by another version of the code`;
  if (run.measured < run.units) return `${suite}: ${run.measured} of ${run.units} units were measured`;
  return null;
}

/**
 * Takes over what may be; returns what was not, with the reason.
 *
 * @param code the version that is measured: the folder of a run may hold older results
 */
export function commit(results: readonly SuiteResult[], code: string): readonly string[] {
  mkdirSync(RESULTS, { recursive: true });
  return results.flatMap((result) => {
    const isOld = result.run.code !== code;
    const reason = isOld ? `${result.suite}: it is of another version of the code` : objection(result);
    if (reason !== null) return [reason];
    const text = `${JSON.stringify(resultFile(result), null, 1)}\n`;
    writeFileSync(join(RESULTS, `${result.suite}.json`), text);
    return [];
  });
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
    const text = readFileSync(join(ROOT, page), 'utf8');
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
  for (const { page, made } of changed) writeFileSync(join(ROOT, page), made);
  return ok(changed.map(({ page }) => relative(ROOT, join(ROOT, page))));
}
