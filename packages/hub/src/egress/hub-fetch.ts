/**
 * `cordon/fetch`: a request over MCP from an app to the hub, which makes an HTTP request for it. The policy sees its
 * method and whole path, and a credential of the manifest is added here: the app never holds it.
 *
 * Documented in docs/apps.md.
 */
import {
  type Credential,
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  type ReadSecret,
  type Result,
  toJson,
} from '@cordon/core';
import {
  type FetchAnswer,
  type FetchCredential,
  type FetchRequest,
  fetchFor,
  parseReach,
  readyCredential,
  secureByAuthorities,
  type WayOut,
} from '@cordon/egress';
import type { Client } from '@modelcontextprotocol/client';

export interface FetchParts {
  readonly way: WayOut;
  readonly credentials: readonly Credential[];
  readonly readSecret: ReadSecret;
  /** One message to the app must hold the answer. */
  readonly messageBytes: number;
  /** Aborts when the app may make no more requests. */
  readonly ending: AbortSignal;
  readonly secure?: typeof secureByAuthorities;
}

const FETCH_METHOD = 'cordon/fetch';
const ANSWER_MS = 60_000;
/** Answers larger than this share of a message are refused: Base64 makes four bytes of three, JSON adds its own. */
const SHARE_OF_MESSAGE = 0.7;

/** JSON-RPC's codes for what an implementation defines itself end here. */
const REFUSED = -32_001;
const INVALID_PARAMS = -32_602;

/** Announces the capability and answers its requests. Must come before the client connects. */
export function serveFetch(client: Client, parts: FetchParts): void {
  client.registerCapabilities({ experimental: { [FETCH_METHOD]: {} } });
  client.setRequestHandler(FETCH_METHOD, { params: ANY_JSON }, async (params, { mcpReq }) => {
    const signal = AbortSignal.any([mcpReq.signal, parts.ending]);
    const asked = readParams(toJson(params));
    if (!asked.ok) throw new FetchError(INVALID_PARAMS, asked.fault);
    const answered = await answer(asked.value, parts, signal);
    if (!answered.ok) throw new FetchError(REFUSED, answered.fault);
    return { ...answered.value };
  });
}

/** What the MCP client makes a JSON-RPC error of. */
class FetchError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The client wants a schema; the shape is read below, where each problem has its words. */
const ANY_JSON = {
  '~standard': {
    version: 1,
    vendor: 'cordon',
    validate: (value: unknown) => ({ value: toJson(value) }),
  },
} as const;

interface Asked extends FetchRequest {
  readonly credential: string | null;
}

const KEYS = new Set(['url', 'method', 'headers', 'body', 'encoding', 'credential', '_meta']);

function readParams(params: Json): Result<Asked, string> {
  if (!isJsonObject(params)) return failed('the parameters are an object');
  const unknown = Object.keys(params).find((key) => !KEYS.has(key));
  if (unknown !== undefined) return failed('a parameter is not known');
  const { url, method = 'GET', headers = {}, body = '', encoding = 'utf8', credential = null } = params;
  if (typeof url !== 'string') return failed('`url` is a string');
  if (typeof method !== 'string') return failed('`method` is a string');
  if (typeof body !== 'string' || (encoding !== 'utf8' && encoding !== 'base64'))
    return failed('`body` is a string, and `encoding` `utf8` or `base64`');
  if (credential !== null && typeof credential !== 'string') return failed('`credential` is a name');
  const fields = readHeaders(headers);
  if (fields === null) return failed('`headers` holds strings');
  return ok({ url, method, headers: fields, body: Buffer.from(body, encoding), credential });
}

function readHeaders(value: Json): Record<string, string> | null {
  if (!isJsonObject(value)) return null;
  const fields = Object.entries(value).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : [],
  );
  return fields.length === Object.keys(value).length ? Object.fromEntries(fields) : null;
}

async function answer(
  asked: Asked,
  parts: FetchParts,
  signal: AbortSignal,
): Promise<Result<JsonObject, string>> {
  const credential = asked.credential === null ? ok(null) : credentialOf(asked.credential, parts);
  if (!credential.ok) {
    parts.way.onRefused({ host: null, port: null, reason: credential.fault });
    return credential;
  }
  const fetched = await fetchFor(asked, {
    way: parts.way,
    credential: credential.value,
    answerBytes: Math.floor(parts.messageBytes * SHARE_OF_MESSAGE),
    answerMs: ANSWER_MS,
    signal,
    secure: parts.secure ?? secureByAuthorities,
  });
  return fetched.ok ? ok(encoded(fetched.value, parts.messageBytes)) : fetched;
}

/** Only of the app's own manifest: the name of another app's credential means nothing here. */
function credentialOf(
  name: string,
  { credentials, readSecret }: FetchParts,
): Result<FetchCredential, string> {
  const credential = credentials.find((candidate) => candidate.name === name);
  const hosts = parseReach(credential?.hosts ?? []);
  if (credential === undefined || !hosts.ok) return failed('the manifest has no such credential');
  const { header, format, secret } = credential;
  const ready = () => {
    const text = readSecret(secret);
    // Why it cannot be read is the user's to know, and names paths of theirs.
    return text.ok ? readyCredential(header, format, text.value) : failed('the credential cannot be read');
  };
  return ok({ hosts: hosts.value, header, ready });
}

/** Text where it is text and does not grow beyond the message. */
function encoded({ status, headers, body }: FetchAnswer, messageBytes: number): JsonObject {
  const text = body.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(body);
  return isText && JSON.stringify(text).length < messageBytes * SHARE_OF_MESSAGE
    ? { status, headers, body: text, encoding: 'utf8' }
    : { status, headers, body: body.toString('base64'), encoding: 'base64' };
}
