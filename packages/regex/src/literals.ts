/**
 * What a pattern says about texts without running it: which texts it matches, if these are few, which texts must
 * occur wherever it matches, and whether it can match at the start only.
 */
import { type CodePointSet, sizeOf, union } from './code-point-set.ts';
import type { Node } from './syntax-tree.ts';

export interface Literals {
  /** Of each of these, at least one text occurs in each match. */
  readonly required: readonly Alternatives[];
  readonly isAnchored: boolean;
}

/** Texts of which one occurs. */
export type Alternatives = readonly string[];

/** Searching for a fixed text is many times faster than any automaton. */
export function occursIn(texts: Alternatives, text: string): boolean {
  for (const wanted of texts) if (text.includes(wanted)) return true;
  return false;
}

/** From the most frequent on, in prose and in JSON; what is not among them is rare. */
const FREQUENT = ' etaoinsrhldcumfpgywb.,-"\n0123456789_:/vkISTAECxRO';
/** An end of a text that is shorter says too little. */
const LEAST_ANCHOR = 5;

/**
 * Where the end of a text begins that is looked for instead, because it begins with a rarer character: a search stops
 * at each character that is its first, so `ignore it` costs ten times what `gnore it` does.
 */
export function anchorOf(text: string): number {
  let anchor = 0;
  for (let at = 1; at <= text.length - LEAST_ANCHOR; at++)
    if (rarity(text.charAt(at)) > rarity(text.charAt(anchor))) anchor = at;
  return anchor;
}

function rarity(character: string): number {
  const rank = FREQUENT.indexOf(character);
  return rank < 0 ? FREQUENT.length : rank;
}

/** What to look for to rule out that one of the texts occurs: where one of them does, one of these does. */
export function anchorsOf(texts: Alternatives): Alternatives {
  return [...new Set(texts.map((text) => text.slice(anchorOf(text))))];
}

/** Texts that one part of a pattern is taken for. */
export const MAX_TEXTS = 8;
/** More alternatives cost more to look for than they save. */
const MAX_ALTERNATIVES = 24;
/** Searching costs up to the product of both lengths where text and wanted text are made for it. */
const MAX_JOINED = 64;
/** A part of a text says nearly as much as the text, and bounds what looking for it in a hostile text costs. */
const MAX_LENGTH = 32;

export function literalsOf(root: Node): Literals {
  return { required: requiredOf(knownOf(root)), isAnchored: isAnchored(root) };
}

/** All texts that match, in the order in which Python tries them; null: too many, too long, or not only these. */
export function textsOf(root: Node): Alternatives | null {
  return looksAround(root) ? null : knownOf(root).exact;
}

interface Known {
  /** All texts that match, zero-width parts left out, those that Python tries first at the front; null: too many or too long. */
  readonly exact: readonly string[] | null;
  /** Of each of these, one occurs in each match. */
  readonly required: readonly Alternatives[];
}

const NOTHING: Known = { exact: null, required: [] };
const EMPTY: Known = { exact: [''], required: [] };

/** Each is a search through the whole text, so only those that say most are kept. */
const MAX_REQUIRED = 3;

function requiredOf({ exact, required }: Known): readonly Alternatives[] {
  return strongest(exact === null ? required : [...required, exact]);
}

function strongest(all: readonly Alternatives[]): readonly Alternatives[] {
  const sorted = all.filter((texts) => strength(texts) > 0).sort((a, b) => strength(b) - strength(a));
  const chosen: Alternatives[] = [];
  for (const texts of sorted) {
    if (chosen.length === MAX_REQUIRED) break;
    const short = texts.map((text) => text.slice(0, MAX_LENGTH));
    // What a part of a pattern says, the whole may say again.
    if (!chosen.some((other) => isSame(other, short))) chosen.push(short);
  }
  return chosen;
}

function isSame(texts: Alternatives, others: Alternatives): boolean {
  return texts.length === others.length && texts.every((text, at) => text === others[at]);
}

/** Long texts occur rarely; several of them more often than one. */
function strength(texts: Alternatives): number {
  if (texts.length === 0 || texts.length > MAX_ALTERNATIVES) return 0;
  return texts.reduce((least, text) => Math.min(least, text.length), MAX_LENGTH);
}

function knownOf(node: Node): Known {
  switch (node.kind) {
    case 'set':
      return { exact: membersOf(node.set), required: surrogatesOf(node.set) };
    case 'assertion':
    case 'look':
      return EMPTY;
    case 'group':
    case 'atomic':
      return knownOf(node.body);
    case 'sequence':
      return sequenceKnown(node.items.map(knownOf));
    case 'choice':
      return choiceKnown(node.branches.map(knownOf));
    case 'repeat':
      return repeatKnown(node);
    case 'reference':
    case 'conditional':
      return NOTHING;
  }
}

