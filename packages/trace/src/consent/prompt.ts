/**
 * Questions that wait for the user. They are kept, so that another process can answer while the one that asked waits, and
 * so that a question outlives a hub that is killed: the session that goes on asks the same again and finds its answer.
 *
 * INVARIANT (in time, once): of all answers to a question one counts, the first, and none once the question is over.
 */
import {
  type Choice,
  type ChoicePrompt,
  canonicalJsonOf,
  type Event,
  type EventId,
  failed,
  type GrantTerm,
  id,
  isJsonObject,
  type JsonObject,
  ok,
  type PermissionAnswer,
  type PermissionPrompt,
  type PromptEdit,
  type Result,
  type SessionId,
} from '@cordon/core';

import type { Database, TellBroken } from '../database/database.ts';
import type { Refusal } from '../database/fault.ts';
import type { StoreParts } from '../database/parts.ts';
import { MalformedRow, numberOf, parseStored, type Row, textOf, textOrNull } from '../database/row.ts';
import type { Seal } from '../database/seal.ts';
import { placeOf } from '../database/sealed-column.ts';

export type StoredQuestion =
  | { readonly kind: 'permission'; readonly prompt: PermissionPrompt }
  | { readonly kind: 'choice'; readonly prompt: ChoicePrompt };

export type StoredAnswer =
  | { readonly kind: 'permission'; readonly answer: PermissionAnswer }
  /** Null: none of the apps. */
  | { readonly kind: 'choice'; readonly choice: Choice | null };

export interface StoredPrompt {
  readonly id: EventId;
  readonly session: SessionId;
  readonly question: StoredQuestion;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Given and not taken yet: the session that asked is not running, or has not looked. */
  readonly answer: StoredAnswer | null;
}

export type PromptFault = Refusal<'prompt-unknown' | 'prompt-over' | 'prompt-answered' | 'answer-unfit'>;

export interface PromptsParts extends StoreParts {
  /** What the journal has of a session from this event on; nothing if it is no event of it. */
  readonly eventsFrom: (session: SessionId, event: EventId) => readonly Event[];
}

export class Prompts {
  readonly #database: Database;
  readonly #parts: PromptsParts;

  constructor(parts: PromptsParts) {
    this.#database = parts.database;
    this.#parts = parts;
  }

