/**
 * What has happened in one query so far, read from its own events as they are recorded: what the user said no to,
 * whether anything was done that a second attempt would do again, and whether a person is being waited for.
 */
import type { AppId, Event, EventId, PermissionPrompt, PermissionSubject } from '@cordon/core';
import type { Budget } from './budget.ts';

/** Something that the plan expected and the user said no to. */
export interface Refused {
  readonly app: AppId;
  readonly what: string;
  /** Whether the app is out of the question, and not just this use of it. */
  readonly isWholeApp: boolean;
}

export class QueryActivity {
  readonly #budget: Pick<Budget, 'pause' | 'resume'>;
  /** Questions without an answer yet, and what a no to each would mean. */
  readonly #open = new Map<EventId, Refused | null>();
  readonly #refused: Refused[] = [];
  #hasActed = false;
  #hasActedSinceResume = false;

  /** @param budget stands still while the user is asked: everything else of the query may wait */
  constructor(budget: Pick<Budget, 'pause' | 'resume'>) {
    this.#budget = budget;
  }

  get refused(): readonly Refused[] {
    return this.#refused;
  }

  /**
   * Whether an app has been made to do anything. What was done is not undone by another plan, and a tool that can be
   * undone can still not be called twice without a second entry in somebody's calendar.
   */
  get hasActed(): boolean {
    return this.#hasActed;
  }

  /** The same since the query was resumed; of one that was not interrupted, since it began. */
  get hasActedSinceResume(): boolean {
    return this.#hasActedSinceResume;
  }

  saw(event: Event): void {
    switch (event.kind) {
      case 'permission.asked':
        return this.#asked(event.id, isPlanned(event.prompt) ? refusedBy(event.prompt.subject) : null);
      case 'choice.asked':
        return this.#asked(event.id, null);
      case 'permission.answered': {
        const question = this.#open.get(event.prompt);
        if (question != null && !event.allow && event.by === 'user') this.#refused.push(question);
        return this.#answered(event.prompt);
      }
      case 'choice.answered':
        for (const cause of event.causes) this.#answered(cause);
        return;
      default:
        if (isAct(event)) this.#hasActed = this.#hasActedSinceResume = true;
    }
  }

  /** The query resumes: questions from before the interruption are over, and put again where they are due. */
  resume(): void {
    this.#hasActedSinceResume = false;
    if (this.#open.size === 0) return;
    this.#open.clear();
    this.#budget.resume();
  }

  #asked(question: EventId, no: Refused | null): void {
    if (this.#open.size === 0) this.#budget.pause();
    this.#open.set(question, no);
  }

  #answered(question: EventId): void {
    if (this.#open.delete(question) && this.#open.size === 0) this.#budget.resume();
  }
}

/** An app did something; a call that failed may have done half of it. */
export function isAct({ kind }: Pick<Event, 'kind'>): boolean {
  return kind === 'tool-call.executed' || kind === 'tool-call.failed';
}

/** What the user says no to may be left out of another plan if this one wanted it. */
function isPlanned(prompt: Pick<PermissionPrompt, 'expected' | 'isPlanned'>): boolean {
  return prompt.expected || prompt.isPlanned === true;
}

function refusedBy({ scope, from, to, what }: PermissionSubject): Refused | null {
  const app = to ?? from;
  if (app === null) return null;
  return { app, what, isWholeApp: scope !== 'irreversible-action' && scope !== 'exchange' };
}
