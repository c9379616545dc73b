/**
 * Responses: the answer to a request is read in its format, decided, and delivered. Closed values pass, free text becomes a
 * reference. Whose words an answer may hold, and how bad they are, is kept however many contexts it came through.
 */
import {
  type AppId,
  type AppRequest,
  type AppResponse,
  canonicalJson,
  type EphemeralId,
  type EventId,
  type Functionality,
  failed,
  type InstalledApp,
  isJsonObject,
  type Json,
  type Label,
  ok,
  type Result,
  replaceFreeText,
} from '@cordon/core';
import { readingsOf } from '@cordon/protocol';
import { usesOf } from '../apps/registry.ts';
import type { LoadValidator } from '../apps/schema-validator.ts';
import type { ToolResult } from '../context/app-tool.ts';
import type { Context, Peer } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { joinedLabel, type PlacedText } from '../context/references.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import { isExpected } from '../mediation/tool-calls.ts';
import type { Served } from '../spokes/spoke-link.ts';
import { malformed, REFUSED } from './refusal.ts';

export interface ResponsesParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly validator: LoadValidator;
}

/** A request that names a peer of its context and fits the format of what it asks for; nothing is decided yet. */
export interface CheckedRequest {
  readonly context: Context;
  readonly query: Query;
  readonly peerId: EphemeralId;
  readonly peer: Peer;
  readonly app: InstalledApp;
  /** With each reference replaced by its text. */
  readonly message: Json;
  /** The texts of others that stand in it. */
  readonly texts: readonly PlacedText[];
  /** Whether another message fits the format too. */
  readonly check: (message: Json) => Result<Json, string>;
  /** Aborts when the turn that asked is over. */
  readonly signal: AbortSignal;
}

/** A result that is still to be checked and delivered. */
export type ServedWork =
  | {
      readonly kind: 'served';
      readonly by: 'tool';
      readonly result: ToolResult;
      readonly label: Label;
      /** Whose words the tool was given, and may have given back. */
      readonly origins: readonly AppId[];
      readonly causes: readonly EventId[];
    }
  | {
      readonly kind: 'served';
      readonly by: Context;
      readonly text: string;
      readonly causes: readonly EventId[];
    };

/** How bad a content is, and whose words may be in it. */
export interface Sources {
  readonly label: Label;
  readonly origins: readonly AppId[];
}

/** A response in its format. */
interface ReadResponse extends Sources {
  readonly message: Json;
}

/** Reads, decides and delivers what came of a request. */
export async function deliverResponse(
  { gate, recorder, validator }: ResponsesParts,
  asked: CheckedRequest,
  request: AppRequest,
  work: ServedWork,
): Promise<Served> {
  const { context, query, app, peer } = asked;
  const { functionality } = peer;
  const read = await readResponse(validator, functionality, work);
  if (!read.ok) {
    const reason = `a response that does not fit its format: ${read.fault}`;
    return malformed(recorder, context, reason, 'the answer was malformed');
  }
  const { message, label } = read.value;
  const carries = read.value.origins.filter((origin) => origin !== app.id);
  const proposal: AppResponse = {
    effect: 'app-response',
    context: context.id,
    from: app.id,
    to: context.app,
    peer: request.peer,
    functionality: functionality.name,
    message,
    callId: request.callId,
    label,
  };
  const carried = await gate.deliver(context, proposal, { causes: work.causes, label, requirement: null });
  if (carried.kind === 'refused')
    query.refused(carried.reasons, isExpected(query.plan, app.id, usesOfPeer(asked)));
  if (carried.kind !== 'done') return REFUSED;
  const texts: string[] = [];
  const withoutTexts = replaceFreeText(functionality.response, carried.value.message, (text) => {
    texts.push(text);
    return null;
  });
  if (!context.references.hasRoomFor(texts)) {
    const reason = 'a response with more text than a context may hold';
    return malformed(recorder, context, reason, 'the answer was malformed');
  }
  const source = {
    origin: app.id,
    carries,
    functionality: functionality.name,
    peer: request.peer,
    label,
  };
  const visible = replaceFreeText(functionality.response, carried.value.message, (text) =>
    context.references.hold({ text, ...source }),
  );
  // Closed values carry no instruction, but they are the other app's data: what is said with them is no longer public. One
  // reference by itself tells nothing; nor does an answer of texts alone that repeats the request, but that it was carried out.
  // Attack: a reference stands where a closed value is wanted, or a secret is guessed, and the answer shows or confirms it.
  const isRepetition =
    holdsNoValue(withoutTexts) && canonicalJson(carried.value.message) === canonicalJson(asked.message);
  if (!isEmpty(withoutTexts) && !isRepetition) context.learns(label, [app.id, ...carries]);
  if (work.by !== 'tool' && work.by.knowsOthersValues) context.learnsOthersValues();
  return ok({ type: 'response', message: visible });
}

/**
 * The response in its format. What a context answers is filled with the texts that it held and did not see, and is
 * as bad as the worst of them.
 */
async function readResponse(
  load: LoadValidator,
  { response }: Functionality,
  work: ServedWork,
): Promise<Result<ReadResponse, string>> {
  const validator = await load();
  const check = (value: Json) => validator.check(response, value);
  const checked = answersOf(work).map((answer) => ({ answer, message: check(resolved(answer, work)) }));
  const fitting = checked.find(({ message }) => message.ok) ?? checked[0];
  if (fitting === undefined) return failed('there is no response');
  if (!fitting.message.ok) return fitting.message;
  const message = fitting.message.value;
  if (work.by === 'tool') return ok({ message, label: work.label, origins: work.origins });
  // Attack: `\u00241` is no reference as long as nobody reads the answer as JSON.
  const texts = work.by.references.namedIn(fitting.answer);
  const origins = [...new Set([...work.by.origins, ...texts.map(({ origin }) => origin)])];
  return ok({ message, label: joinedLabel(work.by.label, texts), origins });
}

/** What the answer may be read as, the best reading first. */
function answersOf(work: ServedWork): readonly Json[] {
  if (work.by !== 'tool') return readingsOf(work.text);
  const { text, structured } = work.result;
  return structured === null ? readingsOf(text) : [structured];
}

function resolved(answer: Json, { by }: ServedWork): Json {
  return by === 'tool' ? answer : by.references.resolve(answer);
}

/** The names under which the plan may know what a peer was asked for. */
export function usesOfPeer({ peer, app }: Pick<CheckedRequest, 'peer' | 'app'>): readonly string[] {
  const { name, tool } = peer.functionality;
  return tool === null ? [name] : [name, ...usesOf(app.manifest, tool)];
}

/** Whether a response without its texts says nothing: no value, no number of texts, no choice of members. */
function isEmpty(message: Json): boolean {
  if (message === null) return true;
  if (!isJsonObject(message)) return false;
  const members = Object.values(message);
  return members.length === 1 && members.every(isEmpty);
}

/** Whether a response without its texts holds no value: at most a number of texts, and a choice of members. */
function holdsNoValue(message: Json): boolean {
  if (message === null) return true;
  if (Array.isArray(message)) return message.every(holdsNoValue);
  return isJsonObject(message) && Object.values(message).every(holdsNoValue);
}
