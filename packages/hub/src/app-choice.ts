/**
 * Which of several apps serves: the user picks one, for this time or for longer (paper, Appendix A-D: "once the user
 * selects an app for a functionality"). Equal choices that are open at the same time are one.
 *
 * Ring 0.
 */
import {
  type AppId,
  type Choice,
  type ChoicePrompt,
  canonicalJsonOf,
  type PermissionSubject,
} from '@cordon/core';
import type { Context } from './context.ts';
import { firstAnswer } from './open-question.ts';
import { bindingOf, type PermissionsParts, termOf } from './permission.ts';

/** What is chosen for, and among which apps. */
export interface AppChoiceRequest {
  /** One sentence in the hub's words. */
  readonly question: string;
  /** What the app is to serve: a functionality, or a whole query. */
  readonly what: string;
  readonly choices: readonly AppId[];
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

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
  }

  /** The app that the user picks, or has picked for as long as this. No answer, no, and a broken surface are no app. */
  choose(context: Context, request: AppChoiceRequest, signal: AbortSignal): Promise<AppId | null> {
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

  #chosenEarlier(context: Context, request: AppChoiceRequest): AppId | null {
    const { grants, recorder } = this.#parts;
    for (const candidate of this.#candidates(request)) {
      if (candidate.binding === null) continue;
      const grant = grants.find(candidate.subject, candidate.digest);
      if (grant?.digest !== candidate.digest || grant.duration === 'once' || !grants.consume(grant)) continue;
      recorder.record(context, { kind: 'grant.used', grant: grant.id });
      return candidate.app;
    }
    return null;
  }

  async #ask(
    context: Context,
    request: AppChoiceRequest,
    binding: string,
    fingerprint: string,
    signal: AbortSignal,
  ): Promise<AppId | null> {
    const { recorder, session } = this.#parts;
    const { question, choices } = request;
    const asked = recorder.record(context, { kind: 'choice.asked', question, choices, binding });
    const prompt: ChoicePrompt = { id: asked.id, session, question, choices };
    // What was chosen before the query was interrupted is not asked for again, while the apps are what they were.
    const before = recorder.progress?.choice(asked.id) ?? null;
    const choice: Choice | null =
      before === null ? await this.#answer(prompt, fingerprint, signal) : { app: before, duration: 'once' };
    const chosen = this.#candidates(request).find(({ app }) => app === choice?.app) ?? null;
    recorder.record(
      context,
      { kind: 'choice.answered', choice: chosen?.app ?? null },
      { causes: [asked.id] },
    );
    if (choice !== null && chosen !== null) this.#keep(context, chosen, choice, asked.id);
    return chosen?.app ?? null;
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

  #keep(
    context: Context,
    { subject, binding, digest }: Candidate,
    choice: Choice,
    prompt: ChoicePrompt['id'],
  ): void {
    if (choice.duration === 'once' || binding === null) return;
    const term = termOf(choice);
    const grant = this.#parts.grants.give({ subject, ...term, digest, binding, prompt, flows: [] });
    if (grant === null) return;
    this.#parts.recorder.record(context, { kind: 'grant.given', grant: grant.id, subject, ...term });
  }

  /** Attack: while no hub ran, another program was put behind the name of the app that was chosen. */
  #bindingOf({ choices }: AppChoiceRequest): string {
    const { identityOf, digest } = this.#parts;
    return digest(canonicalJsonOf(choices.map((app) => identityOf(app))));
  }

  /** A choice among others than these is another choice. */
  #candidates({ what, choices }: AppChoiceRequest): readonly Candidate[] {
    const { identityOf, digest } = this.#parts;
    const among = [...choices].sort();
    return choices.map((app) => {
      const subject: PermissionSubject = { scope: 'app-selection', from: null, to: app, what };
      const binding = bindingOf(subject, identityOf, digest);
      return { app, subject, binding, digest: digest(canonicalJsonOf({ subject, among, binding })) };
    });
  }
}
