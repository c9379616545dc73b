/** Puts a session's parts together: hands each what it needs and nothing else. */
import {
  type AppId,
  canonicalJsonOf,
  type Event,
  type EventBody,
  type FactsMode,
  failed,
  fault,
  HUB_LABEL,
  type Model,
  ok,
  type TurnLimits,
} from '@cordon/core';
import type { ReferenceMonitor } from '@cordon/monitor';
import { AppHost } from './apps/app-host.ts';
import { NO_PINS } from './apps/app-pins.ts';
import { Registry } from './apps/registry.ts';
import { validatorOnDemand } from './apps/schema-validator.ts';
import { AppChoices } from './consent/app-choice.ts';
import { Permissions } from './consent/permission.ts';
import { Query } from './context/query.ts';
import { UserTexts } from './context/session-texts.ts';
import { AppNetworks } from './egress/app-networks.ts';
import { RemoteApps } from './egress/remote-apps.ts';
import { Exchange } from './exchange/exchange.ts';
import { Offers } from './exchange/offers.ts';
import { Probes } from './exchange/probes.ts';
import { Reader } from './exchange/reader.ts';
import type { Recorder } from './journal/recorder.ts';
import { returnedBefore } from './journal/returned-before.ts';
import { DetectorQueries } from './mediation/detector-queries.ts';
import { Gate } from './mediation/gate.ts';
import { ModelCalls, type Spending } from './mediation/model-calls.ts';
import { ToolCalls } from './mediation/tool-calls.ts';
import { Learning, leftToLearn } from './memory/learning.ts';
import { recordObserved } from './memory/observed-facts.ts';
import { Summaries } from './memory/summaries.ts';
import { Delegation } from './planning/delegation.ts';
import type { FollowUpSubject } from './planning/follow-up-subject.ts';
import { Installing } from './planning/installing.ts';
import { Planning } from './planning/planning.ts';
import { ToolPlanning } from './planning/tool-planning.ts';
import { DataRequests } from './query/data-requests.ts';
import { Operator } from './query/operator.ts';
import { Preparation } from './query/preparation.ts';
import { Releases } from './query/releases.ts';
import { speculate } from './query/speculative-turn.ts';
import { taskServer } from './query/task-turns.ts';
import { Turns } from './query/turns.ts';
import { Undoing } from './query/undoing.ts';
import { SessionContexts } from './session-contexts.ts';
import type { ModelChoice, SessionParts } from './session-parts.ts';
import { SpokePool } from './spokes/spoke-pool.ts';

/** What the session itself keeps, and its parts look at. */
export interface SessionState {
  readonly monitor: ReferenceMonitor;
  readonly recorder: Recorder;
  readonly subject: FollowUpSubject;
  /** The query that runs; null: none does. */
  readonly query: () => Query | null;
  readonly modelChoice: () => ModelChoice;
}

const NEVER = new AbortController().signal;

/** The parts that a session calls. */
export interface AssembledSession {
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly networks: AppNetworks;
  readonly remote: RemoteApps;
  readonly spokes: SpokePool;
  readonly gate: Gate;
  readonly choices: AppChoices;
  readonly installing: Installing;
  readonly probes: Probes;
  readonly words: UserTexts;
  readonly operator: Operator;
  /** Null: nobody answers questions of rules. */
  readonly detectorQueries: DetectorQueries | null;
}

/** For one summary: the next query waits for it no longer than this. */
const FOR_SUMMARY = { tokens: 60_000, seconds: 15 };
/** For the facts of one message; a session that ends waits for them too. */
const FOR_FACTS = { tokens: 10_000, seconds: 10 };

const NO_QUERY: Spending = {
  signal: AbortSignal.abort(),
  reserve: () => failed(fault('cancelled', 'no query is running')),
};

