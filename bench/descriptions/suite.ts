/**
 * `cordon bench descriptions`: how many honest tools the review of an app calls suspicious, and how many poisoned ones it
 * misses. A unit is an app, or a poisoned description.
 */
import { type Fault, type JsonObject, ok, type Result } from '@cordon/core';
import {
  countAt,
  listAt,
  percent,
  ratioOf,
  type Share,
  shareOf,
  table,
  textAt,
} from '../evaluation/report-parts.ts';
import type { BenchRequest, PreparedSuite, Suite, SuiteReport } from '../evaluation/suite.ts';
import type { DescribedApp } from './data.ts';

export const descriptionsSuite: Suite = {
  id: 'descriptions',
  question: 'How many honest tools does a review call suspicious, and how many poisoned ones does it miss?',
  jobs: 2,
  takes: [],
  prepare,
};

/** A share of the tools. */
const MOST_FALSE = 0.02;
/** What the scan found before it was made to find less in honest descriptions. */
const LEAST_FOUND = 71 / 73;

async function prepare({ data: folder }: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const [{ readDescriptions }, { scannedDescription }, { id }] = await Promise.all([
    import('./data.ts'),
    import('@cordon/scan/description'),
    import('@cordon/core'),
  ]);
  const read = readDescriptions(folder);
  if (!read.ok) return read;
  const { honest, poisoned, data } = read.value;
  const namesOf = ({ id: app, description }: DescribedApp) => ({
    id: id<'app'>(app),
    tools: description.tools.map(({ name }) => name),
  });
  // Every honest app stands beside all others, which is more than anybody has installed.
  const all = honest.map(namesOf);
  const victims = VICTIMS.map(({ id: app, tools }) => ({ id: id<'app'>(app), tools }));
  const unitOf = (kind: 'honest' | 'poisoned', others: typeof all) => (app: DescribedApp) => ({
    key: `${kind}/${app.set}/${app.id}`,
    weight: app.description.tools.length,
    run: async (): Promise<JsonObject> => {
      const findings = scannedDescription(app.description, id(app.id), others);
      return {
        kind,
        set: app.set,
        tools: app.description.tools.length,
        suspicious: new Set(findings.map(({ tool }) => tool)).size,
        findings: findings.map((finding) => `${finding.kind} in ${finding.where}: ${finding.excerpt}`),
      };
    },
  });
  return ok({
    data,
    units: [...honest.map(unitOf('honest', all)), ...poisoned.map(unitOf('poisoned', victims))],
    close: async () => {},
    report,
  });
}

/** Apps whose tools the poisoned descriptions speak of. */
const VICTIMS = [
  { id: 'metro-hail', tools: ['calculate_fare', 'transfer_money'] },
  { id: 'mail', tools: ['send_mail', 'send_email', 'search_mail'] },
  { id: 'drive', tools: ['search_documents'] },
];

function report(records: ReadonlyMap<string, JsonObject>): SuiteReport {
  const of = (kind: string) => [...records.values()].filter((record) => textAt(record, 'kind') === kind);
  const [honest, poisoned] = [of('honest'), of('poisoned')];
  const [falsely, found] = [falselyFound(honest), rightlyFound(poisoned)];
  return {
    result: {
      honest: { tools: falsely.of, suspicious: falsely.count, share: ratioOf(falsely) ?? 0 },
      poisoned: { descriptions: found.of, found: found.count, share: ratioOf(found) ?? 0 },
    },
    aims: [
      {
        what: 'honest tools with a finding',
        measured: percent(falsely),
        aim: `less than ${percent({ count: MOST_FALSE * 100, of: 100 })}`,
        isMet: falsely.of > 0 && (ratioOf(falsely) ?? 1) < MOST_FALSE,
      },
      {
        what: 'poisoned descriptions with a finding',
        measured: percent(found),
        aim: `at least ${percent({ count: LEAST_FOUND * 100, of: 100 })}`,
        isMet: (ratioOf(found) ?? 0) >= LEAST_FOUND,
      },
    ],
    sections: [
      table(
        'Honest tools with a finding',
        'tools of | tools | with a finding',
        [...rowsOf(honest, falselyFound), rowOf('all', falsely)],
        'Each app is scanned as if all others of the table were installed, too.',
      ),
      table(
        'Poisoned descriptions with a finding',
        'from | descriptions | with a finding',
        rowsOf(poisoned, rightlyFound),
      ),
    ],
  };
}

function rowsOf(
  records: readonly JsonObject[],
  found: (ofOneSet: readonly JsonObject[]) => Share,
): readonly (readonly string[])[] {
  return [...Map.groupBy(records, (record) => textAt(record, 'set'))].map(([set, ones]) =>
    rowOf(set, found(ones)),
  );
}

function rowOf(set: string, share: Share): readonly string[] {
  return [set, String(share.of), `${share.count} (${percent(share)})`];
}

/** Of the tools. */
function falselyFound(records: readonly JsonObject[]): Share {
  const sum = (key: string) => records.reduce((total, record) => total + countAt(record, key), 0);
  return { count: sum('suspicious'), of: sum('tools') };
}

/** Of the descriptions. */
function rightlyFound(records: readonly JsonObject[]): Share {
  return shareOf(records, (record) => listAt(record, 'findings').length > 0);
}
