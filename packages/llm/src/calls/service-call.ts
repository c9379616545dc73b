/**
 * Services of the user's that answer questions of rules over HTTP: embeddings and moderation in the form that most
 * servers know (`POST …/embeddings`, `POST …/moderations`), reading pictures in the plainest that there is.
 *
 * What a service says is hostile by assumption.
 */
import {
  DEFAULT_JSON_LIMITS,
  type Endpoint,
  type EndpointKind,
  type Fault,
  failed,
  fault,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Question,
  type Result,
} from '@cordon/core';
import { quote } from '../transport/failure.ts';
import { type Fetch, readText } from '../transport/transport.ts';

const MOST_BYTES = 16 * 1024 * 1024;
/** Vectors have thousands of numbers. */
const LIMITS = { ...DEFAULT_JSON_LIMITS, length: MOST_BYTES, elements: 2_000_000 };

/** What a service answers to one question, in the form that detectors read. */
export async function answered(
  kind: EndpointKind,
  { url, model, key }: Endpoint,
  send: Fetch,
  { input }: Question,
  signal: AbortSignal,
): Promise<Result<Json, Fault>> {
  const { body, read } = FORMS[kind];
  const secrets = key === null ? [] : [key];
  const wrong = (message: string) => failed(fault('model-failure', `\`endpoint/${kind}\` ${message}`));
  try {
    const response = await send(url, {
      method: 'POST',
      // A redirect would carry the question to wherever it points.
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ ...(model === null ? {} : { model }), ...body(input) }),
      signal,
    });
    const said = await readText(response, MOST_BYTES);
    if (!response.ok) return wrong(`answered ${response.status}`);
    if (said.end !== 'complete') return wrong('sent an answer that is too long or incomplete');
    const parsed = parseJson(said.text, LIMITS);
    const answer = parsed.ok ? read(parsed.value) : null;
    return answer === null ? wrong('did not answer in its form') : ok(answer);
  } catch (error) {
    if (signal.aborted) return failed(fault('cancelled', 'it was stopped'));
    return wrong(`cannot be reached: ${quote(error instanceof Error ? error.message : '', secrets)}`);
  }
}

interface Form {
  readonly body: (input: JsonObject) => JsonObject;
  /** Null if it is not one of the form. */
  readonly read: (answer: Json) => Json | null;
}

const FORMS: Readonly<Record<EndpointKind, Form>> = {
  embedding: {
    body: ({ texts = [] }) => ({ input: texts }),
    read: (answer) => inOrder(listAt(answer, 'data'))?.map((one) => at(one, 'embedding') ?? null) ?? null,
  },
  moderation: {
    body: ({ texts = [] }) => ({ input: texts }),
    read: (answer) => listAt(answer, 'results')?.map((one) => at(one, 'category_scores') ?? null) ?? null,
  },
  ocr: {
    body: ({ images = [] }) => ({ images }),
    read: (answer) => {
      const texts = listAt(answer, 'texts');
      return texts === null ? null : [...texts];
    },
  },
};

/** Servers may answer in another order, and say so. */
function inOrder(items: readonly Json[] | null): readonly Json[] | null {
  if (items === null || items.some((one) => typeof at(one, 'index') !== 'number')) return items;
  return [...items].sort((a, b) => Number(at(a, 'index')) - Number(at(b, 'index')));
}

function listAt(value: Json, key: string): readonly Json[] | null {
  const list = at(value, key);
  return Array.isArray(list) ? list : null;
}

function at(value: Json, key: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