/** @param past what the journal holds of a resumed session; nothing keeps it, because a long journal is large */
export function assembleSession(
  parts: Omit<SessionParts, 'past'>,
  past: readonly Event[],
  state: SessionState,
): AssembledSession {
  const { monitor, recorder, query, modelChoice } = state;
  const { isolation, memory, digest, pause } = parts;
  const asksPermission = isolation === 'spokes';
  const signal = () => query()?.signal ?? AbortSignal.abort();
  const recordApp = (app: AppId, body: EventBody) =>
    void parts.journal.append([{ context: null, app, causes: [], label: HUB_LABEL, body }]);
  // Names of contexts and calls are never used twice in a session, and each has at least one event.
  let calls = past.length;
  const newCallId = () => `call-${++calls}`;
  const registry = new Registry(parts.apps);
  const validator = validatorOnDemand();
  const modelId = () => modelChoice().modelId;
  const contexts = new SessionContexts({ recorder, registry, modelId, made: past.length });
  const newContext = contexts.create.bind(contexts);
  const words = new UserTexts(
    past.flatMap((event) => (event.kind === 'user.message' && event.private !== true ? [event.text] : [])),
    () => memory.facts().map(({ value }) => value),
  );

  const consent = {
    session: parts.id,
    consent: parts.consent,
    grants: parts.grants,
    prompts: parts.prompts,
    recorder,
    digest,
    signal,
    identityOf: (app: AppId) => parts.pins.digest(app),
    weaker: parts.weaker ?? [],
    pause,
  };
  const choices = new AppChoices(consent);
  const gate: Gate = new Gate({
    monitor,
    permissions: new Permissions(consent),
    recorder,
    now: parts.clock,
    ruleQuestions: () => detectorQueries,
  });
  const models = new ModelCalls({ model: resumedModel(parts, recorder), gate, recorder, digest });
  const detectorQueries: DetectorQueries | null =
    parts.answering === null && parts.texts === null
      ? null
      : new DetectorQueries({
          answering: parts.answering,
          texts: parts.texts,
          gate,
          models,
          recorder,
          newContext: (model, about) => newContext({ kind: 'inquiry', app: null, model }, about),
          // Questions count for the query that runs; when none does, nobody is asked.
          query: () => query() ?? NO_QUERY,
          pause,
        });

  const networks = new AppNetworks({
    gate,
    recorder,
    dialler: parts.dialler,
    readSecret: parts.readSecret,
    newContext: (app) => contexts.ofProcess(app),
    query,
    isUsed: (app) => apps.isUsed(app),
    callOf: (app) => apps.callOf(app),
    holdsOwnOnly: (app) => toolCalls.holdsOwnOnly(app),
    asksPermission,
  });
  const remote: RemoteApps = new RemoteApps({
    gate,
    dialler: parts.dialler,
    logins: parts.logins,
    newContext: (app) => contexts.ofProcess(app),
    reach: (app, onChallenge) => apps.reach(app, onChallenge),
    random: parts.random,
    now: parts.clock,
    pause: (milliseconds) => parts.pause(milliseconds, NEVER),
  });
  const apps: AppHost = new AppHost({
    launcher: parts.launcher,
    connect: (app, onChallenge) => remote.connect(app, onChallenge),
    networkOf: (app) => networks.of(app),
    spend: (allowance) => monitor.spend(allowance),
    finished: ({ callId }) => recorder.cursor?.output(callId) ?? null,
    validator,
    now: parts.clock,
    warm: parts.warm,
    pins: isolation === 'none' ? NO_PINS : parts.pins,
    record: (app, body) => {
      recordApp(app, body);
      if (body.kind === 'app.pinned') choices.agreedTo(app);
    },
  });
  const installing = new Installing({
    installables: parts.installables,
    registry,
    apps,
    choices,
    gate,
    newErrand: (app) => contexts.ofProcess(app),
    record: recordApp,
  });
  const spokes = new SpokePool(parts.spokes, parts.limits, parts.warm);

  const toolCalls: ToolCalls = new ToolCalls({
    gate,
    recorder,
    apps,
    registry,
    validator,
    newCallId,
    words,
    lookAt: parts.lookAt,
    returnedBefore: returnedBefore(past),
    observed: (...seen) => {
      if (asksPermission) recordObserved(recorder, ...seen);
    },
    follow: (...followed) => delegation.follow(...followed),
    asksPermission,
  });
  const delegation = new Delegation({
    planner: parts.planner,
    pins: parts.pins,
    gate,
    models,
    recorder,
    newContext,
  });
  const offers = new Offers({ recorder, random: parts.random });
  const probes = new Probes(
    {
      recorder,
      registry,
      offers,
      installable: (functionality) => parts.installables.named(functionality),
      choose: (context, functionality, candidates) => {
        const question = `Several apps offer \`${functionality}\`. Which one?`;
        return choices.choose(context, { question, what: functionality, choices: candidates }, signal());
      },
    },
    past,
  );
  const planning = new Planning({
    planner: parts.planner,
    registry,
    apps,
    models,
    memory,
    newContext,
    recorder,
    choices,
    installing,
    tools: new ToolPlanning({
      planner: parts.planner,
      registry,
      apps,
      pins: parts.pins,
      models,
      newContext,
      recorder,
    }),
    speculates: parts.speculates,
  });
  const dataRequests = new DataRequests({ gate, recorder, registry, memory, words });
  const preparation = new Preparation({ registry, apps, offers, newContext });
  const releases = new Releases({ gate, registry, memory, isolation });
  const { functionalities } = parts;
  const turns = new Turns({
    spokes,
    gate,
    recorder,
    models,
    calls: toolCalls,
    probes,
    dataRequests,
    maxSteps: parts.limits.steps,
    functionalities,
  });
  const exchange = new Exchange({
    gate,
    recorder,
    registry,
    apps,
    calls: toolCalls,
    validator,
    newCallId,
    maxDepth: parts.limits.exchangeDepth,
    offers,
    reader: new Reader({
      gate,
      recorder,
      models,
      validator,
      newCallId,
      newContext: (origin) => newContext({ kind: 'reader', app: null, modelOf: origin }),
    }),
    errand: contexts.errand.bind(contexts),
    serve: taskServer({ recorder, preparation, releases, turns }),
  });
  const speculation = { preparation, models, recorder, memory, planning, functionalities };
  const operator = new Operator({
    isolation,
    modelId,
    registry,
    spokes,
    gate,
    recorder,
    memory,
    planning,
    installing,
    preparation,
    releases,
    steps: { registry, recorder, offers, exchange, releases, newContext },
    turns,
    undoing: new Undoing({
      registry,
      apps,
      calls: toolCalls,
      recorder,
      newContext,
      recorded: parts.recorded,
      now: parts.clock,
    }),
    probes,
    exchange,
    dataRequests,
    speculate: (query, said) => (parts.speculates ? speculate(speculation, query, said) : null),
    summaries: new Summaries({
      mode: () => (isolation === 'none' ? 'off' : modelChoice().summaries),
      memory,
      models,
      recorder,
      newContext,
      newErrand: (ending) => errandOfHub(parts, ending, FOR_SUMMARY),
      characters: parts.memoryLimits.summaryCharacters,
      digest,
    }),
    learning: new Learning({
      factsMode: () => factsModeOf(isolation, modelChoice()),
      patterns: parts.planner.stated,
      memory,
      models,
      recorder,
      newContext,
      newErrand: (ending) => errandOfHub(parts, ending, FOR_FACTS),
      left: leftToLearn(past),
    }),
    subject: () => state.subject.current,
  });
  return {
    registry,
    apps,
    networks,
    remote,
    spokes,
    gate,
    choices,
    installing,
    probes,
    words,
    operator,
    detectorQueries,
  };
}

/** The baseline makes no model call that one shared context would not make. */
function factsModeOf(isolation: SessionParts['isolation'], { facts }: ModelChoice): FactsMode {
  return isolation === 'none' && facts !== 'off' ? 'patterns' : facts;
}

/** What the model said before the query was interrupted is not asked for again. */
function resumedModel({ model, digest }: Pick<SessionParts, 'model' | 'digest'>, recorder: Recorder): Model {
  return {
    complete: (request, options) => {
      const answer = recorder.cursor?.answer(digest(canonicalJsonOf(request))) ?? null;
      return answer === null ? model.complete(request, options) : Promise.resolve(ok(answer));
    },
  };
}

/** A small separate budget for what the hub itself asks a model. */
function errandOfHub(
  { limits, prices, clock }: Pick<SessionParts, 'limits' | 'prices' | 'clock'>,
  signal: AbortSignal,
  most: Pick<TurnLimits, 'tokens' | 'seconds'>,
): Query {
  return new Query({ text: '', signal, limits: { ...limits, ...most }, prices, now: clock, isPrivate: true });
}
