/**
 * Hiding the parts of a trace that findings are about.
 *
 * No decision depends on it.
 */
import { isJsonObject, type Json, parseJson } from '@cordon/core';

/**
 * A copy of `trace`, a list or an object around one as `readTrace` takes them, in which each `path:start-end` of `ranges` that leads into a text is replaced by
 * `replace(text)`; ranges without offsets, and those that lead nowhere, change nothing. Arguments that are JSON in
 * a string are opened for it. Offsets are those of the original, in code points, and may overlap. Paths begin at
 * `trace`: of an object around a list of messages, give the list.
 */
export function mask(
  trace: Json,
  ranges: readonly string[],
  replace: (text: string) => string = (text) => '*'.repeat([...text].length),
): Json {
  const root: MaskTree = { children: new Map(), spans: [] };
  for (const range of ranges) add(root, range);
  const list = isJsonObject(trace) ? WRAPPERS.find((key) => Array.isArray(trace[key])) : undefined;
  if (list === undefined || !isJsonObject(trace)) return masked(trace, root, replace);
  // Paths into a wrapped list begin at the list, all others at the object (docs/policy/traces.md).
  const inside: MaskTree = { children: new Map(), spans: [] };
  const outside: MaskTree = { children: new Map(), spans: [] };
  for (const [key, child] of root.children) (/^\d+$/.test(key) ? inside : outside).children.set(key, child);
  const whole = masked(trace, outside, replace);
  return isJsonObject(whole) ? { ...whole, [list]: masked(whole[list] ?? null, inside, replace) } : whole;
}

/** Where logs keep their list. */
const WRAPPERS = ['messages', 'contents', 'input'];

/** Keys in a path; no reader of traces goes deeper. */
const MAX_KEYS = 1_000;

interface MaskTree {
  readonly children: Map<string, MaskTree>;
  readonly spans: { readonly start: number; readonly end: number }[];
}

function add(root: MaskTree, range: string): void {
  const found = /^(.*):(\d+)-(\d+)$/s.exec(range);
  if (found === null) return;
  const keys = (found[1] ?? '').split('.');
  if (keys.length > MAX_KEYS) return;
  let tree = root;
  for (const key of keys) {
    let child = tree.children.get(key);
    if (child === undefined) {
      child = { children: new Map(), spans: [] };
      tree.children.set(key, child);
    }
    tree = child;
  }
  tree.spans.push({ start: Number(found[2]), end: Number(found[3]) });
}

function masked(value: Json, tree: MaskTree, replace: (text: string) => string): Json {
  if (typeof value === 'string') {
    return tree.children.size === 0 ? maskedText(value, tree, replace) : maskedJson(value, tree, replace);
  }
  if (tree.children.size === 0) return value;
  if (isJsonObject(value)) return Object.fromEntries(maskedEntries(Object.entries(value), tree, replace));
  if (!Array.isArray(value)) return value;
  return maskedEntries([...value.entries()], tree, replace).map(([, item]) => item);
}

/** A key may hold dots, so a path can mean several places: the longest key that the tree knows is taken. */
function maskedEntries<K extends string | number>(
  entries: readonly (readonly [K, Json])[],
  tree: MaskTree,
  replace: (text: string) => string,
): [K, Json][] {
  return entries.map(([key, inner]) => {
    const child = String(key)
      .split('.')
      .reduce<MaskTree | undefined>((at, part) => at?.children.get(part), tree);
    return [key, child === undefined ? inner : masked(inner, child, replace)];
  });
}

function maskedJson(text: string, tree: MaskTree, replace: (text: string) => string): string {
  const parsed = parseJson(text);
  return parsed.ok ? JSON.stringify(masked(parsed.value, tree, replace)) : text;
}

/** Overlapping ranges are one: what two findings hide is hidden whole. */
function maskedText(text: string, { spans }: MaskTree, replace: (text: string) => string): string {
  if (spans.length === 0) return text;
  const points = [...text];
  const out: string[] = [];
  let at = 0;
  for (const { start, end } of joined(spans)) {
    out.push(points.slice(at, start).join(''), replace(points.slice(start, end).join('')));
    at = end;
  }
  return out.join('') + points.slice(at).join('');
}

function joined(spans: MaskTree['spans']): MaskTree['spans'] {
  const result: { start: number; end: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}
