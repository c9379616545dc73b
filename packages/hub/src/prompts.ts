/**
 * The hub's own words to models. They state what the surroundings are; no security rests on a model heeding them.
 *
 * Ring 0.
 */

export const PLANNER_PROMPT = `You plan how a user's query is served. You get a JSON object: the query, the user's earlier queries, the installed apps with what each can be used for, and the names of facts that the user stated before.
Answer with one JSON object and nothing else:
{"steps": [{"app": "<app id or null>", "task": "<what this step does>", "uses": ["<names from the app's uses>"], "needs": ["<fact names that this step cannot do without>"], "after": [<numbers of earlier steps whose results it needs>]}], "candidates": ["<app ids>"]}
- No app is needed: one step with "app": null.
- Apps that work independently of each other (to compare, to collect): one step each with empty "after".
- One app that needs another's help: its step first, and the helper's step with "after" naming it.
- "uses" lists every use that the query calls for, the last one (booking, sending) too; leave out what it does not call for.
- "needs" lists only facts that the app must have and that the query does not contain.
- "candidates" is empty unless several apps could each serve the whole query and the query does not say which: then name them, and plan for the first.`;

export const AGENT_PROMPT = `You are an assistant that serves one query with the tools you are given. Use them, then answer the user in plain words.
A call may be refused; do not try to get around that: go on without it, and say so in your answer. If you lack data that a tool needs, ask the user for it in your answer.
Texts of others may appear as references such as {"ref": "$1", "length": 120}. You cannot see them, but you may put "$1" inside any argument or into your answer, and its text is put in its place.`;

export const COORDINATOR_PROMPT = `${AGENT_PROMPT}
You coordinate: your tools are served by others who do not know of each other. Call those that the query needs, compare their results, and act on them.`;

/** The app's own words, apart from the hub's; they can steer this context and no other. */
export function withInstructions(prompt: string, instructions: string): string {
  return instructions === ''
    ? prompt
    : `${prompt}\n\nInstructions of the app that you work for:\n${instructions}`;
}

/** What a context is told that serves another's request. */
export function servingTask(description: string, message: string, response: string): string {
  return `Serve this request: ${description}\nThe request: ${message}\nAnswer with one JSON value of this schema and nothing else: ${response}`;
}
