/**
 * Scripts for the fake provider: a model that plans and works as told, and one that knows nothing of plans. And what
 * the tests ask of the requests that it got. Test code.
 */
import type {
  DelegationInput,
  PlannerAnswer,
  PlannerInput,
  PlannerStep,
  ToolPlannerInput,
} from '@cordon/core';
import type {
  FakeAnswer,
  FakeChatRequest,
  FakeCompletion,
  FakeScript,
} from '@cordon/testkit/fake-openai/server.ts';

/** What the planner was asked; null for every other request. */
export function plannerInputOf(request: FakeChatRequest): PlannerInput | null {
  const asked = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const isOther = toolPlannerInputOf(request) !== null || delegationInputOf(request) !== null;
  if (request.tools.length > 0 || !asked.startsWith('{"query":') || isOther) return null;
  return JSON.parse(asked);
}

/** What the reader of a text that the user asked to follow was asked; null for every other request. */
export function delegationInputOf(request: FakeChatRequest): DelegationInput | null {
  const asked = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const isOne = request.tools.length === 0 && /^\{"query":"(?:[^"\\]|\\.)*","text":/.test(asked);
  return isOne ? JSON.parse(asked) : null;
}

/** What the planner of a step's tools was asked; null for every other request. */
export function toolPlannerInputOf(request: FakeChatRequest): ToolPlannerInput | null {
  const asked = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const isOne = request.tools.length === 0 && /^\{(?:"query":"(?:[^"\\]|\\.)*",)?"task":/.test(asked);
  return isOne ? JSON.parse(asked) : null;
}

/** A step that uses these of an app, after the steps with these numbers. */
export function step(
  app: string | null,
  uses: readonly string[] = [],
  after: readonly number[] = [],
): PlannerStep {
  return { app, task: 'as asked', uses, needs: [], after };
}

/** Plans these steps for every query; `agent` answers all other requests. `style` is how all of it is sent. */
export function planning(
  steps: readonly PlannerStep[],
  agent: FakeScript,
  style: Partial<FakeCompletion> = {},
): FakeScript {
  return async (request, number) => {
    const input = plannerInputOf(request);
    const plan: PlannerAnswer = { steps, candidates: [] };
    const answer: FakeAnswer =
      input === null ? await agent(request, number) : { kind: 'completion', text: JSON.stringify(plan) };
    return answer.kind === 'completion' ? { ...answer, ...style } : answer;
  };
}

/** One answer for each turn of a context: the first, then one after each round of results; the last one stays. */
export function inTurns(
  ...answers: readonly (FakeAnswer | ((results: readonly string[]) => FakeAnswer))[]
): FakeScript {
  return (request) => {
    const asked = request.messages.findLastIndex(({ role }) => role === 'user');
    const since = request.messages.slice(asked + 1);
    const turn = since.filter(({ role }) => role === 'assistant').length;
    const answer = answers[Math.min(turn, answers.length - 1)];
    if (answer === undefined) throw new Error('the script has no answers');
    const results = since.filter(({ role }) => role === 'tool').map(({ content }) => content);
    return typeof answer === 'function' ? answer(results) : answer;
  };
}

/** Names of the tools that the conversation of a request has called. */
export function calledIn(request: FakeChatRequest): ReadonlySet<string> {
  return new Set(request.messages.flatMap(({ calls }) => calls.map(({ name }) => name)));
}

/** Everything that a provider sees of a request, as one text. */
export function bodyOf(request: FakeChatRequest): string {
  return JSON.stringify(request.body);
}

/** The requests of planners, and those of contexts that have a tool of this name. */
export function plannerRequests(requests: readonly FakeChatRequest[]): readonly FakeChatRequest[] {
  return requests.filter((request) => plannerInputOf(request) !== null);
}

export function requestsWith(requests: readonly FakeChatRequest[], tool: string): readonly FakeChatRequest[] {
  return requests.filter(({ tools }) => tools.includes(tool));
}
