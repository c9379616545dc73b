/**
 * One trace as text: whether it is one, and what the policy says about it. The usual case, a plain chat that no rule
 * can have anything to say about, costs little more than parsing it.
 */

import { jsonFaultOfLine } from '@cordon/config/reading';
import {
  failed,
  type Json,
  type JsonLimits,
  type JsonObject,
  ok,
  parseJson,
  type Result,
  type ToolLabelEntry,
} from '@cordon/core';
import type { Awaited } from '@cordon/detectors';
import { Policy, type TraceEvent } from '@cordon/policy';
import {
  type Analysis,
  analyzeEvents,
  decodeChat,
  prefilterOf,
  readTrace,
  type TraceFault,
  type TraceFormat,
  TraceLabels,
} from '@cordon/policy-tools';
import type { Dialect } from '../policies/policy-files.ts';
import { countEvents, type EventCounts, hasEvents, NOTHING_READ } from '../traces/event-counts.ts';
import { isElement } from '../traces/trace-input.ts';
import { NeedTable } from './rule-needs.ts';
import { FeatureTable, isTame, plainMessagesOf, Survey } from './trace-features.ts';
/** Fails with a sentence when the text is no trace, or holds nothing that a rule could look at. */
export type Examination = Result<Examined, string>;

export interface Examined {
  /** Null: nothing was found. */
  readonly analysis: Analysis | null;
  readonly read: EventCounts;
}

/** Longer texts are looked through for depth and size before they are parsed: `[` ten million times takes seconds. */
const MOST_TRUSTED = 1024 * 1024;
const LIMITS: Omit<JsonLimits, 'length'> = { depth: 512, elements: 5_000_000 };

/** What is found in it may depend on the lines around it, and those are other traces here. */
const PART_OF_TRACE =
  'this is a part of a trace and no whole one: `cordon analyze` reads files whose lines are one trace';

/** Policies out of some of the rules, kept by which. */
const MOST_SELECTIONS = 256;

export interface ExaminerOptions {
  readonly parameters: JsonObject;
  /** UTF-16 units of a text. */
  readonly maxLength: number;
  /** Absent: it is recognised. */
  readonly format?: TraceFormat | undefined;
  /** Of the policy. */
  readonly dialect: Dialect;
  /** What the user says of the tools; null: nothing. */
  readonly labels: readonly ToolLabelEntry[] | null;
}

export class Examiner {
  readonly #policy: Policy;
  readonly #needs: NeedTable;
  readonly #survey: Survey;
  readonly #options: ExaminerOptions;
  readonly #labels: TraceLabels | null;
  readonly #selections = new Map<string, Policy>();

  constructor(policy: Policy, options: ExaminerOptions) {
    const features = new FeatureTable();
    this.#policy = policy;
    this.#needs = new NeedTable(prefilterOf(policy), features);
    this.#survey = new Survey(features);
    this.#options = options;
    this.#labels = options.labels === null ? null : new TraceLabels(options.labels);
  }

  /** @param awaited takes the questions whose answers could change what is found */
  examine(text: string, awaited?: Awaited): Examination {
    const { format } = this.#options;
    const isChat = format === undefined || format === 'openai-chat';
    if (text.length > MOST_TRUSTED || !isChat) return this.#examineCarefully(text, awaited);
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch (error) {
      return failed(notJson(error instanceof Error ? error.message : ''));
    }
    const messages = plainMessagesOf(document);
    const isPlain = messages !== null && isTame(document) && this.#survey.isPlainChat(messages);
    if (!isPlain) return this.#examineCarefully(text, awaited);
    const read = this.#survey.counts();
    if (!hasEvents(read)) return failed(NOTHING_READ);
    const policy = this.#selected(text);
    if (policy === null) return ok({ analysis: null, read });
    const events = decodeChat(messages);
    return events.ok ? this.#analyzed(policy, events.value, read, awaited) : failed(sentenceOf(events.fault));
  }

  #examineCarefully(text: string, awaited: Awaited | undefined): Examination {
    const parsed = parseJson(text, { ...LIMITS, length: this.#options.maxLength });
    if (!parsed.ok) return failed(notJson(parsed.fault));
    if (isElement(parsed.value)) return failed(partOfTrace(parsed.value));
    const { format, dialect } = this.#options;
    const read = readTrace(parsed.value, format === undefined ? { dialect } : { format, dialect });
    if (!read.ok) return failed(sentenceOf(read.fault));
    const counts = countEvents(read.value.events);
    if (!hasEvents(counts)) return failed(NOTHING_READ);
    return this.#analyzed(this.#policy, read.value.events, counts, awaited);
  }

  #analyzed(
    policy: Policy,
    events: readonly TraceEvent[],
    read: EventCounts,
    awaited: Awaited | undefined,
  ): Examination {
    const labelled = this.#labels?.label(events) ?? events;
    const analysis = analyzeEvents(policy, labelled, this.#options.parameters, awaited);
    const isClean = analysis.errors.length + analysis.undecided.length === 0;
    return ok({ analysis: isClean ? null : analysis, read });
  }

  /** The rules that can say something about the trace that was surveyed last; null: none can. */
  #selected(text: string): Policy | null {
    const { rules } = this.#policy;
    this.#needs.look(text, this.#survey);
    const met = this.#needs.met();
    if (met.length === 0) return null;
    if (met.length === rules.length) return this.#policy;
    const key = met.join();
    const known = this.#selections.get(key);
    if (known !== undefined) return known;
    if (this.#selections.size >= MOST_SELECTIONS) this.#selections.clear();
    const { source, tree } = this.#policy;
    const chosen = met.flatMap((index) => rules[index] ?? []);
    const selection = new Policy({ source, tree, rules: chosen, warnings: [], textQuestions: null });
    this.#selections.set(key, selection);
    return selection;
  }
}

/** Where it is an element of a format that is not read, that is what its user has to know. */
function partOfTrace(element: Json): string {
  const read = readTrace([element]);
  return read.ok || !read.fault.message.startsWith('this is ') ? PART_OF_TRACE : read.fault.message;
}

function sentenceOf({ path, message }: TraceFault): string {
  return path === '' ? message : `${path}: ${message}`;
}

function notJson(reason: string): string {
  return `this ${jsonFaultOfLine(reason)}`;
}
