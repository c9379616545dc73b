/**
 * Sandboxes of others beside Cordon's, on the attempts of the escape suite. Only in full, as an ordinary user and where
 * they are installed: what they do not stop really happens, bounded by its own numbers.
 */
import { columnOf, compared, isInstalled, type Sandbox, throughIn } from '@cordon/attacks/sandboxes';
import type { JsonObject } from '@cordon/core';
import { table } from '../evaluation/report-parts.ts';
import type { BenchRequest, Section, Unit } from '../evaluation/suite.ts';

/** Without any sandbox: `npm run attacks:compare`. Nobody who measures expects that of a benchmark. */
const COMPARED = [
  'Cordon',
  'bubblewrap',
  'firejail',
  'sandbox-runtime',
] as const satisfies readonly Sandbox[];

const PREFIX = 'sandbox/';

export interface SandboxUnits {
  readonly units: readonly Unit[];
  readonly notices: readonly string[];
}

export function sandboxUnits({ isQuick }: BenchRequest): SandboxUnits {
  const why = isQuick
    ? 'a sample leaves them out'
    : process.getuid?.() === 0
      ? 'they are compared as an ordinary user only'
      : process.platform === 'linux'
        ? null
        : 'their attempts are for Linux';
  if (why !== null) return { units: [], notices: [`sandboxes of others are not measured: ${why}`] };
  const [present, missing] = [COMPARED.filter(isInstalled), COMPARED.filter((name) => !isInstalled(name))];
  return {
    units: present.map((name) => ({ key: `${PREFIX}${name}`, weight: 60, run: () => sandboxRecord(name) })),
    notices: missing.map((name) => `the sandbox ${name} is not installed`),
  };
}

async function sandboxRecord(name: Sandbox): Promise<JsonObject> {
  const column = await columnOf(name);
  const outcomes = [...column.outcomes.values()];
  const ended = outcomes.filter(({ outcome }) => outcome?.kind === 'through' || outcome?.kind === 'stopped');
  // What did not run there is no attempt that was stopped.
  if (ended.length === 0) throw new Error(`no attempt could be made in ${name}`);
  const twins = outcomes.filter(({ twin }) => twin?.kind === 'through').length;
  const [attempts, ran] = [compared().length, ended.length];
  return { version: column.version, attempts, ran, through: throughIn(column), twins };
}

/** A row for each sandbox; those without a record were not measured. */
export function sandboxTable(records: ReadonlyMap<string, JsonObject>): Section {
  return table(
    'Sandbox peers',
    'sandbox | attempts that get through, of those that run there | allowed twins that work',
    COMPARED.map((name) => {
      const record = records.get(`${PREFIX}${name}`);
      if (record === undefined) return [name, 'not measured', 'not measured'];
      const { version, attempts, ran, through, twins } = record;
      return [
        version === '' ? name : `${name} ${version}`,
        `${through} of ${ran}`,
        `${twins} of ${attempts}`,
      ];
    }),
    'Each attempt of the escape suite is a hostile program with a twin that does what is allowed. The others are general tools that leave to their users what Cordon decides for apps; docs/isolation.md has how each was set up, each attempt by name, and what happens without a sandbox.',
  );
}
