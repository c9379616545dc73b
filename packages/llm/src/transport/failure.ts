/**
 * What can go wrong in one attempt to reach a model, and the words for the user. Text of the other
 * side is in a message only after redaction, escaping and shortening, in this order: a key that is cut in two
 * by the shortening would not be found any longer.
 */
import { isJsonObject, type Json, type ModelFault, type ModelFaultKind, parseJson } from '@cordon/core';

/** A failed attempt. `ModelFault` is made of the last one. */
export interface Failure {
  readonly kind: ModelFaultKind;
  readonly message: string;
  readonly help?: string;
  /** Whether the same request may succeed a little later. */
  readonly passing: boolean;
  /** How long the provider asks us to stay away, in milliseconds. */
  readonly waitMs: number | null;
  /** HTTP status, where the failure is one. */
  readonly status: number | null;
}

/** Who failed, for messages: the name the user chose, where its key comes from, and what must never be shown. */
export interface ProviderIdentity {
  readonly name: string;
  /** Environment variable of the key, for remedies. */
  readonly keyVariable: string;
  readonly secrets: readonly string[];
}

export function failure(
  kind: ModelFaultKind,
  message: string,
  more: Partial<Omit<Failure, 'kind' | 'message'>> = {},
): Failure {
  return { passing: false, waitMs: null, status: null, ...more, kind, message };
}

/** A passing failure of a provider. `what`: what it did, behind its name. */
export function providerFailure(
  { name }: ProviderIdentity,
  kind: ModelFaultKind,
  what: string,
  help: string,
): Failure {
  return failure(kind, `provider \`${name}\` ${what}`, { help, passing: true });
}

export function toFault(last: Failure, attempts: number): ModelFault {
  const { kind, message, help } = last;
  return help === undefined ? { kind, message, attempts } : { kind, message, help, attempts };
}

/** What a status other than 2xx means. `body` is the hostile text that came with it. */
export function statusFailure(
  who: ProviderIdentity,
  status: number,
  body: string,
  waitMs: number | null,
): Failure {
  const said = quote(errorText(body), who.secrets);
  const message = `provider \`${who.name}\` answered ${status}${said === '' ? '' : `: ${said}`}`;
  const failed = (kind: ModelFaultKind, help: string, passing = false) =>
    failure(kind, message, { help, passing, waitMs, status });
  if (status === 401 || status === 403) {
    return failed('unauthorised', `check ${who.keyVariable} in the environment of cordon`);
  }
  // OpenAI says 429 for an empty account too, and no waiting helps then.
  if (status === 402 || (status === 429 && body.includes('insufficient_quota'))) {
    return failed('rate-limited', `the account behind ${who.keyVariable} has no credit left`);
  }
  if (status === 429) return failed('rate-limited', 'wait, or use another model (`--model`)', true);
  if (status === 408 || status >= 500) {
    return failed('unavailable', `\`${who.name}\` has a passing problem; try again later`, true);
  }
  if (status >= 300 && status < 400) {
    return failed('bad-request', `redirects are not followed; correct the base URL of \`${who.name}\``);
  }
  if (status === 404) return failed('bad-request', 'check the model id and the base URL');
  if (status === 413) return failed('bad-request', 'the conversation is too long for this model');
  return failed(
    'bad-request',
    'check the model id; the model may not support tools, or the context is too long',
  );
}

/** The sentence inside an error body, in the shapes that servers use; else the body itself. */
function errorText(body: string): string {
  const parsed = parseJson(body);
  return (parsed.ok ? messageIn(parsed.value, 0) : null) ?? body;
}

function messageIn(value: Json | undefined, depth: number): string | null {
  if (depth > 3 || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return messageIn(value[0], depth + 1);
  if (!isJsonObject(value)) return null;
  for (const key of ['error', 'message', 'detail', 'msg']) {
    const inner = Object.hasOwn(value, key) ? messageIn(value[key], depth + 1) : null;
    if (inner !== null) return inner;
  }
  return null;
}

const QUOTE_LENGTH = 200;
const SHORTEST_SECRET = 4;

/**
 * Hostile text for a message: secrets out, control and invisible characters and line breaks to spaces (a terminal
 * obeys some of them), at most 200 characters, in backticks. The empty string stays empty.
 */
export function quote(text: string, secrets: readonly string[]): string {
  const shown = redact(text.slice(0, 16 * QUOTE_LENGTH), secrets)
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replaceAll('`', "'")
    .trim();
  if (shown === '') return '';
  const characters = [...shown];
  return characters.length <= QUOTE_LENGTH
    ? `\`${shown}\``
    : `\`${characters.slice(0, QUOTE_LENGTH).join('')}…\``;
}

/** INVARIANT (no key in a message): every text of the other side or of a library passes here. */
export function redact(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue;
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      out = out.replaceAll(form, '[key]');
    }
  }
  return out;
}
