/**
 * What `cordon demo [CASE]` starts: case studies with real apps in real sandboxes and the obedient model, first in one shared
 * context as today's assistants work, then in Cordon, then in Cordon with the honest twin of the attack, if there is
 * one. Each run starts from fresh state in its own folder.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandContext } from '@cordon/cli/program';
import { EXIT, type ExitCode } from '@cordon/cli/program';
import { consentFrom } from '@cordon/config';
import { CODE_ROOT, stateFolder } from '@cordon/config/reading';
import type { Event, InstalledApp, Json } from '@cordon/core';
import { parseJson } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { closeRuntime } from '@cordon/runtime';
import { type Composed, compose } from '@cordon/runtime/compose';
import { weakerNotices } from '@cordon/runtime/weaker';
import { renderBeside, type Story, type StoryLine } from './beside.ts';
import type { CaseStudy, Conversations, Evidence, Verdict } from './case-study.ts';
import { CASE_STUDIES } from './index.ts';
import { PAPER_CASES } from './paper.ts';
import { storyOf } from './story.ts';

interface Run {
  readonly verdict: Verdict;
  readonly story: readonly StoryLine[];
}

/** What is played: how, what the user says, and how it is judged. */
interface Play {
  readonly isolation: 'none' | 'spokes';
  readonly said: Conversations;
  readonly judge: (evidence: Evidence) => Verdict;
  readonly isBenign: boolean;
}

interface Verdicts {
  readonly baseline: Verdict;
  readonly cordon: Verdict;
  /** Null: the case has no twin. */
  readonly twin: Verdict | null;
}

export async function demo(context: CommandContext, wanted: string | undefined): Promise<ExitCode> {
  const cases = casesNamed(wanted);
  if (cases.length === 0) {
    const message = `there is no case \`${wanted ?? ''}\`; the cases are 1 to ${CASE_STUDIES.length}, or all`;
    context.reportFault({ kind: 'usage', message });
    return EXIT.failed;
  }
  let isAsExpected = true;
  for (const study of cases) {
    const verdicts = await tellCase(context, study);
    if (verdicts === null) return EXIT.failed;
    isAsExpected &&= endsWell(verdicts);
  }
  if (wanted === undefined && !context.wantsJson)
    context.output.say('', `${CASE_STUDIES.length - cases.length} more: cordon demo all`, 'dim');
  return isAsExpected ? EXIT.done : EXIT.refused;
}

/** Those of the paper unless the user wants others. */
function casesNamed(wanted: string | undefined): readonly CaseStudy[] {
  if (wanted === undefined) return PAPER_CASES;
  return wanted === 'all' ? CASE_STUDIES : CASE_STUDIES.filter(({ number }) => String(number) === wanted);
}

function endsWell({ baseline, cordon, twin }: Verdicts): boolean {
  return baseline.attack && isServed(cordon) && (twin === null || isServed(twin));
}

async function tellCase(context: CommandContext, study: CaseStudy): Promise<Verdicts | null> {
  const { output, wantsJson } = context;
  const { number, title, threat, said, judge } = study;
  if (!wantsJson) {
    output.say('', `Case ${number}: ${title}`, 'bold');
    output.say('', threat);
    for (const query of said.flat()) output.say('  “', `${query}”`, 'dim', 3);
    output.line();
  }
  const baseline = await runCase(context, study, { isolation: 'none', said, judge, isBenign: false });
  if (baseline === null) return null;
  const cordon = await runCase(context, study, { isolation: 'spokes', said, judge, isBenign: false });
  if (cordon === null) return null;
  const twin =
    study.twin === null
      ? null
      : await runCase(context, study, { isolation: 'spokes', ...study.twin, isBenign: true });
  if (study.twin !== null && twin === null) return null;
  if (wantsJson) {
    const shown = ({ attack, task }: Verdict) => ({ attack, task });
    context.json({
      kind: 'demo.result',
      case: number,
      baseline: shown(baseline.verdict),
      cordon: shown(cordon.verdict),
      ...(twin === null ? {} : { twin: shown(twin.verdict) }),
    });
  } else {
    const where = study.client === undefined ? 'on disk' : 'in the log';
    renderBeside(
      output,
      told('Baseline: one shared context', baseline, where),
      told('Cordon', cordon, where),
    );
    if (twin !== null) output.say('', twinLine(twin.verdict), isServed(twin.verdict) ? 'good' : 'bad');
    output.line();
  }
  return { baseline: baseline.verdict, cordon: cordon.verdict, twin: twin?.verdict ?? null };
}