function repeatKnown({ body, min, max, mode }: Extract<Node, { kind: 'repeat' }>): Known {
  if (max === 0) return EMPTY;
  const known = knownOf(body);
  if (max > 1) return { exact: null, required: min === 0 ? [] : requiredOf(known) };
  return min === 1 ? known : choiceKnown(mode === 'lazy' ? [EMPTY, known] : [known, EMPTY]);
}

/** The few characters of a set as texts; null: too many, or halves of characters. */
function membersOf(set: CodePointSet): readonly string[] | null {
  if (sizeOf(set) > MAX_TEXTS) return null;
  const found: string[] = [];
  for (let at = 0; at < set.length; at += 2)
    for (let one = set[at] ?? 0; one <= (set[at + 1] ?? 0); one++) found.push(String.fromCodePoint(one));
  // Two halves side by side would become one character, which the pattern does not mean.
  return found.every((text) => text.isWellFormed()) ? found : null;
}

function sequenceKnown(items: readonly Known[]): Known {
  let exact: readonly string[] | null = [''];
  let run: readonly string[] = [''];
  const required: Alternatives[] = [];
  for (const item of items) {
    const longer = item.exact === null ? null : joined(run, item.exact);
    if (longer === null) {
      exact = null;
      required.push(run, ...item.required);
      run = item.exact ?? [''];
    } else run = longer;
  }
  if (exact !== null) exact = run;
  return { exact, required: strongest([...required, run]) };
}

/** What texts with others behind them come to; null: too many or too long. */
export function joined(left: Alternatives, right: Alternatives): Alternatives | null {
  if (left.length * right.length > MAX_TEXTS) return null;
  const all = left.flatMap((first) => right.map((second) => first + second));
  return all.some((text) => text.length > MAX_JOINED) ? null : all;
}

function choiceKnown(branches: readonly Known[]): Known {
  const texts = branches.flatMap((branch) => branch.exact ?? []);
  const isExact = branches.every((branch) => branch.exact !== null) && texts.length <= MAX_TEXTS;
  const required = branches.map((branch) => requiredOf(branch)[0] ?? null);
  const isKnown = required.every((one) => one !== null);
  return { exact: isExact ? texts : null, required: isKnown ? [required.flat()] : [] };
}

/** Characters beyond the basic plane are pairs, and those of one script share their first half. */
function surrogatesOf(set: CodePointSet): readonly Alternatives[] {
  const halves = new Set<string>();
  for (let at = 0; at < set.length && halves.size <= MAX_TEXTS; at += 2) {
    const [first = 0, last = 0] = [set[at], set[at + 1]];
    if (first < 0x10000 || last - first > MAX_TEXTS * 0x400) return [];
    for (let one = first; one <= last; one += 0x400) halves.add(String.fromCodePoint(one).charAt(0));
    halves.add(String.fromCodePoint(last).charAt(0));
  }
  return halves.size > 0 && halves.size <= MAX_TEXTS ? [[...halves]] : [];
}

/** Whether what stands before or behind a match matters for it. */
export function looksAround(node: Node): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'sequence':
      return node.items.some(looksAround);
    case 'choice':
      return node.branches.some(looksAround);
    case 'group':
    case 'repeat':
      return looksAround(node.body);
    default:
      return true;
  }
}

function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.at === 'start';
    case 'group':
    case 'atomic':
      return isAnchored(node.body);
    case 'sequence':
      return node.items.some(
        (item, index) => isAnchored(item) && node.items.slice(0, index).every(isZeroWidth),
      );
    case 'choice':
      return node.branches.every(isAnchored);
    case 'repeat':
      return node.min > 0 && isAnchored(node.body);
    default:
      return false;
  }
}

/** With which characters a match can begin; null: with any, or it can be empty. */
export function firstOf(node: Node): CodePointSet | null {
  if (node.least === 0) return null;
  switch (node.kind) {
    case 'set':
      return node.set;
    case 'group':
    case 'atomic':
    case 'repeat':
      return firstOf(node.body);
    case 'choice':
      return firstOfAny(node.branches);
    case 'sequence': {
      const end = node.items.findIndex((item) => item.least > 0);
      return firstOfAny(node.items.slice(0, end + 1).filter((item) => item.most > 0));
    }
    default:
      return null;
  }
}

function firstOfAny(nodes: readonly Node[]): CodePointSet | null {
  const firsts = nodes.map((node) => firstOf(node.least === 0 && node.kind === 'repeat' ? node.body : node));
  return firsts.every((first) => first !== null) ? union(firsts.flat()) : null;
}

function isZeroWidth(node: Node): boolean {
  return node.most === 0;
}
