/** What values, templates and conditions of a scenario come to in one context. */
import { isJsonObject, type Json } from '@cordon/core';
import type { BeliefChange, Condition, Reference, Template, Value } from './scenario.ts';

/** What a context shows, as far as a scenario can ask for it. A plain object: copies of it differ in one field. */
export interface View {
  /** The result of a call that succeeded. */
  result(call: string): Json | undefined;
  readonly beliefs: ReadonlyMap<string, Value>;
  /** Changes by the attacks that are obeyed, oldest first. */
  changes(belief: string): readonly BeliefChange[];
  /** The user's texts, then what calls returned, then the rest; each newest first. */
  readonly visible: readonly string[];
  /** All that is shown besides the query itself, as one text. */
  readonly everything: string;
  sees(text: string): boolean;
  obeys(attack: string): boolean;
}

/** Texts longer than this are searched for patterns in their beginning only. */
const MAX_SEARCHED = 100_000;

/** `undefined`: the context does not show it. */
export function resolveValue(value: Value, view: View): Json | undefined {
  switch (value.kind) {
    case 'literal':
      return value.value;
    case 'template':
      return fillTemplate(value.template, view);
    case 'result':
      return resolveResult(value.call, value.path, value.match, view);
    case 'visible':
      return firstGroup(value.pattern, view.visible);
    case 'belief':
      return resolveBelief(value.name, view);
    case 'everything':
      return view.everything === '' ? undefined : view.everything;
    case 'base64': {
      const plain = resolveValue(value.value, view);
      return plain === undefined ? undefined : Buffer.from(printed(plain), 'utf8').toString('base64url');
    }
    case 'list': {
      const items = value.items.map((item) => resolveValue(item, view));
      return items.filter((item) => item !== undefined);
    }
    case 'object':
      return resolveEntries(value.entries, view);
    default:
      value satisfies never;
      return undefined;
  }
}

export function resolveEntries(
  entries: ReadonlyMap<string, Value>,
  view: View,
): Readonly<Record<string, Json>> {
  const resolved = [...entries].flatMap(([key, value]): [string, Json][] => {
    const found = resolveValue(value, view);
    return found === undefined ? [] : [[key, found]];
  });
  return Object.fromEntries(resolved);
}

function resolveResult(
  call: string,
  path: readonly string[],
  match: RegExp | null,
  view: View,
): Json | undefined {
  const found = view.result(call);
  const inside = found === undefined ? undefined : valueAt(found, path);
  if (inside === undefined || match === null) return inside;
  return firstGroup(match, [printed(inside)]);
}

/** A path that leads into a text held behind a reference ends at the reference: the model has nothing better. */
function valueAt(value: Json, path: readonly string[]): Json | undefined {
  const reference = referenceIn(value);
  if (reference !== null) return reference;
  const [key, ...rest] = path;
  if (key === undefined) return withReferences(value);
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const item = /^\d{1,6}$/.test(key) ? items[Number(key)] : undefined;
    return item === undefined ? undefined : valueAt(item, rest);
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
  const inner = value[key];
  return inner === undefined ? undefined : valueAt(inner, rest);
}

function withReferences(value: Json): Json {
  const reference = referenceIn(value);
  if (reference !== null) return reference;
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withReferences(inner)]));
}

/** `{"ref": "$3", "length": 120}` stands for a text that the context may pass on but has not seen. */
export function referenceIn(value: Json): string | null {
  return isJsonObject(value) && typeof value.ref === 'string' && /^\$\d+$/.test(value.ref) ? value.ref : null;
}

function firstGroup(pattern: RegExp, texts: readonly string[]): string | undefined {
  for (const text of texts) {
    const found = pattern.exec(text.slice(0, MAX_SEARCHED));
    const group = found?.[1] ?? found?.[0];
    if (group !== undefined && group.trim() !== '') return group.trim();
  }
  return undefined;
}

function resolveBelief(name: string, view: View): Json | undefined {
  const believed = view.beliefs.get(name);
  if (believed === undefined) return undefined;
  // A belief never stands behind itself.
  const beliefs = new Map([...view.beliefs].filter(([other]) => other !== name));
  const inner: View = { ...view, beliefs };
  let value = resolveValue(believed, inner);
  for (const change of view.changes(name)) {
    if (change.kind === 'set') value = resolveValue(change.value, inner);
    else {
      const number = numberIn(value);
      value = number === undefined ? value : rounded(number + change.amount);
    }
  }
  return value;
}

/** Numbers arrive as numbers or in words, `$51.80`. */
function numberIn(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  const found = typeof value === 'string' ? /-?\d+(?:\.\d+)?/.exec(value) : null;
  return found === null ? undefined : Number(found[0]);
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** `undefined` if a part is not shown; `missing`, if given, replaces such parts. */
export function fillTemplate(template: Template, view: View, missing?: string): string | undefined {
  const parts = template.map((part) => (typeof part === 'string' ? part : filled(part, view)));
  if (missing === undefined && parts.includes(undefined)) return undefined;
  return parts.map((part) => part ?? missing).join('');
}

function filled({ name, path }: Reference, view: View): string | undefined {
  if (!view.beliefs.has(name)) {
    const found = resolveResult(name, path, null, view);
    return found === undefined ? undefined : printed(found);
  }
  const believed = resolveBelief(name, view);
  const inside = believed === undefined ? undefined : valueAt(believed, path);
  return inside === undefined ? undefined : printed(inside);
}

/** As it reads in a sentence. */
function printed(value: Json): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item: Json) => typeof item === 'string')) return value.join(', ');
  return JSON.stringify(value);
}

export function holds(condition: Condition | null, view: View): boolean {
  if (condition === null) return true;
  switch (condition.kind) {
    case 'least':
      return leastOf(condition.of, view) === condition.belief;
    case 'has':
      return resolveValue(condition.value, view) !== undefined;
    case 'matches': {
      const value = resolveValue(condition.value, view);
      return value !== undefined && condition.pattern.test(printed(value).slice(0, MAX_SEARCHED));
    }
    case 'sees':
      return view.sees(condition.text);
    case 'obeys':
      return view.obeys(condition.attack);
    case 'not':
      return !holds(condition.condition, view);
    case 'all':
      return condition.conditions.every((inner) => holds(inner, view));
  }
}

function leastOf(names: readonly string[], view: View): string | null {
  let least: { readonly name: string; readonly number: number } | null = null;
  for (const name of names) {
    const number = numberIn(resolveBelief(name, view));
    if (number !== undefined && (least === null || number < least.number)) least = { name, number };
  }
  return least?.name ?? null;
}
