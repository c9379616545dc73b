/**
 * Whether the attempts see anything: without the layers that an attempt names it must get through, and with any one
 * of them back it must be stopped again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LAYER_NAMES, LAYERS, type LayerName } from '@cordon/sandbox';
import { isLeftOut, sampled } from '../../tools/cases.ts';
import type { Job } from './hub.ts';
import { type Attempt, attemptsHere, type Outcome, runJobs } from './suite.ts';

const isRoot = process.getuid?.() === 0;

interface Case {
  readonly attempt: Attempt;
  readonly without: readonly LayerName[];
  /** The layer that is there again; null: none is. */
  readonly back: LayerName | null;
}

/** As an ordinary user an app is that user, so there is no `separate-user` to leave out. */
function layersHere({ layers }: Attempt): readonly LayerName[] {
  return layers.filter((layer) => isRoot || layer !== 'separate-user');
}

/** Attempts that nothing but these layers stops, so that leaving them out shows. */
const SHOWING = attemptsHere().filter(
  (attempt) =>
    attempt.also === undefined &&
    attempt.known === undefined &&
    attempt.layers.length > 0 &&
    (isRoot || attempt.rootOnly !== true),
);

const CASES: readonly Case[] = SHOWING.flatMap((attempt) => {
  const all = layersHere(attempt);
  const one = { attempt, without: all, back: null };
  if (all.length < 2) return [one];
  return [one, ...all.map((back) => ({ attempt, without: all.filter((layer) => layer !== back), back }))];
});

/** Of each layer the attempt that the fewest others stop, and that no kernel refuses. */
const SAMPLE: ReadonlySet<Attempt | undefined> = new Set(
  LAYER_NAMES.map(
    (layer) =>
      SHOWING.filter(
        (attempt) => layersHere(attempt).includes(layer) && attempt.kernelMayRefuse === undefined,
      ).toSorted((one, other) => one.layers.length - other.layers.length)[0],
  ),
);
/** In the sample one layer is put back for every fourth attempt. */
const isInSample = ({ attempt, back }: Case) =>
  SAMPLE.has(attempt) && (back === null || [...SAMPLE].indexOf(attempt) % 4 === 0);

const outcomes = await run(sampled(CASES, isInSample));

async function run(cases: readonly Case[]): Promise<ReadonlyMap<Case, Outcome>> {
  const byLayers = Map.groupBy(cases, ({ without }) => [...without].sort().join());
  const groups = [...byLayers.values()];
  const jobs: readonly Job[] = groups.map((group) => ({
    in: 'Cordon',
    weaker: group[0]?.without ?? [],
    ids: group.map(({ attempt }) => attempt.id),
    twins: false,
  }));
  const found = new Map<Case, Outcome>();
  await runJobs(jobs, ({ job, id, outcome }) => {
    const one = groups[job]?.find(({ attempt }) => attempt.id === id);
    if (one !== undefined) found.set(one, outcome);
  });
  return found;
}

for (const one of CASES) {
  const { attempt, without, back } = one;
  const outcome = outcomes.get(one) ?? { kind: 'unclear' as const, why: 'nothing was heard of it' };
  const names = without.join(', ');
  if (back === null)
    test(`without ${names} an app ${attempt.title}`, (t) => {
      if (isLeftOut(t, isInSample(one))) return;
      const isSeen = outcome.kind === 'through' || isRefusedByKernel(attempt, outcome);
      assert.equal(isSeen, true, JSON.stringify(outcome));
    });
  else
    test(`without ${names}, ${back} alone stops an app that ${attempt.title}`, (t) => {
      if (isLeftOut(t, isInSample(one))) return;
      assert.equal(outcome.kind, 'stopped', JSON.stringify(outcome));
    });
}

/** Attempts on direct connections are stopped by the rules of the way out, which no layer replaces. */
const ON_RULES = attemptsHere().filter(({ id }) => id.startsWith('direct-'));
const withoutRules = await runWithoutRules(sampled(ON_RULES, (_one, index) => index % 4 === 0));

async function runWithoutRules(attempts: readonly Attempt[]): Promise<ReadonlyMap<string, Outcome>> {
  const found = new Map<string, Outcome>();
  const ids = attempts.map(({ id }) => id);
  await runJobs([{ in: 'Cordon', weaker: [], ids, twins: false, withoutEgress: true }], ({ id, outcome }) =>
    found.set(id, outcome),
  );
  return found;
}

for (const [index, { id, title }] of ON_RULES.entries())
  test(`without rules of the way out an app ${title}`, (t) => {
    if (isLeftOut(t, index % 4 === 0)) return;
    assert.deepEqual(withoutRules.get(id), { kind: 'through' });
  });

/** The kernel's own settings may say no where no layer of ours is left: another no than the layer's. */
function isRefusedByKernel({ kernelMayRefuse = [] }: Attempt, outcome: Outcome): boolean {
  return outcome.kind === 'stopped' && kernelMayRefuse.includes(outcome.by);
}

for (const layer of LAYER_NAMES.filter((name) => LAYERS[name].mayBeLeftOut !== 'never'))
  test(`${layer} is missed by some attempt that then gets through`, () => {
    if (layer === 'separate-user' && !isRoot) return; // there is none to miss
    const seen = CASES.filter(({ without, back }) => back === null && without.includes(layer));
    const through = seen.filter((one) => outcomes.get(one)?.kind === 'through');
    assert.notDeepEqual(
      through.map(({ attempt }) => attempt.id),
      [],
    );
  });