  /**
   * A question begins to wait. If the session was killed while the same question waited (`fingerprint`: of the question
   * and all that was shown), that one is taken up again, with the answer it may have by now. Null: there is no such session.
   */
  open(question: StoredQuestion, fingerprint: string): StoredPrompt | null {
    const { prompt } = question;
    return this.#database.write(() => {
      const { seal } = this.#database;
      const closed = seal.closeAlike(fingerprint, placeOf('prompts.fingerprint', {}));
      const where = `s.id = ? AND p.fingerprint = ? AND ${OPEN}`;
      const waiting = this.#first(where, prompt.session, closed);
      if (waiting !== null && !this.#wasAnswered(waiting)) return waiting;
      // One that is not what was asked, or was answered before, gives its place up.
      this.#endAll(where, prompt.session, closed);
      const session = this.#database.keyOf('sessions', prompt.session);
      if (session === null) return null;
      this.#parts.tags.insert('prompts', {
        id: prompt.id,
        session,
        fingerprint: closed,
        question: seal.close(canonicalJsonOf(question), placeOf('prompts.question', { id: prompt.id })),
        asked_at: this.#parts.now(),
      });
      return this.#first('p.id = ?', prompt.id);
    });
  }

  /** An answer from anywhere. Refused when the question is over, was answered, or does not offer this. */
  answer(prompt: EventId, answer: StoredAnswer): Result<StoredPrompt, PromptFault> {
    return this.#database.write(() => {
      const known = this.#first('p.id = ?', prompt);
      if (known === null) return failed(this.#database.keyOf('prompts', prompt) === null ? UNKNOWN : CHANGED);
      if (this.#first(`p.id = ? AND ${OPEN}`, prompt) === null) return failed(OVER);
      if (known.answer !== null) return failed(ANSWERED);
      const unfit = unfitness(known.question, answer);
      if (unfit !== null) return failed({ ...UNFIT, message: unfit });
      const place = placeOf('prompts.answer', { id: prompt });
      const text = this.#database.seal.close(canonicalJsonOf(answer), place);
      const sql = 'UPDATE prompts SET answer = ?, answered_at = ? WHERE id = ?';
      this.#change(prompt, sql, text, this.#parts.now(), prompt);
      return ok({ ...known, answer });
    });
  }

  /** What was answered from elsewhere, for the session that waits; null: nothing yet. */
  answered(prompt: EventId): StoredAnswer | null {
    const sql = 'SELECT key, id, answer FROM prompts WHERE id = ? AND over_at IS NULL';
    return this.#database.first(sql, [prompt], (row) =>
      this.#isAuthentic(row) ? answerOf(row, this.#database.seal) : null,
    );
  }

  /**
   * The question needs no answer any more: it has one, or its query is over. What was answered from elsewhere until now
   * counts before whatever the caller has, and is given once.
   */
  close(prompt: EventId): StoredAnswer | null {
    return this.#database.write(() => {
      const answer = this.answered(prompt);
      this.#end(prompt);
      return answer;
    });
  }

  /** The session continues without its open questions; returns how many that ends. */
  closeAll(session: SessionId): number {
    return this.#database.write(() => this.#endAll('p.over_at IS NULL AND s.id = ?', session));
  }

  find(prompt: EventId): StoredPrompt | null {
    return this.#first('p.id = ?', prompt);
  }

  /** Those that wait and can be answered, oldest first; of one session if it is given. */
  pending(session: SessionId | null = null, tell: TellBroken | null = null): readonly StoredPrompt[] {
    const sql = `${SELECT} WHERE ${OPEN} AND p.answer IS NULL AND (? IS NULL OR s.id = ?) ORDER BY p.key`;
    const promptIn = (row: Row) =>
      this.#parts.tags.report('prompts', row, tell) ? [promptOf(row, this.#database.seal)] : [];
    return this.#database.listed(sql, [session, session], promptIn, tell).flat();
  }

  #first(condition: string, ...values: readonly string[]): StoredPrompt | null {
    return this.#database.first(`${SELECT} WHERE ${condition}`, values, (row) =>
      this.#isAuthentic(row) ? promptOf(row, this.#database.seal) : null,
    );
  }

  #isAuthentic(row: Row): boolean {
    return this.#parts.tags.isAuthentic('prompts', numberOf(row, 'key'));
  }

  /**
   * Attack: an old copy of a question, with the yes that was taken, is put back, and the same question is asked again. The
   * journal has that it was answered: the row is over before that is written, so one that still waits is such a copy.
   */
  #wasAnswered({ id: prompt, session }: StoredPrompt): boolean {
    const asked = new Set<EventId>([prompt]);
    let content: string | null = null;
    for (const event of this.#parts.eventsFrom(session, prompt)) {
      // A session that goes on asks the same again under another id, and takes this row for it.
      const said = contentOf(event);
      if (event.id === prompt) content = said;
      else if (said !== null && said === content) asked.add(event.id);
      const about = event.kind === 'permission.answered' ? event.prompt : event.causes[0];
      const isAnswer = event.kind === 'permission.answered' || event.kind === 'choice.answered';
      if (isAnswer && about !== undefined && asked.has(about)) return true;
    }
    return false;
  }

  #endAll(where: string, ...values: readonly string[]): number {
    const sql = `SELECT p.id FROM prompts p JOIN sessions s ON s.key = p.session WHERE ${where}`;
    const ids = this.#database.all(sql, values, (row) => textOf(row, 'id'));
    for (const one of ids) this.#end(one);
    return ids.length;
  }

  /** No answer counts any more, unless that was so before. */
  #end(prompt: string): void {
    const sql = 'UPDATE prompts SET over_at = ? WHERE id = ? AND over_at IS NULL';
    this.#change(prompt, sql, this.#parts.now(), prompt);
  }

  #change(prompt: string, sql: string, ...values: readonly (string | number)[]): void {
    this.#parts.tags.change('prompts', this.#database.keyOf('prompts', prompt), sql, ...values);
  }
}

/** Of a question, without what differs when it is asked again; null: it is not a question. */
function contentOf(event: Event): string | null {
  if (event.kind === 'choice.asked') return canonicalJsonOf([event.question, event.choices]);
  if (event.kind !== 'permission.asked') return null;
  const { context: _context, session: _session, ...content } = event.prompt;
  return canonicalJsonOf(content);
}

const SELECT = `SELECT p.key, p.id, s.id AS session, p.question, p.asked_at, p.answer
  FROM prompts p JOIN sessions s ON s.key = p.session`;
const OPEN = 'p.over_at IS NULL AND s.ended_at IS NULL';

