/**
 * What several questions share: whether the plan expects an effect, warnings and notes, and whose data would get to whom.
 */
import {
  type AppId,
  canonicalJson,
  dependsOnEachOther,
  type Expectation,
  expects,
  type Json,
  type StepPlan,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { HeldText } from '../context/references.ts';
import type { Flow } from './consent-requirement.ts';
import { type Recipient, recipientsIn } from './recipients.ts';

/** Where a value may stand that a model names. */
export interface KnownValues {
  /** In the user's own words. */
  readonly isUsers: (value: string) => boolean;
  /** As it is, in what an app returned in this query. */
  readonly isReturned: (value: string) => boolean;
}

/** The best that the plan says of any of the names under which it may know this use. */
export function expectation(plan: StepPlan, app: AppId, uses: readonly string[]): Expectation {
  const found = uses.map((use) => expects(plan, app, use));
  if (found.includes('expected')) return 'expected';
  return found.includes('app-only') ? 'app-only' : 'unexpected';
}

/**
 * The same of a use that a context asks for. Attack: two apps of a plan work beside each other, and one asks the other for
 * what the plan wants of it for somebody else.
 */
export function expectationFrom(
  plan: StepPlan,
  { app: from }: Context,
  to: AppId,
  uses: readonly string[],
): Expectation {
  return from === null || dependsOnEachOther(plan, from, to) ? expectation(plan, to, uses) : 'unexpected';
}

export function planWarnings(how: Expectation, context: Context): readonly string[] {
  switch (how) {
    case 'expected':
      return context.hasOpened ? [AFTER_OPENED_TEXT] : [];
    case 'app-only':
      return context.isTainted ? [AFTER_FOREIGN_TEXT] : [];
    case 'unexpected':
      return [OFF_PLAN];
    default:
      how satisfies never;
      return [OFF_PLAN];
  }
}

export function sourceWarnings(texts: readonly HeldText[]): readonly string[] {
  return texts.some(({ label }) => label.integrity === 'untrusted')
    ? [`it carries text from ${namesOf(texts)} that others may have written`]
    : [];
}

export function privateOrigins(texts: readonly HeldText[]): readonly AppId[] {
  return texts.flatMap(({ origin, label }) => (label.confidentiality === 'private' ? [origin] : []));
}

/** Whose private data would get to whom, where the plan does not say so. */
export function privacyWarnings(
  plan: StepPlan,
  sources: readonly AppId[],
  to: AppId | null,
  uses: readonly string[] | null,
): readonly string[] {
  if (to === null) return [];
  const unnamed = [...new Set(sources)].filter((from) => from !== to && !namesFlow(plan, from, to, uses));
  return unnamed.length === 0
    ? []
    : [`this can give private data of ${listed(unnamed)} to \`${to}\`, which the plan does not mention`];
}

/** Whether a step of `to` waits for the result of a step of `from`. Counts only steps that use one of `uses`; null: all steps. */
function namesFlow({ steps }: StepPlan, from: AppId, to: AppId, uses: readonly string[] | null): boolean {
  const given = new Set(steps.flatMap(({ id, app }) => (app === from ? [id] : [])));
  return steps.some(
    (step) =>
      step.app === to &&
      step.after.some((before) => given.has(before)) &&
      (uses === null || step.uses.some((use) => uses.includes(use))),
  );
}

/** Recipients, parted by whether the user named them. */
interface KnownRecipients {
  readonly strangers: readonly (Recipient & { readonly isReturned: boolean })[];
  readonly users: readonly Recipient[];
  readonly isAll: boolean;
}

export function recipientsOf(args: Json, { isUsers, isReturned }: KnownValues): KnownRecipients {
  const { named: found, isAll } = recipientsIn(args);
  const isStranger = ({ value }: Recipient) => !isUsers(value);
  return {
    strangers: found
      .filter(isStranger)
      .map((stranger) => ({ ...stranger, isReturned: isReturned(stranger.value) })),
    users: found.filter((recipient) => !isStranger(recipient)),
    isAll,
  };
}

/**
 * Attack: a mail says "also send a copy to x@evil" in a way that no filter reads, and the user has asked to send another
 * mail: the plan expects the call, and only its recipient is not the user's, and stands in nothing that was returned. One
 * that stands there as it is may be the account on the bill that the user wants to be paid: it is pointed out.
 */
export function strangersWarnings(
  context: Context,
  { strangers, isAll }: KnownRecipients,
): readonly string[] {
  if (!mayBeOthersWish(context)) return [];
  const nowhere = strangers.filter(({ isReturned }) => !isReturned);
  const listed = nowhere.slice(0, MOST_LISTED).map((stranger) => `${named(stranger)} is not from your words`);
  return isAll && nowhere.length <= MOST_LISTED ? listed : [...listed, MORE_RECIPIENTS];
}

export function strangersNotes(context: Context, { strangers }: KnownRecipients): readonly string[] {
  if (!mayBeOthersWish(context)) return [];
  return strangers
    .filter(({ isReturned }) => isReturned)
    .slice(0, MOST_LISTED)
    .map((stranger) => `${named(stranger)} is not from your words, but from what an app returned`);
}

function mayBeOthersWish(context: Context): boolean {
  return context.isTainted || context.recallsPrivate || context.knowsOthersValues;
}

export function flowsOf(sources: readonly AppId[], to: AppId | null): readonly Flow[] {
  if (to === null) return [];
  return [...new Set(sources)]
    .filter((from) => from !== to)
    .map((from) => ({
      from,
      to: `app ${to}`,
      words: `\`${to}\` was never permitted to get anything from \`${from}\``,
    }));
}

export function factFlow(from: AppId | null, to: AppId, name: string): Flow {
  return {
    from,
    to: `fact ${name} for ${to}`,
    words: `\`${to}\` was never permitted to know your \`${name}\``,
  };
}

export function recipientFlow(app: AppId, tool: string, recipient: Recipient): Flow {
  return {
    from: app,
    to: `${tool} ${canonicalJson([recipient.key, recipient.value])}`,
    words: `\`${tool}\` was never permitted with ${named(recipient)}`,
  };
}

function named({ key, value }: Recipient): string {
  return `\`${value.slice(0, MOST_NAMED)}\` in \`${key.slice(0, MOST_NAMED)}\``;
}

export function namesOf(texts: readonly HeldText[]): string {
  return listed([...new Set(texts.map(({ origin }) => origin))]);
}

export function listed(apps: readonly AppId[]): string {
  return apps.map((app) => `\`${app}\``).join(' and ');
}

export function nameOf(app: AppId | null): string {
  return app === null ? 'the assistant' : `\`${app}\``;
}

export const OFF_PLAN = 'this is not part of the plan for your query';

const AFTER_OPENED_TEXT = 'the model has read text of another app, and this may be what that text wants';
const AFTER_FOREIGN_TEXT =
  'the model has read text that others may have written, and the plan does not name this action';
const MORE_RECIPIENTS =
  'it names more recipients than are listed here, and they may not come from your words';

/** Characters of a name or value of others in a sentence of ours. */
export const MOST_NAMED = 80;

/** Recipients of one question, each with a line. */
export const MOST_LISTED = 20;
