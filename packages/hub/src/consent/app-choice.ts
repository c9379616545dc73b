/**
 * Which of several apps serves: the user picks one, for this time or for longer (paper, Appendix A-D: "once the user
 * selects an app for a functionality"). Equal choices that are open at the same time are one. A choice that is to last,
 * of an app that nobody has agreed to yet, is kept when the user agrees to the app in the same query.
 */
import {
  type AppId,
  type Choice,
  type ChoicePrompt,
  canonicalJsonOf,
  type EventId,
  type PermissionSubject,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import { bindingOf, identityThen, keepGrant, termOf, usedGrant } from './grants.ts';
import { firstAnswer } from './open-question.ts';
import type { PermissionsParts } from './permission.ts';

/** What an app is chosen for that serves a query by itself, where the plan names no use that all of the apps have. */
export const WHOLE_QUERY = 'a whole query';

/** What is chosen for, and among which apps. */
export interface AppChoiceRequest {
  /** One sentence in the hub's words. */
  readonly question: string;
  /** What the app is to serve: a functionality, or a whole query. */
  readonly what: string;
  readonly choices: readonly AppId[];
  /** The app that is picked is installed: it is asked each time, and no answer lasts. */
  readonly installs?: true;
}

/** A choice that is to last, as it was made. */
interface Chosen {
  readonly context: Context | null;
  readonly request: AppChoiceRequest;
  readonly choice: Choice;
  /** The event that asked. */
  readonly asked: EventId;
  readonly signal: AbortSignal;
}

/** An app that could be chosen, and what a grant for it would say. */
interface Candidate {
  readonly app: AppId;
  readonly subject: PermissionSubject;
  /** Null: nobody has agreed to this app, so no choice of it lasts. */
  readonly binding: string | null;
  readonly digest: string;
}

export class AppChoices {
  readonly #parts: PermissionsParts;
  readonly #open = new Map<string, Promise<AppId | null>>();
  /** Choices of apps that nobody has agreed to yet. */
  #waiting: readonly Chosen[] = [];

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
  }

  /** The app that the user picks, or has picked for as long as this. No answer, no, and a broken surface are no app. */
  choose(context: Context | null, request: AppChoiceRequest, signal: AbortSignal): Promise<AppId | null> {
    const earlier = this.#chosenEarlier(context, request);
    if (earlier !== null) return Promise.resolve(earlier);
    const binding = this.#bindingOf(request);
    const key = canonicalJsonOf({ request, binding });
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    const chosen = this.#ask(context, request, binding, key, signal).finally(() => this.#open.delete(key));
    this.#open.set(key, chosen);
    return chosen;
  }

  /** The user has agreed to this app: what they chose it for before, in a query that still runs, is kept now. */
  agreedTo(app: AppId): void {
    const due = this.#waiting.filter(({ choice, signal }) => choice.app === app && !signal.aborted);
    this.#waiting = this.#waiting.filter(({ choice }) => choice.app !== app);
    for (const chosen of due) this.#keep(chosen);
  }

  /** The query is over: a choice for an app that the user has not agreed to in it was for once. */
  forget(): void {
    this.#waiting = [];
  }

  #chosenEarlier(context: Context | null, request: AppChoiceRequest): AppId | null {
    const { grants, recorder } = this.#parts;
    if (request.installs === true) return null;
    for (const candidate of this.#candidates(request)) {
      if (candidate.binding === null) continue;
      const grant = usedGrant(grants, candidate.subject, candidate.digest);
      if (grant === null) continue;
      recorder.record(context, { kind: 'grant.used', grant: grant.id });
      return candidate.app;
    }
    return null;
  }

  async #ask(
    context: Context | null,
    request: AppChoiceRequest,
    binding: string,
    fingerprint: string,
    signal: AbortSignal,
  ): Promise<AppId | null> {
    const { recorder, session } = this.#parts;
    const { choices } = request;
    const question = this.#questionOf(request);
    const installs = request.installs === true ? ({ installs: true } as const) : {};
    const asked = recorder.record(context, { kind: 'choice.asked', question, choices, binding, ...installs });
    const prompt: ChoicePrompt = { id: asked.id, session, question, choices, ...installs };
    // What was chosen before the query was interrupted is not asked for again, while the apps are what they were.
    const before = recorder.cursor?.choice(asked.id) ?? null;
    const choice = before === null ? await this.#answer(prompt, fingerprint, signal) : before.choice;
    if (choice === null || !choices.includes(choice.app)) {
      recorder.record(context, { kind: 'choice.answered', choice: null }, { causes: [asked.id] });
      return null;
    }
    const isForOnce = choice.duration === 'once' || request.installs === true;
    const term = isForOnce ? {} : { term: termOf(choice) };
    recorder.record(
      context,
      { kind: 'choice.answered', choice: choice.app, ...term },
      { causes: [asked.id] },
    );
    const chosen: Chosen = { context, request, choice, asked: asked.id, signal };
    if (isForOnce) return choice.app;
    // What was kept before the query was interrupted is found as a grant, or was taken back.
    if (this.#parts.identityOf(choice.app) === null) this.#waiting = [...this.#waiting, chosen];
    else if (before === null) this.#keep(chosen);
    return choice.app;
  }

  async #answer(prompt: ChoicePrompt, fingerprint: string, signal: AbortSignal): Promise<Choice | null> {
    const { consent, digest } = this.#parts;
    const first = await firstAnswer(
      this.#parts,
      { kind: 'choice', prompt },
      digest(fingerprint),
      signal,
      async (shown, waiting) => ({
        kind: 'choice',
        choice: await consent.choose({ ...prompt, id: shown }, waiting),
      }),
    ).catch(() => null);
    return first?.answer.kind === 'choice' && !signal.aborted ? first.answer.choice : null;
  }

  #keep({ context, request, choice, asked }: Chosen): void {
    const candidate = this.#candidates(request).find(({ app }) => app === choice.app);
    if (candidate === undefined || candidate.binding === null) return;
    const { subject, binding, digest } = candidate;
    const gift = { subject, ...termOf(choice), digest, binding, prompt: asked, flows: [] };
    keepGrant(this.#parts, context, gift);
  }

  /** Says when an answer that is to last does not count at once. */
  #questionOf({ question, choices, installs }: AppChoiceRequest): string {
    if (installs === true) return question;
    const identityOf = identityThen(this.#parts);
    const strangers = choices.filter((app) => identityOf(app) === null);
    if (strangers.length === 0) return question;
    const names = strangers.map((app) => `\`${app}\``).join(', ');
    return `${question} An answer that lasts longer takes effect when you have agreed to the app, which Cordon shows you first (${names}).`;
  }

  /** Attack: while no hub ran, another program was put behind the name of the app that was chosen. */
  #bindingOf({ choices, installs }: AppChoiceRequest): string {
    const identityOf = identityThen(this.#parts);
    // Nobody has agreed to what is not installed; a resumed query finds it reviewed, and puts the same question.
    const bound = choices.map((app) => (installs === true ? null : identityOf(app)));
    return this.#parts.digest(canonicalJsonOf(bound));
  }

  /** A choice among others than these is another choice. */
  #candidates({ what, choices }: AppChoiceRequest): readonly Candidate[] {
    const { digest } = this.#parts;
    const among = [...choices].sort();
    return choices.map((app) => {
      const subject: PermissionSubject = { scope: 'app-selection', from: null, to: app, what };
      const binding = bindingOf(subject, this.#parts);
      return { app, subject, binding, digest: digest(canonicalJsonOf({ subject, among, binding })) };
    });
  }
}
