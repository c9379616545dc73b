/**
 * What rules need of a trace, looked up in what a survey has noted of it: a rule whose needs are not met has nothing
 * to say about the trace.
 */
import type { EventNeed, RuleNeeds, TextNeed } from '@cordon/policy-tools';
import { FEATURE, type FeatureTable, type Positions } from './trace-features.ts';

interface NumberedNeeds {
  readonly events: readonly EventFeatures[];
  readonly flows: RuleNeeds['flows'];
  readonly texts: readonly TextFeatures[];
}

interface EventFeatures {
  readonly type: number;
  /** Any of these; null: any tool. */
  readonly tools: readonly number[] | null;
}

interface TextFeatures {
  /** The number of what must be in the trace. */
  readonly pieces: number;
  /** Where the trace has one of these features, the texts are not needed. */
  readonly otherwise: readonly number[];
}

function featureOfType(type: string): number {
  if (type === 'Message') return FEATURE.message;
  if (type === 'ToolCall') return FEATURE.toolCall;
  return type === 'ToolOutput' ? FEATURE.toolOutput : FEATURE.elsewhere;
}

function featuresOfTools({ tools }: EventNeed, table: FeatureTable): readonly number[] | null {
  const features = tools === null ? [null] : [...tools].map((name) => table.tool(name));
  const known = features.filter((feature) => feature !== null);
  return known.length === features.length ? known : null;
}

function otherwise({ undecidedWithout, needsContent }: TextNeed): readonly number[] {
  if (undecidedWithout === null) return [];
  const isMessage = undecidedWithout === 'Message';
  const list = isMessage ? FEATURE.listMessage : FEATURE.listOutput;
  return needsContent ? [list] : [list, isMessage ? FEATURE.emptyMessage : FEATURE.emptyOutput];
}

/** What JSON writes with a backslash, or may; text in JSON in a text of JSON has more backslashes, and nothing else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const MAY_BE_ESCAPED = /["\\/\u0000-\u001f]+/;

/** The longest part of a text that stands in JSON as it is, unless something is written as `\uXXXX` there. */
function writtenPiece(text: string): string {
  return text
    .split(MAY_BE_ESCAPED)
    .reduce((longest, part) => (part.length > longest.length ? part : longest));
}

/** Of each, one is in a trace as it was written, unless it has escapes. */
type Pieces = readonly (readonly Family[])[];

/** Pieces that begin alike, e.g. one word in all its letter cases: where that is missing, none of them is looked for. */
interface Family {
  readonly lead: string;
  readonly texts: readonly string[];
}

function familiesOf(texts: readonly string[]): readonly Family[] {
  const byLead = Map.groupBy(texts, (text) => text.charAt(0));
  return [...byLead].map(([lead, own]) => ({ lead, texts: own }));
}

function hasAny(text: string, families: readonly Family[]): boolean {
  for (const { lead, texts } of families) {
    if (texts.length > 1 && !text.includes(lead)) continue;
    for (const one of texts) if (text.includes(one)) return true;
  }
  return false;
}

const NONE: readonly number[] = [];
const NOWHERE: Positions = { first: new Int32Array(0), last: new Int32Array(0) };

const UNKNOWN = 0;
const FOUND = 1;
const MISSING = 2;

/** The needs of rules, looked up in one trace after the other. */
export class NeedTable {
  readonly #rules: readonly NumberedNeeds[];
  /** What rules ask for alike is looked for once. */
  readonly #pieces: Pieces[] = [];
  readonly #numbers = new Map<string, number>();
  /** By number of the pieces, in this trace. */
  readonly #found: Uint8Array;
  #text = '';
  #positions: Positions = NOWHERE;
  #hasEscapes = UNKNOWN;

