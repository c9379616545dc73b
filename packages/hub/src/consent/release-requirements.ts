/**
 * The questions before data leave the context in which they were learnt: facts, data that an app asks for, the planner's task, and
 * the text behind a reference.
 */
import {
  type AppId,
  canonicalJson,
  type DataKind,
  type JsonObject,
  type JsonSchema,
  labelOfData,
  type PromptDatum,
  type ReleasedItem,
  type StepPlan,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { DelegatedCall } from '../context/delegated-calls.ts';
import type { HeldText } from '../context/references.ts';
import type { ConsentRequirement } from './consent-requirement.ts';
import {
  expectation,
  factFlow,
  flowsOf,
  MOST_LISTED,
  MOST_NAMED,
  nameOf,
  namesOf,
  OFF_PLAN,
  privacyWarnings,
  privateOrigins,
  shortened,
} from './question-parts.ts';

/** Facts that the user stated, for an app's context. */
export function factsRequirement(to: AppId | null, items: readonly ReleasedItem[]): ConsentRequirement {
  const requirement = memoryRequirement(to, items);
  return { ...requirement, data: requirement.data.map((datum) => ({ ...datum, isUsers: true })) };
}

/** What the hub's memory holds, for an app's context. */
export function memoryRequirement(to: AppId | null, items: readonly ReleasedItem[]): ConsentRequirement {
  const learntElsewhere = [
    ...new Set(items.flatMap(({ origin }) => (origin === null || origin === to ? [] : [origin]))),
  ];
  return {
    subject: {
      scope: 'data-release',
      from: null,
      to,
      what: items
        .map(({ name }) => name)
        .sort()
        .join(', '),
    },
    question: `Share this with ${nameOf(to)}?`,
    data: items.map(({ name, value }): PromptDatum => ({ name, value })),
    expected: true,
    warnings: learntElsewhere.map((app) => `you told this to \`${app}\`, but not to \`${to}\``),
    covers: {
      same: null,
      words: 'the same facts again, with the values that they have by then',
      mayLast: true,
    },
    flows:
      to === null
        ? []
        : items.flatMap(({ origin, name }) => (origin === to ? [] : [factFlow(origin, to, name)])),
  };
}

/** Data of one kind that an app asks for, and what the hub knows of them; null: nothing. */
export interface RequestedField {
  readonly kind: DataKind;
  readonly known: ReleasedItem | null;
}

/**
 * Data that an app asks for during its turn: as for facts, with a field for each that the hub does not know. Attack: a text that
 * the model has read says what it should ask for. `uses`: names under which the plan may know what it is for; null: the plan has
 * made it.
 */
export function dataRequestRequirement(
  plan: StepPlan,
  asked: {
    readonly context: Context;
    /** The tool or offer that the data are for. */
    readonly purpose: string;
    readonly uses: readonly string[] | null;
    readonly fields: readonly RequestedField[];
  },
): ConsentRequirement {
  const { context, fields, uses } = asked;
  const { app } = context;
  const facts = factsRequirement(
    app,
    fields.flatMap(({ known }) => known ?? []),
  );
  const names = fields.map(({ kind }) => labelOfData(kind));
  const unknown = fields.filter(({ known }) => known === null).map(({ kind }) => labelOfData(kind));
  const isExpected = app === null || uses === null || expectation(plan, app, uses) !== 'unexpected';
  const purpose = asked.purpose.slice(0, MOST_NAMED);
  return {
    ...facts,
    subject: { ...facts.subject, what: names.toSorted().join(', ') },
    question: `Share this with ${nameOf(app)}? It says that it needs this for \`${purpose}\`.`,
    data: fields.map(
      ({ kind, known }): PromptDatum => ({
        name: labelOfData(kind),
        value: known?.value ?? '',
        field: kind,
      }),
    ),
    expected: isExpected,
    warnings: [
      ...(isExpected ? [] : [OFF_PLAN]),
      ...(context.isTainted ? [AFTER_READING] : []),
      ...facts.warnings,
    ],
    // What the user types is for this time.
    covers: { ...facts.covers, mayLast: unknown.length === 0 },
    flows: [...facts.flows, ...(app === null ? [] : unknown.map((name) => factFlow(null, app, name)))],
  };
}

/** The planner's task, where it tells an app what the user said to others. Asked each time: the next one says something else. */
export function taskRequirement(to: AppId, item: ReleasedItem): ConsentRequirement {
  return {
    ...memoryRequirement(to, [item]),
    warnings: [`you said this in an earlier query, but not to \`${to}\`; the planner wrote this text`],
    covers: { same: item.value, words: 'nothing: the same words are asked about again', mayLast: false },
    flows: [],
  };
}

/** The text behind a reference, for a context that wants to read it; `foreign`: as a text of each other app whose words it may hold. */
export function openRequirement(
  plan: StepPlan,
  context: Context,
  held: HeldText,
  foreign: readonly HeldText[],
): ConsentRequirement {
  const texts = foreign.length === 0 ? [held] : foreign;
  const origins = texts.map(({ origin }) => origin);
  const from = origins[0] ?? held.origin;
  return {
    subject: { scope: 'data-release', from, to: context.app, what: held.functionality },
    question: `Let the model of ${nameOf(context.app)} read this text from ${namesOf(texts)}?`,
    data: [{ name: held.reference, value: held.text }],
    expected: true,
    warnings: [
      ...(held.label.integrity === 'untrusted' ? [FOREIGN_TEXT] : []),
      ...privacyWarnings(plan, privateOrigins(texts), context.app, null),
    ],
    covers: {
      // Attack: an app that may be read places a text of one that may not.
      same: origins.toSorted(),
      words: `other texts that \`${held.origin}\` returns for \`${held.functionality}\`${
        origins.length > 1 ? ' and that may hold words of the same apps' : ''
      }`,
      mayLast: true,
    },
    flows: flowsOf(origins, context.app),
  };
}

/** What a reader tells of a private text of others, where it is more than a few values. */
export function readRequirement(
  plan: StepPlan,
  context: Context,
  held: HeldText,
  form: JsonSchema,
): ConsentRequirement {
  const opened = openRequirement(plan, context, held, []);
  return {
    ...opened,
    subject: { ...opened.subject, what: `read ${held.functionality}` },
    question: `Let a reader tell the model of ${nameOf(context.app)} these values of this text from ${namesOf([held])}?`,
    data: [...opened.data, { name: 'values', value: canonicalJson(form) }],
    // What comes out is no text: it can hold no instructions, but it is as private.
    warnings: privacyWarnings(plan, privateOrigins([held]), context.app, null),
    covers: {
      ...opened.covers,
      words: `other values, and other texts that \`${held.origin}\` returns for \`${held.functionality}\``,
    },
  };
}

/** What a text asks for that the user asked to follow. */
export interface AskedByText {
  readonly app: AppId;
  /** The tool that returned the text. */
  readonly tool: string;
  /** Whether the query says this. */
  readonly isInQuery: (value: string) => boolean;
  readonly calls: readonly DelegatedCall[];
  /** Those of their tools that cannot be undone. */
  readonly lasting: readonly string[];
}

/**
 * All calls that a text asks for, in one question. There is always a warning: a user who allows every question without one has not
 * read the lines, and one of them may be an attacker's.
 */
export function delegationRequirement({
  app,
  tool,
  isInQuery,
  calls,
  lasting,
}: AskedByText): ConsentRequirement {
  const value = Object.fromEntries(calls.map((call, index) => [`${index + 1} ${call.tool}`, call.arguments]));
  const values = calls.flatMap((call) => Object.values(call.arguments).flat());
  const unsaid = [...new Set(values.map(String))].filter((one) => !isInQuery(one));
  const number = calls.length === 1 ? 'a call' : `${calls.length} calls`;
  const cannotBeUndone = lasting.map((name) => `\`${name}\``).join(' and ');
  return {
    subject: { scope: 'delegation', from: app, to: app, what: tool },
    question: `Let \`${app}\` make ${number} that the text of \`${tool}\` asks for?`,
    data: [{ name: 'calls', value: canonicalJson(value), identifying: Object.keys(value) }],
    expected: true,
    warnings: [
      `others may have written this text${unsaid.length === 0 ? '' : `, and you did not say ${some(unsaid)}`}`,
    ],
    notes: [
      ...(lasting.length === 0
        ? []
        : [`${cannotBeUndone} cannot be undone: this yes alone does not allow it`]),
      'you are asked about each other call that the text may ask for',
    ],
    covers: { same: value, words: 'nothing else', mayLast: false },
    flows: [],
  };
}

/** The first of these values, each cut. */
function some(values: readonly string[]): string {
  const named = values
    .slice(0, MOST_LISTED)
    .map((one) => `\`${shortened(one.slice(0, MOST_OF_VALUE))}${one.length > MOST_OF_VALUE ? '…' : ''}\``);
  const more = values.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/** A call that a text which the query follows may ask for, and that the user has not allowed. */
export function followedRequirement(
  context: Context,
  app: AppId,
  tool: string,
  args: JsonObject,
  datum: PromptDatum,
): ConsentRequirement {
  return {
    subject: { scope: 'delegation', from: app, to: app, what: tool },
    question: `Let \`${app}\` do \`${tool}\`?`,
    data: [datum],
    expected: false,
    warnings: [MAY_BE_ASKED_BY_TEXT],
    covers: {
      same: args,
      words: 'nothing else',
      mayLast: false,
      once: {
        within: { context: context.id, tool, args },
        words: 'the same call again, for the same request',
      },
    },
    flows: [],
  };
}

export const MAY_BE_ASKED_BY_TEXT =
  'a text that you asked to follow may ask for this, and you have not allowed it';
/** Characters of a value in a warning that has to fit a line or two. */
const MOST_OF_VALUE = 24;
const FOREIGN_TEXT = 'others may have written this text, and it may hold instructions to the model';
const AFTER_READING =
  'the model has read text that others may have written, and this may be what that text asks for';
