/** What the user typed over the shown data: a new proposal, checked like the first one. */
import {
  type DataRelease,
  failed,
  HUB_LABEL,
  type Json,
  joinLabels,
  type Label,
  ok,
  type PromptEdit,
  type Proposal,
  parseJson,
  type Result,
  USER_LABEL,
} from '@cordon/core';
import { joinedLabel } from '../context/references.ts';

/** A proposal with the user's own content. */
export interface Revised<P extends Proposal> {
  readonly proposal: P;
  readonly label: Label;
}

/** What the edits make of a proposal, or what is wrong with them. */
export type Revise<P extends Proposal> = (edits: readonly PromptEdit[]) => Result<Revised<P>, string>;

/** So many characters of the old text in the new one, and the new one is not the user's alone. */
const COPIED = 8;
/** Longer texts are not compared: what replaces them keeps their label. */
const MOST_COMPARED = 64 * 1024;

/**
 * Attack: a user strikes one line out of a text of others, and what is left counts as the user's own words. Only what
 * shares nothing with the old text is.
 */
export function labelOfEdit(before: string, after: string, label: Label): Label {
  return sharesText(before.toLowerCase(), after.toLowerCase()) ? joinLabels(USER_LABEL, label) : USER_LABEL;
}

function sharesText(before: string, after: string): boolean {
  if (before.length + after.length > 2 * MOST_COMPARED) return true;
  if (before.trim() === '' || after.trim() === '') return false;
  if (before.length < COPIED || after.length < COPIED)
    return before.includes(after) || after.includes(before);
  const pieces = new Set<string>();
  for (let at = 0; at + COPIED <= before.length; at++) pieces.add(before.slice(at, at + COPIED));
  for (let at = 0; at + COPIED <= after.length; at++)
    if (pieces.has(after.slice(at, at + COPIED))) return true;
  return false;
}

/** Items of a release, each with what the user typed for its name. */
export function reviseRelease(proposal: DataRelease): Revise<DataRelease> {
  return (edits) => {
    const unknown = edits.find(({ name }) => !proposal.items.some((item) => item.name === name));
    if (unknown !== undefined) return failed('it is for something that is not released');
    const items = proposal.items.map((item) => {
      const edit = edits.find(({ name }) => name === item.name);
      if (edit === undefined) return item;
      const label = labelOfEdit(item.value, edit.value, item.label);
      return { ...item, value: edit.value, label };
    });
    return ok({ proposal: { ...proposal, items }, label: joinedLabel(HUB_LABEL, items) });
  };
}

/** A message as the user typed it: JSON, or the text itself where the message is one. */
export function reviseMessage(
  before: Json,
  edits: readonly PromptEdit[],
  check: (message: Json) => Result<Json, string>,
): Result<Json, string> {
  const [edit] = edits;
  if (edit === undefined || edits.length > 1) return failed('there is one message');
  const parsed = parseJson(edit.value);
  if (parsed.ok) return check(parsed.value);
  return typeof before === 'string' ? check(edit.value) : failed('it is no JSON');
}