  constructor(needs: readonly RuleNeeds[], features: FeatureTable) {
    this.#rules = needs.map(({ events, flows, texts }) => ({
      events: events.map((need) => ({
        type: featureOfType(need.type),
        tools: featuresOfTools(need, features),
      })),
      flows,
      texts: texts.flatMap((need) => this.#textFeatures(need)),
    }));
    this.#found = new Uint8Array(this.#pieces.length);
  }

  /** Goes on to another trace: its JSON, and where its features stand. */
  look(text: string, positions: Positions): void {
    this.#text = text;
    this.#positions = positions;
    this.#hasEscapes = UNKNOWN;
    this.#found.fill(UNKNOWN);
  }

  /**
   * The numbers of the rules that can say something about the trace. Texts are looked for only where it saves the whole
   * evaluation: once there is a rule to evaluate, that finds out itself, and more cheaply, which texts are missing.
   */
  met(): readonly number[] {
    const met: number[] = [];
    let isAny = false;
    for (let rule = 0; rule < this.#rules.length; rule++) {
      const needs = this.#rules[rule];
      if (needs === undefined || !this.#hasEvents(needs)) continue;
      met.push(rule);
      isAny ||= needs.texts.length === 0;
    }
    return isAny || met.some((rule) => this.areMet(rule)) ? met : NONE;
  }

  /** Whether one rule, by its number, can say anything about the trace. */
  areMet(rule: number): boolean {
    const needs = this.#rules[rule];
    return needs === undefined || (this.#hasEvents(needs) && this.#hasTexts(needs));
  }

  #hasEvents({ events, flows }: NumberedNeeds): boolean {
    for (const event of events) if (this.#startOf(event) < 0) return false;
    for (const { from, to } of flows) {
      const [before, after] = [events[from], events[to]];
      if (before !== undefined && after !== undefined && this.#startOf(before) >= this.#endOf(after))
        return false;
    }
    return true;
  }

  #hasTexts({ texts }: NumberedNeeds): boolean {
    for (const wanted of texts) if (!this.#canHold(wanted)) return false;
    return true;
  }

  #textFeatures(need: TextNeed): readonly TextFeatures[] {
    const pieces = need.alternatives
      .map((texts) => texts.map(writtenPiece))
      .filter((texts) => texts.every((text) => text !== ''))
      .map(familiesOf);
    if (pieces.length === 0) return [];
    const key = JSON.stringify(pieces);
    const number = this.#numbers.get(key) ?? this.#pieces.push(pieces) - 1;
    this.#numbers.set(key, number);
    return [{ pieces: number, otherwise: otherwise(need) }];
  }

  /** Where the first such event can stand; -1: there is none. An output stands behind its call. */
  #startOf({ type, tools }: EventFeatures): number {
    const { first } = this.#positions;
    const ofType = first[type] ?? -1;
    if (tools === null || ofType < 0) return ofType;
    let ofTools = -1;
    for (const tool of tools) {
      const start = first[tool] ?? -1;
      if (start >= 0 && (ofTools < 0 || start < ofTools)) ofTools = start;
    }
    return ofTools < 0 ? -1 : Math.max(ofType, ofTools);
  }

  /** Where the last such event can stand. How far an output stands behind its call is unknown. */
  #endOf({ type, tools }: EventFeatures): number {
    const { last } = this.#positions;
    if (tools === null || type !== FEATURE.toolCall) return last[type] ?? -1;
    let end = -1;
    for (const tool of tools) end = Math.max(end, last[tool] ?? -1);
    return end;
  }

  #canHold({ pieces, otherwise }: TextFeatures): boolean {
    for (const feature of otherwise) if ((this.#positions.first[feature] ?? -1) >= 0) return true;
    if (this.#found[pieces] === UNKNOWN)
      this.#found[pieces] = this.#standsIn(this.#pieces[pieces] ?? []) ? FOUND : MISSING;
    return this.#found[pieces] === FOUND;
  }

  #standsIn(pieces: Pieces): boolean {
    for (const families of pieces) if (!hasAny(this.#text, families)) return this.#isEscaped();
    return true;
  }

  #isEscaped(): boolean {
    if (this.#hasEscapes === UNKNOWN) this.#hasEscapes = this.#text.includes('\\u') ? FOUND : MISSING;
    return this.#hasEscapes === FOUND;
  }
}
