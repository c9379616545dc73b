/**
 * One session of the user: its trace, its monitor, and one query at a time. What it is made of is put together in
 * session-assembly.ts.
 */

import {
  type AppId,
  type Decision,
  type Event,
  type EventId,
  type Fault,
  type GrantedRight,
  HUB_LABEL,
  type InstalledApp,
  type QueryUse,
  type Result,
  type SessionId,
} from '@cordon/core';
import { ReferenceMonitor } from '@cordon/monitor';
import type { Login } from '@cordon/oauth';
import type { SessionJournal } from '@cordon/trace';
import type { AppDescription } from './apps/app-description.ts';
import type { Vetting } from './apps/app-pins.ts';
import { Query } from './context/query.ts';
import type { LoginSteps, LoginWish } from './egress/log-in.ts';
import {
  givenAnswer,
  modelOfQuery,
  type UnfinishedQuery,
  unfinishedQuery,
  unknownOutcomes,
} from './journal/interruption.ts';
import { type Change, lastChange } from './journal/last-change.ts';
import { Recorder } from './journal/recorder.ts';
import { allowedEffects, hindsight } from './journal/replay.ts';
import { ResumeCursor } from './journal/resume-cursor.ts';
import { FollowUpSubject } from './planning/follow-up-subject.ts';
import type { Outcome } from './query/outcome.ts';
import { undoOf } from './query/undoing.ts';
import { type AssembledSession, assembleSession } from './session-assembly.ts';
import type { ModelChoice, SessionParts } from './session-parts.ts';
/** How one query is asked. */
export interface AskOptions {
  /** No history, summary or fact comes in, and nothing is remembered of it. The journal has it like any other query. */
  readonly isPrivate?: boolean;
  /**
   * The user sees the answer while the model still writes it, part by part: events `answer-part.executed`, each for a part that was
   * decided. The answer follows as always.
   */
  readonly streams?: boolean;
}

/** A query that the user may resume. */
export interface Unfinished {
  readonly text: string;
  /** When it was asked, in milliseconds since the epoch. */
  readonly time: number;
  /** How it ended; null: it did not, because its hub did. */
  readonly ended: 'failed' | 'cancelled' | null;
  /** Tool calls that were carried out. */
  readonly finished: number;
  readonly inDoubt: Recorder['inDoubt'];
  /** The model that was in use; null: the journal does not tell. */
  readonly model: string | null;
}

/** A call of a tool that may have changed something, and that the user has not undone. */
export interface LastChange {
  readonly app: AppId;
  readonly tool: string;
  /** In milliseconds since the epoch. */
  readonly time: number;
  /** Whether it counted as one that cannot be undone when it was made. */
  readonly irreversible: boolean;
  /** False: nobody knows whether it took effect. */
  readonly isCertain: boolean;
  /** Whether it is in the conversation of the app: not what was done for a private query, or for another app. */
  readonly isRemembered: boolean;
  /** The tool that undoes it, as the user's labels say; null: they do not. */
  readonly by: string | null;
}

/** The user's words of a query that undoes something. */
const UNDO = '/undo';

interface ServedAs extends AskOptions {
  /** The call that is undone, instead of anything that a model would do; absent: none. */
  readonly undoes?: EventId | undefined;
}

export class Session {
  readonly id: SessionId;
  readonly #parts: Omit<SessionParts, 'past'>;
  readonly #monitor: ReferenceMonitor;
  readonly #recorder: Recorder;
  readonly #subject = new FollowUpSubject();
  readonly #assembled: AssembledSession;
  #modelChoice: ModelChoice;
  #query: Query | null = null;
  /** The events of the newest query, for as long as it can be resumed. */
  #trail: Event[] = [];
  /** What the journal held when this session was opened, for as long as its unfinished query can be resumed. */
  #past: readonly Event[] = [];

