/** The question that rules of the policy ask, alone or together with a question that is required anyway. */
import { type AppId, canonicalJsonOf, type PromptDatum, type Proposal, type Reason } from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { ConsentRequest, ConsentRequirement, Coverage } from './consent-requirement.ts';
import { distinctQuotes } from './question-parts.ts';
import { namesPlace } from './recipients.ts';
import { argumentsDatum } from './requirements.ts';

/** The question for an effect: the one that is required anyway, the one that rules ask, or both as one. */
export function requirementOf(request: ConsentRequest): ConsentRequirement {
  const { due, asks, warnings, context, proposal, isAfterText, quote } = request;
  const requirement = due ?? policyRequirement(context, proposal, asks);
  // What a rule asks about is asked about each time.
  const { once: _once, ...plain } = requirement.covers;
  const covers = asks.length > 0 ? plain : requirement.covers;
  const quoted = [...asks, ...warnings].flatMap(({ events }) => quote?.(events) ?? []);
  return {
    ...requirement,
    // Elsewhere the question is what the rules say.
    asks: due === null && proposal.effect !== 'tool-call' ? [] : asks.map(({ message }) => message),
    quotes: distinctQuotes([...(requirement.quotes ?? []), ...quoted]),
    covers: isAfterText ? coverageAfterText(covers, request) : covers,
  };
}

/**
 * Attack: a text gives instructions, the user lets the app look for something for the whole session, and what the text wants
 * sent, paid or deleted is permitted with it; or what the text wants to know stands in the address of a page that is read. What a rule asks about such an action because of a text is permitted once. Looks of
 * the same app are one question: after the tenth of its kind nobody reads any.
 */
function coverageAfterText(covers: Coverage, { due, asks, proposal }: ConsentRequest): Coverage {
  if (asks.length === 0 || proposal.effect !== 'tool-call') return covers;
  const { irreversible, labels } = proposal;
  const mayLeave = labels?.mayLeave === true && namesPlace(proposal.arguments);
  const isLook = !irreversible && labels?.readOnly === true && !labels.outward && !mayLeave;
  const staysHere = !irreversible && labels?.outward === false && labels.mayLeave !== true;
  if (due === null && isLook) {
    const words = `further looks of \`${proposal.app}\` for the same request`;
    const within = { context: proposal.context };
    return { same: within, words, mayLast: false, once: { within, words } };
  }
  return isLook || staysHere ? covers : { ...covers, mayLast: false };
}

function policyRequirement(
  context: Context,
  proposal: Proposal,
  asked: readonly Reason[],
): ConsentRequirement {
  return {
    subject: {
      scope: 'policy',
      from: context.app,
      to: targetOf(proposal),
      what: asked.map((reason) => reason.rule).join(' '),
    },
    question:
      proposal.effect === 'tool-call'
        ? `Let \`${proposal.app}\` do \`${proposal.tool}\`?`
        : asked.map((reason) => reason.message).join('; '),
    data: [policyDatum(proposal)],
    expected: !(proposal.effect === 'tool-call' && proposal.isOffPlan === true),
    warnings: [],
    covers: { same: null, words: 'whatever else this rule asks about between the same apps', mayLast: true },
    flows: [],
  };
}

/** Arguments one by one; texts of answers and outputs as they are. */
function policyDatum(proposal: Proposal): PromptDatum {
  if (proposal.effect === 'tool-call')
    return argumentsDatum(proposal.tool, proposal.arguments, proposal.labels?.identifying ?? null);
  const content = contentOf(proposal);
  const datum = { name: proposal.effect, value: canonicalJsonOf(content) };
  return typeof content === 'string' ? datum : { ...datum, identifying: [] };
}

/** The app that acts, or that gets something. */
function targetOf(proposal: Proposal): AppId | null {
  if ('app' in proposal) return proposal.app;
  return 'to' in proposal ? proposal.to : null;
}

function contentOf(proposal: Exclude<Proposal, { effect: 'tool-call' }>): unknown {
  switch (proposal.effect) {
    case 'tool-output':
    case 'answer':
      return proposal.text;
    case 'app-request':
    case 'app-response':
      return { functionality: proposal.functionality, message: proposal.message };
    case 'data-release':
      return proposal.items.map(({ name, value }) => ({ name, value }));
    case 'egress':
      return { method: proposal.method, host: proposal.host, path: proposal.path };
    case 'model-call':
      return { model: proposal.model };
    default:
      proposal satisfies never;
      return null;
  }
}
