/**
 * The end of a login in the user's browser: a listener on this machine to which the authorization server sends the browser back
 * (RFC 8252, 7.3). It takes the one answer that belongs to the login and nothing else.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';

export interface Redirect {
  /** Where the authorization server sends the browser. */
  readonly url: string;
  /** Resolves with the query of the first answer that has this state; never, if none comes. */
  readonly answerTo: (state: string) => Promise<URLSearchParams>;
  readonly close: () => void;
}

const PATH = '/callback';

/** @param port 0: any that is free */
export function openRedirect(port: number): Promise<Result<Redirect, Fault>> {
  const answered = Promise.withResolvers<URLSearchParams>();
  let awaited: string | null = null;
  let own = '';
  const server = createServer((request, response) => {
    const query = queryOf(request, own);
    // Attack: a page in the same browser ends the login, or answers with a code of the attacker's instead of the user's.
    if (query === null || awaited === null || query.get('state') !== awaited)
      return say(response, 404, 'There is nothing here.');
    say(response, 200, 'Cordon has the answer. You can close this page and go back to the terminal.');
    answered.resolve(query);
  });
  server.maxConnections = 16;
  return new Promise((resolve) => {
    server.once('error', ({ message }) =>
      resolve(
        failed(fault('usage', `nothing can listen on port ${port}: ${message}`, 'choose another `--port`')),
      ),
    );
    server.listen({ host: '127.0.0.1', port }, () => {
      const address = server.address();
      own = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      const answerTo = (state: string) => {
        awaited = state;
        return answered.promise;
      };
      resolve(ok({ url: `http://${own}${PATH}`, answerTo, close }));
    });
  });
}

/** Null: no authorization server sent this request. Attack: a name of the attacker's that leads to this machine. */
function queryOf({ method, url = '', headers }: IncomingMessage, own: string): URLSearchParams | null {
  if (method !== 'GET' || headers.host !== own || !URL.canParse(url, `http://${own}`)) return null;
  const { pathname, searchParams } = new URL(url, `http://${own}`);
  return pathname === PATH ? searchParams : null;
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(`${text}\n`);
}

/** The query of an address that a person copied out of the browser; null: it is not this login's. */
export function pastedAnswer(text: string, redirectUrl: string, state: string): URLSearchParams | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith(`${redirectUrl}?`) || !URL.canParse(trimmed)) return null;
  const { searchParams } = new URL(trimmed);
  return searchParams.get('state') === state ? searchParams : null;
}
