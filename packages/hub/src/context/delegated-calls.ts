/** The calls that texts ask for which the user asked to follow, as far as the user has said yes or no to them in a query. */
import { type AppId, isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { UserTexts } from './session-texts.ts';

/** A call that a text asks for, as far as the text or the user says its arguments. */
export interface DelegatedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** Longer texts are read over: who allowed a letter has seen whom it goes to, not each line of it. */
const MOST_ENDORSED = 100;

export class DelegatedCalls {
  readonly #agreed = new Map<string, string[]>();
  readonly #declined = new Set<string>();

  /** The user said yes to all of them. */
  agree(app: AppId, calls: readonly DelegatedCall[]): void {
    for (const call of calls) {
      const values = this.#agreed.get(keyOf(app, call.tool)) ?? [];
      this.#agreed.set(keyOf(app, call.tool), [...values, ...shortTexts(call.arguments)]);
    }
  }

  /** The user did not: each call of such a tool is asked about, unless the query says it. */
  decline(app: AppId, calls: readonly DelegatedCall[]): void {
    for (const { tool } of calls) this.#declined.add(keyOf(app, tool));
  }

  isDeclined(app: AppId, tool: string): boolean {
    return this.#declined.has(keyOf(app, tool));
  }

  /** What the user agreed to call this tool with. */
  agreedFor(app: AppId, tool: string): UserTexts {
    return new UserTexts(this.#agreed.get(keyOf(app, tool)) ?? [], () => []);
  }
}

function keyOf(app: AppId, tool: string): string {
  return `${app} ${tool}`;
}

function shortTexts(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(shortTexts);
  if (isJsonObject(value)) return Object.values(value).flatMap(shortTexts);
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  return text === '' || text.length > MOST_ENDORSED || /[\r\n]/.test(text) ? [] : [text];
}
