/**
 * Requests to authorization servers as the MCP client's helpers make them: each goes through whoever decides it. What comes back is
 * bounded, and what goes wrong becomes a fault that says nothing in the server's words but an error code.
 */
import { type Fault, failed, fault, ok, type Result, visibleLine } from '@cordon/core';
import { sdk } from './sdk.ts';

export interface OAuthRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Decides about one request and makes it. A redirect is an answer and is not followed; the body is bounded. */
export type Send = (request: OAuthRequest) => Promise<Result<Response, Fault>>;

/** Carries a fault through helpers that only throw. */
class RequestFailed extends Error {
  readonly fault: Fault;

  constructor(reason: Fault) {
    super(reason.message);
    this.fault = reason;
  }
}

export function fetchThrough(send: Send): (input: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const { body = null } = init ?? {};
    if (body !== null && typeof body !== 'string' && !(body instanceof URLSearchParams))
      throw new TypeError('a body is text here');
    const sent = await send({
      url: new URL(input),
      method: init?.method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: body === null ? '' : body.toString(),
    });
    if (!sent.ok) throw new RequestFailed(sent.fault);
    if (sent.value.status >= 300 && sent.value.status < 400)
      throw new RequestFailed(refusal(`\`${new URL(input).host}\` redirects, which Cordon does not follow`));
    return sent.value;
  };
}

/** What a helper of the MCP client gave, or why it gave nothing. `what`: what it was asked for. */
export async function attempted<T>(what: string, helper: () => Promise<T>): Promise<Result<T, Fault>> {
  try {
    return ok(await helper());
  } catch (error) {
    return failed(error instanceof RequestFailed ? error.fault : await faultOf(what, error));
  }
}

/** Attack: a server’s error text tells the user what to do. Its code alone is shown, and only if it looks like one. */
async function faultOf(what: string, error: unknown): Promise<Fault> {
  const { OAuthError, IssuerMismatchError, InsecureTokenEndpointError, RegistrationRejectedError } =
    await sdk();
  if (error instanceof IssuerMismatchError)
    return refusal(
      `${what} names another authorization server than \`${visibleLine(error.expected ?? '', 100)}\``,
      'somebody may be passing one server off as another; do not try again before you have asked whoever runs the app',
    );
  if (error instanceof OAuthError) return refusedWith(what, error.code);
  if (error instanceof InsecureTokenEndpointError) return refusal(`${what} is not encrypted`);
  if (error instanceof RegistrationRejectedError)
    return refusal(`${what} was refused (${error.status})`, REGISTER_BY_HAND);
  return refusal(`${what} cannot be used`, 'ask whoever runs the app: its metadata may be wrong');
}

export const REGISTER_BY_HAND =
  'register Cordon there by hand, with the redirect address that `--port` makes, and pass `--client-id`';

/** `invalid_grant` says that a login has ended; whoever renews tokens looks for it. */
export interface Refusal extends Fault {
  readonly code?: string;
}

function refusedWith(what: string, code: string): Refusal {
  const shown = /^[a-z_]{1,40}$/.test(code) ? code : 'an unknown error';
  return { ...refusal(`${what} was refused: ${shown}`), code: shown };
}

export function refusal(message: string, help?: string): Fault {
  return fault('app-unavailable', message, help);
}
