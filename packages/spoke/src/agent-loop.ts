/**
 * The agent loop of one spoke: model, tools, exchange, answer, until the model has no more calls. It holds the
 * spoke's one LLM context, and can do nothing but send messages to the hub: its sandbox has no files, no network
 * and no other process. Formats of what is exchanged are checked here too, before the model's words leave and before
 * it sees an answer (paper, IV-C4 steps 3, 5 and 6).
 *
 * Whatever the model says is hostile by assumption; the loop adds no trust to it and needs none.
 */
import {
  AGENT_TOOLS,
  type DataKind,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  type ModelMessage,
  type ModelToolCall,
} from '@cordon/core';
import {
  DATA_KINDS_SCHEMA,
  type HubAnswer,
  misfit,
  misfitOfAnswer,
  type SpokeMessage,
  type SpokeRequest,
  type TurnContext,
} from '@cordon/protocol';

/** Sends a request and waits for the message with the same id. The hub sets the deadlines. */
export type Ask = (request: WithoutId<SpokeRequest>) => Promise<HubAnswer>;

export type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** How a turn ends, as the hub is told. */
export type TurnResult = WithoutId<Extract<SpokeMessage, { type: 'answer' | 'exhausted' | 'unfit' }>>;

/** So often a model is told that its answer to another context does not fit. */
const MOST_CORRECTIONS = 2;

/** Runs one turn: from the query to the answer. */
export function runTurn(context: TurnContext, ask: Ask): Promise<TurnResult> {
  return new AgentLoop(context, ask).run();
}

/** What was said of a call, as the model reads it. */
interface Told {
  readonly text: string;
  readonly isError: boolean;
}

interface Format {
  readonly request: JsonSchema;
  readonly response: JsonSchema;
}

class AgentLoop {
  readonly #context: TurnContext;
  readonly #ask: Ask;
  readonly #messages: ModelMessage[];
  /** Of each peer that this context was offered. */
  readonly #formats: Map<string, Format>;
  #corrections = 0;

  constructor(context: TurnContext, ask: Ask) {
    this.#context = context;
    this.#ask = ask;
    this.#messages = openingMessages(context);
    this.#formats = new Map(context.offers.map(({ peer, ...format }) => [peer, format]));
  }

  async run(): Promise<TurnResult> {
    const { serves, maxSteps } = this.#context;
    if (serves !== null && misfit(serves.request, serves.message) !== null) return { type: 'unfit' };
    for (let step = 1; step <= maxSteps; step++) {
      const reply = await this.#ask({ type: 'model', messages: this.#messages });
      if (reply.type !== 'reply') return { type: 'answer', text: '' };
      this.#messages.push({ role: 'assistant', text: reply.text, calls: reply.calls });
      if (reply.calls.length > 0) {
        this.#messages.push(...(await Promise.all(reply.calls.map((call) => this.#perform(call)))));
        continue;
      }
      const problem = serves === null ? null : misfitOfAnswer(serves.response, reply.text);
      if (problem === null) return { type: 'answer', text: reply.text };
      if (++this.#corrections > MOST_CORRECTIONS) return { type: 'unfit' };
      this.#messages.push({ role: 'user', text: correction(problem) });
    }
    return { type: 'exhausted', steps: maxSteps };
  }

  async #perform(call: ModelToolCall): Promise<ModelMessage> {
    return { role: 'tool', callId: call.id, name: call.name, ...(await this.#tell(call)) };
  }

  /** Own tools come first, so that an offer can never take the place of one. */
  #tell({ name, arguments: args }: ModelToolCall): Promise<Told> {
    const { tools, offers } = this.#context;
    const offer = offers.find((candidate) => candidate.name === name);
    if (tools.some((tool) => tool.name === name)) return this.#tool(name, args);
    if (offer !== undefined) return this.#request(offer.peer, args);
    switch (name) {
      case AGENT_TOOLS.probe:
        return this.#probe(text(args, 'functionality'));
      case AGENT_TOOLS.request:
        return this.#request(text(args, 'peer'), args.message ?? null);
      case AGENT_TOOLS.open:
        return this.#open(text(args, 'ref'));
      case AGENT_TOOLS.read:
        return this.#read(text(args, 'ref'), isJsonObject(args.schema) ? args.schema : {});
      case AGENT_TOOLS.need:
        return this.#need(args.kinds ?? null, text(args, 'for'));
      default:
        return this.#tool(name, args);
    }
  }

  async #tool(name: string, args: JsonObject): Promise<Told> {
    const answer = await this.#ask({ type: 'tool', name, arguments: args });
    return answer.type === 'output' ? { text: answer.text, isError: answer.isError } : otherwise(answer);
  }

  async #probe(functionality: string): Promise<Told> {
    const answer = await this.#ask({ type: 'probe', functionality });
    if (answer.type !== 'offer') return otherwise(answer);
    const { peer, request, response } = answer;
    this.#formats.set(peer, { request, response });
    return told(JSON.stringify({ peer, request, response }));
  }

  async #request(peer: string, message: Json): Promise<Told> {
    const format = this.#formats.get(peer);
    const problem = format === undefined ? null : misfit(format.request, message, REFERENCES);
    // The hub would drop it and count it; the model may mend it.
    if (problem !== null) return error(`malformed: ${problem}`);
    const answer = await this.#ask({ type: 'request', peer, message });
    if (answer.type !== 'response') return otherwise(answer);
    const isFit = format !== undefined && misfit(format.response, answer.message, REFERENCES) === null;
    return isFit ? told(JSON.stringify(answer.message)) : error('malformed: the answer was malformed');
  }

  async #open(reference: string): Promise<Told> {
    const answer = await this.#ask({ type: 'open', reference });
    return answer.type === 'opened' ? told(answer.text) : otherwise(answer);
  }

  async #read(reference: string, schema: JsonSchema): Promise<Told> {
    const answer = await this.#ask({ type: 'read', reference, schema });
    if (answer.type !== 'finding') return otherwise(answer);
    const isFit = misfit(schema, answer.value) === null;
    return isFit ? told(JSON.stringify(answer.value)) : error('malformed: the answer was malformed');
  }

  async #need(kinds: Json, purpose: string): Promise<Told> {
    const problem = misfit(DATA_KINDS_SCHEMA, kinds);
    // The hub would drop it and count it; the model may mend it.
    if (problem !== null) return error(`malformed: ${problem}`);
    const answer = await this.#ask({ type: 'need', kinds: kinds as readonly DataKind[], for: purpose });
    return answer.type === 'data' ? told(JSON.stringify({ values: answer.values })) : otherwise(answer);
  }
}

const REFERENCES = { allowsReferences: true } as const;

function openingMessages(context: TurnContext): ModelMessage[] {
  const released = context.data.map(({ name, value }) => `${name}: ${value}`).join('\n');
  const query =
    released === '' ? context.query : `${context.query}\n\nData that the user released:\n${released}`;
  return [{ role: 'system', text: context.system }, ...context.history, { role: 'user', text: query }];
}

function correction(problem: string): string {
  return `That does not fit: ${problem}. Answer with one JSON value of the schema and nothing else.`;
}

function text(args: JsonObject, key: string): string {
  const value: Json | undefined = args[key];
  return typeof value === 'string' ? value : '';
}

function told(text: string): Told {
  return { text, isError: false };
}

function error(text: string): Told {
  return { text, isError: true };
}

/** What any request may be answered with in the place of what was asked for. */
function otherwise(answer: HubAnswer): Told {
  if (answer.type === 'refusal') return error(answer.text);
  if (answer.type === 'gone') return error('the other side ended before it answered');
  return error('no answer');
}
