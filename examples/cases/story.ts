/** A trace as a story of a few lines, for the two columns of the demo: plan, calls, questions, answer. */

import { argumentsInLine } from '@cordon/console/text';
import type { Event, EventId } from '@cordon/core';
import type { StoryLine } from './beside.ts';

/** Characters. */
const MOST_ARGUMENTS = 90;

export function storyOf(events: readonly Event[]): readonly StoryLine[] {
  const proposals = new Map(events.map((event) => [event.id, event]));
  const denied = new Set(
    events.flatMap((event) => ('verdict' in event && event.verdict === 'deny' ? event.causes : [])),
  );
  return events.flatMap((event) => linesOf(event, denied, proposals));
}

function linesOf(
  event: Event,
  denied: ReadonlySet<EventId>,
  proposals: ReadonlyMap<EventId, Event>,
): readonly StoryLine[] {
  switch (event.kind) {
    case 'plan.made':
      return [
        plain(
          `plan: ${event.plan.steps.map(({ app, uses }) => `${app ?? 'no app'}${uses.length === 0 ? '' : ` for ${uses.join(', ')}`}`).join('; ')}`,
        ),
      ];
    case 'permission.asked': {
      const { question, asks = [], warnings } = event.prompt;
      return [
        plain(`asks: ${question}`),
        ...asks.map((rule) => plain(`a rule asks: ${rule}`)),
        ...warnings.map((warning): StoryLine => ({ text: `warning: ${warning}`, style: 'warn' })),
      ];
    }
    case 'permission.answered':
      return [{ text: `the user says ${event.allow ? 'yes' : 'no'}`, style: event.allow ? 'plain' : 'good' }];
    case 'tool-call.proposed':
      return denied.has(event.id)
        ? []
        : [plain(`${event.app}: ${event.tool} ${argumentsInLine(event.arguments, MOST_ARGUMENTS)}`)];
    case 'answer.proposed':
      return denied.has(event.id) ? [] : [plain(`answer: ${short(event.text, 240)}`)];
    default:
      return 'verdict' in event && event.verdict === 'deny'
        ? [stopped(proposals.get(event.causes[0] ?? event.id))]
        : [];
  }
}

function stopped(proposal: Event | undefined): StoryLine {
  switch (proposal?.kind) {
    case 'tool-call.proposed':
      return { text: `stopped: ${proposal.app} ${proposal.tool}`, style: 'good' };
    case 'app-request.proposed':
      return { text: `stopped: a request for ${proposal.functionality} at ${proposal.to}`, style: 'good' };
    case 'data-release.proposed':
      return { text: `withheld: ${proposal.items.map(({ name }) => name).join(', ')}`, style: 'good' };
    default:
      return { text: 'stopped', style: 'good' };
  }
}

function plain(text: string): StoryLine {
  return { text, style: 'plain' };
}

function short(text: string, length = 90): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
