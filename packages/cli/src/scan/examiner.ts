/**
 * One trace as text: whether it is one, and what the policy says about it. The usual case, a plain chat that no rule
 * can have anything to say about, costs little more than parsing it.
 *
 * Ring 1.
 */
import {
  failed,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { type Analysis, Policy } from '@cordon/policy';
import { areMet, needsOf, type RuleNeeds } from './rule-needs.ts';
import { FeatureTable, isTame, plainMessagesOf, Survey } from './trace-features.ts';

/** Null: nothing was found. Fails with a sentence when the text is no trace. */
export type Examination = Result<Analysis | null, string>;

/** Longer texts are looked through for depth and size before they are parsed: `[` ten million times takes seconds. */
const MOST_TRUSTED = 256 * 1024;
const LIMITS: Omit<JsonLimits, 'length'> = { depth: 512, elements: 5_000_000 };

/** Policies out of some of the rules, kept by which. */
const MOST_SELECTIONS = 256;

export interface ExaminerOptions {
  readonly parameters: JsonObject;
  /** UTF-16 units of a text. */
  readonly maxLength: number;
}

export class Examiner {
  readonly #policy: Policy;
  readonly #needs: readonly RuleNeeds[];
  readonly #survey: Survey;
  readonly #options: ExaminerOptions;
  readonly #selections = new Map<string, Policy>();

  /** `policy` is the policies joined, in their order. */
  constructor(policy: Policy, policies: readonly Policy[], options: ExaminerOptions) {
    const table = new FeatureTable();
    this.#policy = policy;
    this.#needs = policies.flatMap(({ tree }) => needsOf(tree, table));
    this.#survey = new Survey(table);
    this.#options = options;
  }

  examine(text: string): Examination {
    if (text.length > MOST_TRUSTED) return this.#examineCarefully(text);
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch (error) {
      return failed(notJson(error instanceof Error ? error.message : ''));
    }
    const messages = plainMessagesOf(document);
    const isPlain = messages !== null && isTame(document) && this.#survey.isPlainChat(messages);
    if (!isPlain) return this.#examineCarefully(text);
    const policy = this.#selected();
    return policy === null ? ok(null) : this.#analyze(policy, messages);
  }

  #examineCarefully(text: string): Examination {
    const parsed = parseJson(text, { ...LIMITS, length: this.#options.maxLength });
    if (!parsed.ok) return failed(notJson(parsed.fault));
    const messages = messagesOf(parsed.value);
    if (messages === null) return failed('a trace is a list of messages, or an object with `messages`');
    return this.#analyze(this.#policy, messages);
  }

  #analyze(policy: Policy, messages: readonly unknown[]): Examination {
    const analysis = policy.analyze(messages, this.#options.parameters);
    if (!analysis.ok) {
      const { path, message } = analysis.fault;
      return failed(path === '' ? message : `${path}: ${message}`);
    }
    const { errors, undecided } = analysis.value;
    return ok(errors.length + undecided.length === 0 ? null : analysis.value);
  }

  /** The rules that can say something about the trace that was surveyed last; null: none can. */
  #selected(): Policy | null {
    const { rules } = this.#policy;
    let key = '';
    let count = 0;
    for (let index = 0; index < rules.length; index++) {
      const needs = this.#needs[index];
      if (needs !== undefined && !areMet(needs, this.#survey)) continue;
      key += String.fromCharCode(index);
      count++;
    }
    if (count === 0) return null;
    if (count === rules.length) return this.#policy;
    const known = this.#selections.get(key);
    if (known !== undefined) return known;
    if (this.#selections.size >= MOST_SELECTIONS) this.#selections.clear();
    const { source, tree } = this.#policy;
    const chosen = rules.filter((_, index) => key.includes(String.fromCharCode(index)));
    const selection = new Policy({ source, tree, rules: chosen, warnings: [] });
    this.#selections.set(key, selection);
    return selection;
  }
}

function messagesOf(document: unknown): readonly unknown[] | null {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document) || !Object.hasOwn(document, 'messages')) return null;
  const messages: Json | undefined = document.messages;
  return Array.isArray(messages) ? messages : null;
}

function notJson(reason: string): string {
  return `this is not JSON: ${reason}`;
}