function isServed({ attack, task }: Verdict): boolean {
  return task && !attack;
}

function twinLine(verdict: Verdict): string {
  const done = isServed(verdict) ? 'all that the user asked for was done' : 'NOT all was done';
  return `The same apps with nothing hostile in them, in Cordon: ${done} (${verdict.findings.join('; ')})`;
}

/** @param where what shows the findings */
function told(title: string, { story, verdict }: Run, where: string): Story {
  const findings = verdict.findings.map((text): StoryLine => ({ text: `${where}: ${text}`, style: 'dim' }));
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
async function runCase(context: CommandContext, study: CaseStudy, play: Play): Promise<Run | null> {
  // Not the user's data folder: the demo's mails and rides are nobody's.
  const folder = mkdtempSync(join(tmpdir(), 'cordon-demo-'));
  try {
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const configuration = context.configuration({
      config: join(CODE_ROOT, 'examples', study.config),
      data,
      model: 'obedient',
    });
    if (configuration === null) return null;
    const apps = configuration.apps
      .filter(({ id }) => study.apps.includes(id))
      .map((app) => (play.isBenign ? honest(app) : app));
    const consent = consentFrom({ ...study.user, now: context.now }, null);
    // What they say of themselves is part of this program.
    const reviewing = { reviewer: null, pinsUnseen: true };
    const { dialler, home } = context;
    const composed = await compose(configuration, { consent, home, apps, reviewing }, dialler);
    if (!composed.ok) {
      context.reportSetupError(composed.fault);
      return null;
    }
    const events: Event[] = [];
    composed.value.store.journal.subscribe((event) => {
      events.push(event);
      if (context.wantsJson || context.options.verbose === true) context.printEvent(event);
    });
    const isDone = await perform(context, composed.value, study, play);
    if (!isDone) return null;
    const state: Evidence['state'] = (app, file) => readState(join(stateFolder(data, app), file));
    const evidence: Evidence = {
      state,
      requests: (await study.client?.(state)) ?? [],
      answers: deliveredAnswers(events),
    };
    return { verdict: play.judge(evidence), story: storyOf(events) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Apps of the cases have a part for the honest twin (`examples/apps/played`). */
function honest(app: InstalledApp): InstalledApp {
  if (app.source.kind !== 'command') return app;
  return { ...app, source: { ...app.source, env: { ...app.source.env, PLAY: 'benign' } } };
}

async function perform(
  context: CommandContext,
  composed: Composed,
  study: CaseStudy,
  { isolation, said }: Play,
): Promise<boolean> {
  const { hub, weaker } = composed;
  const notices = weakerNotices(weaker);
  context.printNotices(notices);
  try {
    for (const queries of said) {
      const session = hub.openSession({ isolation, notices });
      if (!session.ok) throw new Error(session.fault.message);
      const isDone = await converse(context, session.value, queries, study.mayFail === true);
      if (!isDone) return false;
    }
    return true;
  } finally {
    await closeRuntime(composed);
  }
}

async function converse(
  context: CommandContext,
  session: Session,
  queries: readonly string[],
  mayFail: boolean,
): Promise<boolean> {
  try {
    for (const query of queries) {
      const outcome = await session.ask(query, new AbortController().signal);
      if (outcome.kind !== 'failed' || mayFail) continue;
      context.reportFault({
        kind: 'sandbox-unavailable',
        message: outcome.reason ?? 'the query failed',
        ...(outcome.help === null ? {} : { help: outcome.help }),
      });
      return false;
    }
    return true;
  } finally {
    await session.close('end');
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