  constructor({ past, ...given }: SessionParts) {
    this.id = given.id;
    const append: SessionJournal['append'] = (entries) => {
      const events = given.journal.append(entries);
      for (const event of events) this.#saw(event);
      return events;
    };
    // Events of apps pass here, too: a query that resumes in this process must know which apps it pinned and installed.
    const parts = { ...given, journal: { ...given.journal, append } };
    this.#parts = parts;
    this.#modelChoice = parts;
    this.#monitor = new ReferenceMonitor({ policy: parts.policy });
    this.#recorder = new Recorder(parts.journal, this.#monitor, past);
    for (const event of past) this.#saw(event);
    this.#recordUnknown(past);
    if (unfinishedQuery(this.#trail) === null) this.#trail = [];
    else this.#past = past;
    this.#assembled = assembleSession(parts, past, {
      monitor: this.#monitor,
      recorder: this.#recorder,
      subject: this.#subject,
      query: () => this.#query,
      modelChoice: () => this.#modelChoice,
    });
  }

  /**
   * Prepares in the background what the next queries will need: an agent loop, the apps that were used last, and room in the
   * journal's log.
   */
  warm(): void {
    const { spokes, registry, apps } = this.#assembled;
    spokes.warm();
    spokes.fill();
    const recent = this.#parts.recentApps().flatMap((app) => registry.get(app) ?? []);
    void apps.warm(recent);
    // It is of no use to anybody but as preparation.
    void this.#parts.makeRoom().catch(() => undefined);
  }