const UNKNOWN: PromptFault = {
  kind: 'prompt-unknown',
  message: 'there is no such question',
  help: '`cordon prompts` lists those that wait',
};
const CHANGED: PromptFault = {
  kind: 'prompt-unknown',
  message: 'the question in the store is not the one that was asked: somebody changed it without the key',
  help: 'resume its session, which asks the question again',
};
const OVER: PromptFault = {
  kind: 'prompt-over',
  message: 'the question is over: its query has ended, or it was answered where it was asked',
  help: '`cordon prompts` lists those that wait',
};
const ANSWERED: PromptFault = {
  kind: 'prompt-answered',
  message: 'the question has an answer already, and the first one counts',
  help: 'what was granted can be taken back: `cordon grants`',
};
const UNFIT: PromptFault = {
  kind: 'answer-unfit',
  message: 'the question does not offer this',
  help: '`cordon prompts` lists what can be answered',
};

/** Why an answer does not fit this question; null: it fits. */
function unfitness(question: StoredQuestion, answer: StoredAnswer): string | null {
  if (question.kind === 'permission' && answer.kind === 'permission') {
    if (!answer.answer.allow) return null;
    const { duration } = answer.answer;
    return question.prompt.durations.includes(duration)
      ? null
      : `the question does not offer \`${duration}\``;
  }
  if (question.kind === 'choice' && answer.kind === 'choice') {
    const { choice } = answer;
    return choice === null || question.prompt.choices.includes(choice.app) ? null : 'that app is not offered';
  }
  return question.kind === 'choice' ? 'the question is which app' : 'the question is whether to allow it';
}

function promptOf(row: Row, seal: Seal): StoredPrompt {
  const prompt = textOf(row, 'id');
  return {
    id: id(prompt),
    session: id(textOf(row, 'session')),
    question: questionOf(seal.open(textOf(row, 'question'), placeOf('prompts.question', row))),
    askedAt: numberOf(row, 'asked_at'),
    answer: answerOf(row, seal),
  };
}

/** The hub's own canonical JSON, written by `open`. */
function questionOf(text: string): StoredQuestion {
  const value = parseStored(text);
  const isQuestion = isJsonObject(value) && isJsonObject(value.prompt) && typeof value.prompt.id === 'string';
  if (!isQuestion || (value.kind !== 'permission' && value.kind !== 'choice')) {
    throw new MalformedRow('a stored question is not a question');
  }
  return value as unknown as StoredQuestion;
}

/** Read key by key: it is the user's word, and what is not understood must not become one. */
function answerOf(row: Row, seal: Seal): StoredAnswer | null {
  const text = textOrNull(row, 'answer');
  if (text === null) return null;
  const value = parseStored(seal.open(text, placeOf('prompts.answer', row)));
  if (isJsonObject(value) && value.kind === 'choice') {
    const { choice } = value;
    if (choice === null) return { kind: 'choice', choice };
    if (isJsonObject(choice) && typeof choice.app === 'string') {
      return { kind: 'choice', choice: { ...termOf(choice), app: id(choice.app) } };
    }
  }
  if (isJsonObject(value) && value.kind === 'permission' && isJsonObject(value.answer)) {
    return { kind: 'permission', answer: permissionAnswerOf(value.answer) };
  }
  throw new MalformedRow('a stored answer is not an answer');
}

function permissionAnswerOf(answer: JsonObject): PermissionAnswer {
  const { allow, reason, edits, shown } = answer;
  const seen = typeof shown === 'string' ? { shown } : {};
  if (allow === false && (reason === 'user' || reason === 'no-answer')) return { allow, reason, ...seen };
  if (allow !== true) throw new MalformedRow('a stored answer neither allows nor denies');
  return { allow, ...termOf(answer), ...(edits === undefined ? {} : { edits: editsOf(edits) }), ...seen };
}

function termOf({ duration, until }: JsonObject): GrantTerm {
  if (duration === 'until' && typeof until === 'number') return { duration, until };
  if (duration === 'once' || duration === 'session' || duration === 'permanent') return { duration };
  throw new MalformedRow('a stored answer allows for no known time');
}

function editsOf(value: unknown): readonly PromptEdit[] {
  if (!Array.isArray(value)) throw new MalformedRow('stored edits are not a list');
  return value.map((edit: unknown) => {
    if (!isJsonObject(edit) || typeof edit.name !== 'string' || typeof edit.value !== 'string') {
      throw new MalformedRow('a stored edit is not one');
    }
    return { name: edit.name, value: edit.value };
  });
}
