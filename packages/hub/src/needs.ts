/**
 * What the permission model requires, apart from the policy (architecture, "Permissions"; paper, Appendix A-D): a
 * question for what cannot be undone, for what crosses between apps against or beside the plan, and for data that
 * leave the context in which they were learnt. Pure functions: who acts, on what, and what the plan expected.
 *
 * Ring 0.
 */
import {
  type AppId,
  canonicalJson,
  type Expectation,
  expects,
  type Functionality,
  isClosedValue,
  type Json,
  type PromptDatum,
  type ReleasedItem,
  type StepPlan,
} from '@cordon/core';
import type { EgressRequest } from '@cordon/egress';
import type { Context } from './context.ts';
import type { PermissionNeed } from './permission.ts';
import type { HeldText } from './references.ts';

/** What an app's tool is about to be called with, and on whose behalf. */
export interface IntendedCall {
  readonly context: Context;
  readonly app: AppId;
  readonly tool: string;
  /** The tool's name and the functionalities that it serves. */
  readonly uses: readonly string[];
  readonly arguments: Json;
  readonly irreversible: boolean;
  /** Texts of other apps that stand in the arguments. */
  readonly texts: readonly HeldText[];
}

/** The best that the plan says of any of the names under which it may know this use. */
export function expectation(plan: StepPlan, app: AppId, uses: readonly string[]): Expectation {
  const found = uses.map((use) => expects(plan, app, use));
  if (found.includes('expected')) return 'expected';
  return found.includes('app-only') ? 'app-only' : 'unexpected';
}

export function callNeed(plan: StepPlan, call: IntendedCall): PermissionNeed | null {
  const { context, app, tool } = call;
  const fromOthers = call.texts.filter((text) => text.origin !== app);
  if (!call.irreversible && fromOthers.length === 0) return null;
  const how = expectation(plan, app, call.uses);
  const data = [{ name: tool, value: canonicalJson(call.arguments) }];
  const warnings = [...planWarnings(how, context), ...sourceWarnings(fromOthers)];
  if (call.irreversible) {
    return {
      subject: { scope: 'irreversible-action', from: context.app, to: app, what: tool },
      question: `Let \`${app}\` do \`${tool}\`? This cannot be undone.`,
      data,
      expected: how !== 'unexpected',
      warnings,
    };
  }
  return {
    subject: { scope: 'data-release', from: fromOthers[0]?.origin ?? null, to: app, what: tool },
    question: `Give \`${app}\` text that came from ${namesOf(fromOthers)}?`,
    data,
    expected: how !== 'unexpected',
    warnings,
  };
}

/** A request to another app that is served by its own context, or by a tool that can be undone. */
export function requestNeed(
  plan: StepPlan,
  request: {
    readonly context: Context;
    readonly to: AppId;
    readonly functionality: Functionality;
    readonly uses: readonly string[];
    readonly message: Json;
    readonly texts: readonly HeldText[];
    /** Whether a model of the other app will read the message; else a tool is called with it. */
    readonly isReadByModel: boolean;
  },
): PermissionNeed | null {
  const { context, to, functionality, message, texts, isReadByModel } = request;
  const how = expectation(plan, to, request.uses);
  const othersWords = [...context.origins].filter((origin) => origin !== to);
  const carriesNothing = isClosedValue(functionality.request, message) && texts.length === 0;
  // What the plan expects may go without a question if it is of closed types, or if it can only hold the user's words.
  const holdsOthersWords =
    context.isTainted || context.recallsPrivate || othersWords.length + texts.length > 0;
  // Attack: an app's own instructions make its model write instructions to the model of another app.
  const speaksForUser = !holdsOthersWords && !(isReadByModel && context.app !== null);
  if (how !== 'unexpected' && (carriesNothing || speaksForUser)) return null;
  return {
    subject: { scope: 'exchange', from: context.app, to, what: functionality.name },
    question: `Let ${nameOf(context.app)} ask \`${to}\` for \`${functionality.name}\`?`,
    data: [{ name: functionality.name, value: canonicalJson(message) }],
    expected: how !== 'unexpected',
    warnings: [...planWarnings(how, context), ...sourceWarnings(texts.filter(({ origin }) => origin !== to))],
  };
}

/** Facts of the hub's memory for an app's context. */
export function factsNeed(to: AppId | null, items: readonly ReleasedItem[]): PermissionNeed {
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
    warnings: learntElsewhere.map((app) => `you told this to \`${app}\`, and \`${to}\` has not seen it`),
  };
}

/**
 * The first request of an app to a site; the manifest lists the sites, the user lets the data go. Another port than
 * that of https is another answer.
 */
export function egressNeed(app: AppId, request: EgressRequest): PermissionNeed {
  const { site, port, method, host, path, bytes } = request;
  const what = port === HTTPS_PORT ? site : `${site}:${port}`;
  const size = bytes === null || bytes === 0 ? '' : ` with ${bytes} bytes`;
  return {
    subject: { scope: 'egress', from: app, to: null, what },
    question: `Let \`${app}\` connect to \`${what}\`?`,
    data: [{ name: method, value: `${host}${path ?? ''}${size}` }],
    expected: true,
    warnings:
      port === PLAIN_HTTP_PORT ? ['everybody on the way can read and change it: it is not encrypted'] : [],
  };
}

const HTTPS_PORT = 443;
const PLAIN_HTTP_PORT = 80;

/** The text behind a reference, for a context that wants to read it. */
export function openNeed(context: Context, held: HeldText): PermissionNeed {
  return {
    subject: { scope: 'data-release', from: held.origin, to: context.app, what: held.functionality },
    question: `Let the model of ${nameOf(context.app)} read this text from \`${held.origin}\`?`,
    data: [{ name: held.reference, value: held.text }],
    expected: true,
    warnings: held.label.integrity === 'untrusted' ? [FOREIGN_TEXT] : [],
  };
}

const OFF_PLAN = 'this is not part of the plan for your query';
const FOREIGN_TEXT = 'others may have written this text, and it may hold instructions to the model';
const AFTER_OPENED_TEXT = 'the model has read text of another app, and this may be what that text wants';
const AFTER_FOREIGN_TEXT =
  'the model has read text that others may have written, and the plan does not name this action';

function planWarnings(how: Expectation, context: Context): readonly string[] {
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

function sourceWarnings(texts: readonly HeldText[]): readonly string[] {
  return texts.some(({ label }) => label.integrity === 'untrusted')
    ? [`it carries text from ${namesOf(texts)} that others may have written`]
    : [];
}

function namesOf(texts: readonly HeldText[]): string {
  return [...new Set(texts.map(({ origin }) => `\`${origin}\``))].join(' and ');
}

function nameOf(app: AppId | null): string {
  return app === null ? 'the assistant' : `\`${app}\``;
}