  /** Another model serves the next queries. Apps that name a model keep it. Throws while a query runs. */
  useModel(choice: ModelChoice): void {
    if (this.#query !== null) throw new Error('a query is running in this session');
    this.#modelChoice = choice;
  }

  /**
   * Starts an app to hear what it says of itself, and ends it. `look` shows it to somebody, and says what became of it. `stopping`
   * ends the start.
   */
  review(
    appId: AppId,
    look: (app: InstalledApp, said: AppDescription) => Promise<Vetting>,
    stopping?: AbortSignal,
  ): Promise<Result<Vetting, Fault>> {
    const { registry, apps } = this.#assembled;
    const app = registry.installed(appId);
    if (!app.ok) return Promise.resolve(app);
    return apps.inspect(app.value, (said) => look(app.value, said), stopping);
  }

  /** The user has given an app a right that it failed for want of. Its next process has it. */
  recordRight(app: AppId, granted: GrantedRight): void {
    const body = { kind: 'right.granted', ...granted } as const;
    this.#append({ context: null, app, causes: [], label: HUB_LABEL, body });
  }

  /** Logs the user in to an app that runs elsewhere. Null: they did not agree to where. */
  logIn(appId: AppId, wish: LoginWish, steps: LoginSteps): Promise<Result<Login | null, Fault>> {
    const { registry, remote } = this.#assembled;
    const app = registry.installed(appId);
    return app.ok ? remote.logIn(app.value, wish, steps) : Promise.resolve(app);
  }

  /** Ends a login, here and where it came from. Null: there was none. */
  logOut(appId: AppId): Promise<Result<'revoked' | 'not-offered', Fault> | null> {
    const { registry, remote } = this.#assembled;
    const app = registry.installed(appId);
    return app.ok ? remote.logOut(app.value) : Promise.resolve(app);
  }

  /** The newest query, if it came to no answer: its hub ended, or something failed, or the user stopped it. */
  get unfinished(): Unfinished | null {
    const query = this.#query === null ? unfinishedQuery(this.#trail) : null;
    if (query === null) return null;
    const { said, events, ended } = query;
    const finished = events.filter(({ kind }) => kind === 'tool-call.executed').length;
    const model = modelOfQuery(query);
    return { text: said.text, time: said.time, ended, finished, inDoubt: this.inDoubt, model };
  }

  /** What the query that runs has used so far; null: none runs. */
  get used(): QueryUse | null {
    return this.#query?.budget.used ?? null;
  }

  /** Calls that cannot be undone, of which nobody knows whether they took effect. */
  get inDoubt(): Recorder['inDoubt'] {
    return this.#recorder.inDoubt;
  }

  /**
   * Serves one query. Throws if another is still running: one writer, one query at a time. An unfinished one is given up:
   * what it has done stays in the journal, and the rest is not done.
   */
  async ask(text: string, signal: AbortSignal, options: AskOptions = {}): Promise<Outcome> {
    this.#startAnew();
    return await this.#served(text, signal, options);
  }

  /** The newest change of the session; null: there is none. */
  lastChange(): LastChange | null {
    const change = lastChange(this.#parts.recorded());
    if (change === null) return null;
    const { isCertain, isPrivate, isErrand, call } = change;
    const { app, tool, time, irreversible } = call;
    const isRemembered = !isPrivate && !isErrand;
    return { app, tool, time, irreversible, isCertain, isRemembered, by: this.#undoing(change) };
  }

  #undoing({ call }: Change): string | null {
    const app = this.#assembled.registry.get(call.app);
    return app === undefined ? null : (undoOf(app, call.tool)?.tool ?? null);
  }

  /**
   * Undoes the newest change by the tool that the user's labels name, as one query without a model. It is private where that of the
   * change was. Null: there is nothing to undo. Throws if a query is running.
   */
  async undo(signal: AbortSignal, options: Pick<AskOptions, 'isPrivate'> = {}): Promise<Outcome | null> {
    const change = lastChange(this.#parts.recorded());
    if (change === null) return null;
    this.#startAnew();
    const isPrivate = change.isPrivate || options.isPrivate === true;
    return await this.#served(UNDO, signal, { isPrivate, undoes: change.call.id });
  }

  /**
   * Resumes the unfinished query: what the journal has of it is neither decided nor done again, and the rest is as in any
   * query. Throws if there is none.
   */
  async resume(signal: AbortSignal, { streams = false }: Pick<AskOptions, 'streams'> = {}): Promise<Outcome> {
    if (this.unfinished === null) throw new Error('no interrupted query to resume');
    const { gate, operator, installing, probes } = this.#assembled;
    // What the query left under way in this process is stopped, and ends first: its outcome belongs to what is finished.
    await gate.settled();
    await operator.settled();
    const known = await this.#hindsight(signal);
    const query = unfinishedQuery(this.#trail);
    if (query === null || this.#query !== null) throw new Error('another query was asked');
    const { said, events } = query;
    const answered = this.#end(query, known);
    if (answered !== null) {
      operator.learn();
      return answered;
    }
    const finished = events.filter(({ kind }) => kind === 'tool-call.executed').length;
    const { modelId: model } = this.#modelChoice;
    const body = { kind: 'query.resumed', finished, inDoubt: this.inDoubt.length, model } as const;
    this.#recorder.record(null, body, { causes: [said.id] });
    this.#monitor.resume(allowedEffects(events));
    installing.resumeFrom(events);
    probes.resumeFrom(events);
    this.#recorder.follow(new ResumeCursor(events, known));
    try {
      const { undoes } = said;
      return await this.#serve(said.text, signal, { isPrivate: said.private === true, streams, undoes });
    } finally {
      this.#recorder.follow(null);
      installing.queryEnded();
      this.#monitor.resume(new Map());
      operator.learn();
    }
  }

  /** Facts are learnt behind a query, where nothing is gone through again. */
  async #served(text: string, signal: AbortSignal, options: ServedAs): Promise<Outcome> {
    const outcome = await this.#serve(text, signal, options);
    this.#assembled.operator.learn();
    return outcome;
  }

  async #serve(
    text: string,
    signal: AbortSignal,
    { isPrivate = false, streams = false, undoes }: ServedAs,
  ): Promise<Outcome> {
    const { limits, prices, clock } = this.#parts;
    const { words, operator, gate, choices, networks } = this.#assembled;
    const query = new Query({
      text,
      signal,
      limits,
      prices,
      now: clock,
      isPrivate,
      streams,
      undoes: undoes ?? null,
    });
    this.#query = query;
    // A resumed query has done and refused what it did before it was interrupted.
    if (this.#recorder.cursor !== null) query.resumeFrom(this.#trail);
    if (isPrivate) words.hearInPrivate(text);
    else words.hear(text);
    try {
      return await operator.ask(query);
    } finally {
      query.end();
      await networks.endOfQuery();
      // A step of a resumed query that is still under way would be recorded, or carried out, a second time.
      if (this.#recorder.cursor !== null) await gate.settled();
      words.forget();
      choices.forget();
      this.#query = null;
      if (unfinishedQuery(this.#trail) === null) this.#finish();
    }
  }

  /** Nobody resumes the query: what it asked before it was interrupted, and not again, is over too. */
  #finish(): void {
    this.#trail = [];
    this.#past = [];
    this.#parts.prompts.closeAll(this.id);
  }

  /** Ends every process of the session. `suspend` leaves it open to be resumed, with its history and grants. */
  async close(how: 'end' | 'suspend'): Promise<void> {
    const { operator, spokes, apps, networks } = this.#assembled;
    operator.stop(how);
    spokes.close();
    this.#parts.texts?.rest();
    await apps.stop();
    await networks.end();
    await operator.settled();
    if (how === 'end') this.#recorder.record(null, { kind: 'session.ended' });
    else this.#parts.release();
  }

  #saw(event: Event): void {
    this.#query?.activity.saw(event);
    this.#subject.saw(event);
    if (event.kind === 'user.message') this.#trail = [];
    this.#trail.push(event);
  }

  /** Effects whose outcome nobody recorded: that is what is known of them, and it is recorded before anything else is done. */
  #recordUnknown(past: readonly Event[]): void {
    for (const { proposed, body } of unknownOutcomes(past)) {
      const { context, app, id: cause } = proposed;
      this.#append({ context, app, causes: [cause], label: HUB_LABEL, body });
    }
  }

  /** What no context of a query records. */
  #append(draft: Parameters<SessionJournal['append']>[0][number]): void {
    for (const event of this.#parts.journal.append([draft])) this.#recorder.learn(event);
  }

  /**
   * What the policy says now of what the unfinished query did. The answers about texts ended with the hub that had them looked at:
   * without them a rule is undecided, and each output and all that followed from it would be repeated.
   */
  async #hindsight(signal: AbortSignal): Promise<ReadonlyMap<EventId, Decision>> {
    const query = unfinishedQuery(this.#trail);
    if (query === null) return new Map();
    const { detectorQueries } = this.#assembled;
    const monitor = new ReferenceMonitor({ policy: this.#parts.policy });
    return await hindsight(
      this.#past,
      query.said.id,
      monitor,
      async (decide) => (await detectorQueries?.look(decide, signal)) ?? decide(new Map()),
    );
  }

  /** A query that was answered, and is remembered as that, lacks nothing but its end. Null: it lacks more. */
  #end({ events, said, ended }: UnfinishedQuery, known: ReadonlyMap<EventId, Decision>): Outcome | null {
    const answer = ended === null ? givenAnswer(events) : null;
    if (answer === null) return null;
    if (!this.#parts.memory.turns(answer.owner).sources.includes(answer.event)) return null;
    // A rule that came meanwhile decides about the answer too.
    if ((known.get(answer.event)?.verdict ?? 'allow') !== 'allow') return null;
    const remembered = this.#parts.memory.outcomeOf(said.id);
    const outcome = remembered === 'refused' ? 'refused' : 'answered';
    const reason = outcome === 'refused' ? 'something of it was refused before it was interrupted' : null;
    const asks = remembered === 'asked for data' ? { asksForData: true as const } : {};
    this.#recorder.record(null, { kind: 'query.ended', outcome, reason, ...asks }, { causes: [said.id] });
    this.#finish();
    return { kind: outcome, answer: answer.text, reason, help: null };
  }

  #startAnew(): void {
    if (this.#query !== null) throw new Error('a query is running in this session');
    this.#giveUp();
    // What an earlier query asked is over: an answer to it counts for nothing.
    this.#parts.prompts.closeAll(this.id);
  }

  #giveUp(): void {
    const query = unfinishedQuery(this.#trail);
    if (query === null || query.ended !== null) return;
    const reason = 'it was interrupted, and another query was asked';
    const causes = [query.said.id];
    this.#recorder.record(null, { kind: 'query.ended', outcome: 'cancelled', reason }, { causes });
  }
}
