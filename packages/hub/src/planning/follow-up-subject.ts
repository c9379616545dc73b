/**
 * What a session is about: the app that answered the last query in its own conversation. Told from the session's events
 * alone, so that a session that another process resumes knows it too, and no text of an app has a part in it.
 */
import type { Event, EventId, StepPlan } from '@cordon/core';
import type { Subject } from './planner.ts';
import { routeOf } from './route.ts';

/** Queries of one subject whose words count as known. */
const MOST_SAID = 10;

interface Running {
  readonly text: string;
  readonly isPrivate: boolean;
  plan: StepPlan | null;
  readonly facts: Set<string>;
}

export class FollowUpSubject {
  #subject: Subject | null = null;
  #running: Running | null = null;
  /** Releases of facts that were proposed, by their event. */
  readonly #proposed = new Map<EventId, readonly string[]>();

  /** Null: no query continues another. */
  get current(): Subject | null {
    return this.#subject;
  }

  saw(event: Event): void {
    switch (event.kind) {
      case 'user.message':
        this.#running = { text: event.text, isPrivate: event.private === true, plan: null, facts: new Set() };
        this.#proposed.clear();
        return;
      case 'plan.made':
        // What the hub guessed is no subject: nobody has said that the query is for that app.
        if (this.#running !== null) this.#running.plan = event.origin === 'fallback' ? null : event.plan;
        return;
      case 'data-release.proposed':
        // Attack: a value that an app observed, or a text that was opened, has the name of a fact that the user stated.
        this.#proposed.set(
          event.id,
          event.items.flatMap(({ name, label }) =>
            label.integrity === 'trusted' && this.#isNeeded(name) ? [name] : [],
          ),
        );
        return;
      case 'data-release.executed':
        for (const name of event.causes.flatMap((cause) => this.#proposed.get(cause) ?? []))
          this.#running?.facts.add(name);
        return;
      case 'query.ended':
        this.#subject =
          event.outcome === 'answered' && this.#running !== null ? this.#after(this.#running) : null;
        this.#running = null;
        return;
      default:
        return;
    }
  }

  /** Whether the plan wants it as the user's own: what apps observed it knows under other names. */
  #isNeeded(name: string): boolean {
    return this.#running?.plan?.steps.some(({ needs }) => needs.includes(name)) === true;
  }

  #after({ text, isPrivate, plan, facts }: Running): Subject | null {
    if (isPrivate || plan === null) return null;
    const route = routeOf(plan);
    if (route.kind !== 'app' || route.helpers.length > 0) return null;
    const before = this.#subject?.app === route.app ? this.#subject : null;
    return {
      app: route.app,
      said: [...(before?.said ?? []), text].slice(-MOST_SAID),
      facts: [...new Set([...(before?.facts ?? []), ...facts])],
    };
  }
}
