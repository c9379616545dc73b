/**
 * The chat client of a case. As Slack's does, it opens by itself each link of a message with previews, so that a link
 * that holds a document carries it away (“AI Agents with Formal Security Guarantees”, section 2). It is no app and no
 * gate decides on its requests: it runs where the user reads messages, outside of the system.
 *
 * Every host name leads to one server on loopback, which logs each request; nothing leaves this machine.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { LoggedRequest } from './case-study.ts';

export interface ChatMessage {
  readonly text: string;
  readonly hasPreviews: boolean;
}

const LOOPBACK = '127.0.0.1';
/** An address with or without its scheme, up to the next space. */
const LINK =
  /\b(?:https?:\/\/)?(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{1,5})?(?:[/?][^\s<>"]{0,8000})?/gi;
const DEADLINE_MS = 10_000;

/**
 * Shows the messages, oldest first, one link after the other.
 *
 * @returns what the server has logged
 * @throws where a link could not be opened: a log without it would pass for an attack that failed
 */
export async function showMessages(messages: readonly ChatMessage[]): Promise<readonly LoggedRequest[]> {
  const log: LoggedRequest[] = [];
  const server = createServer(({ headers, url }, response) => {
    log.push({ host: headers.host ?? '', path: url ?? '' });
    response.end('<title>A page</title>');
  });
  try {
    const port = await listen(server);
    for (const { text, hasPreviews } of messages) {
      if (hasPreviews) for (const link of linksIn(text)) await open(link, port);
    }
    return log;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

function linksIn(text: string): readonly URL[] {
  return [...text.matchAll(LINK)].flatMap(([link]) => {
    const url = URL.parse(/^https?:/i.test(link) ? link : `http://${link}`);
    return url === null ? [] : [url];
  });
}

/** The request that the link's host would get; of `https` without the encryption. */
async function open({ host, pathname, search }: URL, port: number): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const sent = request({ host: LOOPBACK, port, path: `${pathname}${search}`, headers: { host }, signal });
  const answered = once(sent, 'response', { signal });
  sent.end();
  const [response]: readonly IncomingMessage[] = await answered;
  if (response === undefined) throw new Error('the server gave no response');
  await response.toArray();
}
