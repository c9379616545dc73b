/**
 * `cordon demo [1-4]`: the case studies with real apps in real sandboxes and the obedient model, first in one shared
 * context as today's assistants work, then in Cordon. Each run starts from fresh state in a folder of its own.
 *
 * Ring 1.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event, Json } from '@cordon/core';
import { parseJson } from '@cordon/core';
import { consentFrom } from '../answers.ts';
import { CASE_STUDIES, type CaseStudy, type Evidence, type Verdict } from '../case-studies.ts';
import { type Composed, compose } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { stateFolder } from '../paths.ts';
import { CODE_ROOT } from '../policy-in-force.ts';
import { storyOf } from '../story.ts';
import { renderBeside, type Story, type StoryLine } from '../table.ts';
import { weakerNotices } from '../weaker.ts';
import type { Surroundings } from './surroundings.ts';

/** The careful user of the evaluation: no to whatever carries a warning, yes to the rest. */
const CAREFUL = { rules: null, denyAll: false, denyWarned: true, allowRest: true };

interface Run {
  readonly verdict: Verdict;
  readonly story: readonly StoryLine[];
}

export async function demo(surroundings: Surroundings, wanted: string | undefined): Promise<ExitCode> {
  const cases = CASE_STUDIES.filter(({ number }) => wanted === undefined || String(number) === wanted);
  if (cases.length === 0) {
    const message = `there is no case \`${wanted ?? ''}\`; the cases are 1 to ${CASE_STUDIES.length}`;
    surroundings.tellFault({ kind: 'usage', message });
    return EXIT.failed;
  }
  let isAsExpected = true;
  for (const study of cases) {
    const verdicts = await tellCase(surroundings, study);
    if (verdicts === null) return EXIT.failed;
    const { baseline, cordon } = verdicts;
    isAsExpected &&= baseline.attack && !cordon.attack && cordon.task;
  }
  return isAsExpected ? EXIT.done : EXIT.refused;
}

async function tellCase(
  surroundings: Surroundings,
  study: CaseStudy,
): Promise<{ baseline: Verdict; cordon: Verdict } | null> {
  const { output, wantsJson } = surroundings;
  if (!wantsJson) {
    output.say('', `Case ${study.number}: ${study.title}`, 'bold');
    output.say('', study.threat);
    for (const query of study.queries) output.say('  “', `${query}”`, 'dim', 3);
    output.line();
  }
  const baseline = await runCase(surroundings, study, 'none');
  const cordon = baseline === null ? null : await runCase(surroundings, study, 'spokes');
  if (baseline === null || cordon === null) return null;
  if (wantsJson) {
    const shown = ({ attack, task }: Verdict) => ({ attack, task });
    surroundings.json({
      kind: 'demo.result',
      case: study.number,
      baseline: shown(baseline.verdict),
      cordon: shown(cordon.verdict),
    });
  } else {
    renderBeside(output, told('Baseline: one shared context', baseline), told('Cordon', cordon));
    output.line();
  }
  return { baseline: baseline.verdict, cordon: cordon.verdict };
}

function told(title: string, { story, verdict }: Run): Story {
  const findings = verdict.findings.map((text): StoryLine => ({ text: `on disk: ${text}`, style: 'dim' }));
  return {
    title,
    lines: [
      ...story,
      ...findings,
      {
        text: verdict.attack ? 'the attack SUCCEEDED' : 'the attack failed',
        style: verdict.attack ? 'bad' : 'good',
      },
      {
        text: verdict.task ? 'the task was done' : 'the task was NOT done',
        style: verdict.task ? 'good' : 'bad',
      },
    ],
  };
}

/** Null: something failed that is neither attack nor task, and has been told. */
async function runCase(
  surroundings: Surroundings,
  study: CaseStudy,
  isolation: 'none' | 'spokes',
): Promise<Run | null> {
  // Not the user's data folder: the demo's mails and rides are nobody's.
  const folder = mkdtempSync(join(tmpdir(), 'cordon-demo-'));
  try {
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const configuration = surroundings.configuration({
      config: join(CODE_ROOT, 'examples', 'cordon.json'),
      data,
      model: 'obedient',
    });
    if (configuration === null) return null;
    const apps = configuration.apps.filter(({ id }) => study.apps.includes(id));
    const composed = compose(
      configuration,
      consentFrom({ ...CAREFUL, now: surroundings.now }, null),
      surroundings.home,
      apps,
      {
        reviewer: null,
        // They are part of this program.
        pinsUnseen: true,
      },
    );
    if (!composed.ok) {
      surroundings.tellObstacle(composed.fault);
      return null;
    }
    const events: Event[] = [];
    composed.value.store.journal.subscribe((event) => {
      events.push(event);
      if (surroundings.wantsJson || surroundings.options.verbose === true) surroundings.tell(event);
    });
    const isDone = await play(surroundings, composed.value, study, isolation);
    if (!isDone) return null;
    const evidence: Evidence = {
      state: (app, file) => readState(join(stateFolder(data, app), file)),
      answers: deliveredAnswers(events),
    };
    return { verdict: study.judge(evidence), story: storyOf(events) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(
  surroundings: Surroundings,
  { hub, store, weaker }: Composed,
  study: CaseStudy,
  isolation: 'none' | 'spokes',
): Promise<boolean> {
  const notices = weakerNotices(weaker);
  surroundings.tellNotices(notices);
  const session = hub.openSession({ isolation, notices });
  if (!session.ok) throw new Error(session.fault.message);
  try {
    for (const query of study.queries) {
      const outcome = await session.value.ask(query, new AbortController().signal);
      if (outcome.kind !== 'failed') continue;
      surroundings.tellFault({
        kind: 'sandbox-unavailable',
        message: outcome.reason ?? 'the query failed',
        ...(outcome.help === null ? {} : { help: outcome.help }),
      });
      return false;
    }
    return true;
  } finally {
    await session.value.close('end');
    store.close();
  }
}

/** An answer counts when it was executed, that is, when it reached the user. */
function deliveredAnswers(events: readonly Event[]): readonly string[] {
  const delivered = new Set(
    events.flatMap((event) => (event.kind === 'answer.executed' ? event.causes : [])),
  );
  return events.flatMap((event) =>
    event.kind === 'answer.proposed' && delivered.has(event.id) ? [event.text] : [],
  );
}

function readState(file: string): Json {
  try {
    const parsed = parseJson(readFileSync(file, 'utf8'));
    return parsed.ok ? parsed.value : null;
  } catch {
    return null;
  }
}
