/** The question that rules of the policy ask, alone or together with a question that is required anyway. */
import { type AppId, canonicalJsonOf, type PromptDatum, type Proposal, type Reason } from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { ConsentRequest, ConsentRequirement } from './consent-requirement.ts';

/** The question for an effect: the one that is required anyway, the one that rules ask, or both as one. */
export function requirementOf(request: Omit<ConsentRequest, 'warnings'>): ConsentRequirement {
  const { due, asks } = request;
  if (due === null) return policyRequirement(request.context, request.proposal, asks);
  const rules = asks.map(({ message }) => `A rule asks: ${message}.`);
  return { ...due, question: [due.question, ...rules].join(' ') };
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
    question: asked.map((reason) => reason.message).join('; '),
    data: [policyDatum(proposal)],
    expected: true,
    warnings: [],
    covers: { same: null, words: 'whatever else this rule asks about between the same apps', mayLast: true },
    flows: [],
  };
}

/** Arguments one by one; texts of answers and outputs as they are. */
function policyDatum(proposal: Proposal): PromptDatum {
  const content = contentOf(proposal);
  const datum = { name: proposal.effect, value: canonicalJsonOf(content) };
  return typeof content === 'string' ? datum : { ...datum, identifying: [] };
}

/** The app that acts, or that gets something. */
function targetOf(proposal: Proposal): AppId | null {
  if ('app' in proposal) return proposal.app;
  return 'to' in proposal ? proposal.to : null;
}

function contentOf(proposal: Proposal): unknown {
  switch (proposal.effect) {
    case 'tool-call':
      return { tool: proposal.tool, arguments: proposal.arguments };
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
