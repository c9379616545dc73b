/**
 * A proxy of a test: every connection that it dials leads to one server of the test, and everything it asks, looks up,
 * dials, refuses and closes is written down. What an attacker would send is sent as raw bytes.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ok } from '@cordon/core';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  type DirectListeners,
  type EgressLimits,
  type EgressRequest,
  openEgressProxy,
  parseReach,
  type Traffic,
  type WayOut,
} from '../src/index.ts';

export interface Setting {
  readonly socket: string;
  readonly asked: EgressRequest[];
  readonly lookedUp: string[];
  readonly dialled: string[];
  readonly refused: string[];
  /** The entries that these lacked. */
  readonly lacking: string[];
  readonly closed: (Traffic & { readonly host: string })[];
  readonly budget: Budget;
  readonly close: () => Promise<void>;
}

export interface Changes extends Partial<Omit<WayOut, 'reach' | 'budget'>> {
  /** Without it: good.com on 443 and 80, and api.exact.org. */
  readonly network?: readonly string[];
  readonly limits?: Partial<EgressLimits>;
  readonly clock?: () => number;
  readonly direct?: DirectListeners;
}

export async function open(context: TestContext, upstream: Server, changes: Changes = {}): Promise<Setting> {
  const {
    network = ['good.com', 'good.com:80', 'api.exact.org:80'],
    limits,
    clock,
    direct,
    ...rest
  } = changes;
  const port = await listening(upstream);
  const folder = mkdtempSync(join(tmpdir(), 'cordon-egress-'));
  const reach = parseReach(network);
  assert.ok(reach.ok);
  const budget = new Budget({ ...DEFAULT_EGRESS_LIMITS, ...limits }, clock ?? (() => performance.now()));
  const told = {
    asked: [] as EgressRequest[],
    lookedUp: [] as string[],
    dialled: [] as string[],
    refused: [] as string[],
    lacking: [] as string[],
    closed: [] as (Traffic & { readonly host: string })[],
  };
  const way: WayOut = {
    reach: reach.value,
    decide: async (asked) => told.asked.push(asked) > 0,
    decideMs: 60_000,
    lookup: async (host) => {
      told.lookedUp.push(host);
      return ['93.184.215.14'];
    },
    dial: async (to, at) => {
      told.dialled.push(`${to}:${at}`);
      return ok(connect(port, '127.0.0.1'));
    },
    budget,
    onRefused: ({ host, reason, lacks }) => {
      told.refused.push(`${host}: ${reason}`);
      if (lacks !== undefined) told.lacking.push(lacks);
    },
    onClosed: ({ host }, traffic) => told.closed.push({ host, ...traffic }),
    ...rest,
  };
  const proxy = await openEgressProxy(join(folder, 'egress.sock'), way, direct);
  assert.ok(proxy.ok);
  const close = () => proxy.value.close();
  context.after(async () => {
    upstream.close();
    await close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return { ...told, socket: join(folder, 'egress.sock'), budget, close };
}

/** Waits for what must come about; the test runner ends a test for which it does not. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

export async function listening(server: Server): Promise<number> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** `status body` of a request in absolute form, or `cut`. */
export function get(
  setting: Setting,
  url: string,
  headers: Record<string, string | string[]> = {},
  body = '',
): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request(
      {
        socketPath: setting.socket,
        path: url,
        method: body === '' ? 'GET' : 'POST',
        headers: { host: /^http:\/\/([^/]*)/.exec(url)?.[1] ?? '', ...headers },
      },
      async (answer) => {
        let text = '';
        try {
          for await (const chunk of answer) text += chunk;
        } catch {
          text += ' cut';
        }
        resolve(`${answer.statusCode} ${text.trim()}`);
      },
    );
    outgoing.on('error', () => resolve('cut'));
    outgoing.end(body);
  });
}

/** A socket file, or a port at a loopback address. */
export type Place = { readonly socket: string } | { readonly host: string; readonly port: number };

/** A connection to the place. */
export function connectTo(place: Place): Socket {
  return 'socket' in place ? connect(place.socket) : connect(place);
}

/**
 * Sends raw bytes, each part when what came back ends as the one before it says; resolves with all that came back until
 * the proxy closes, or the last part's `until` has come.
 */
export function converse(
  place: Place,
  parts: readonly (string | Buffer)[],
  until: readonly (string | RegExp)[] = [],
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTo(place);
    let text = '';
    let seen = 0;
    let next = 0;
    const send = () => {
      const part = parts[next];
      if (part !== undefined) socket.write(part);
      next++;
    };
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const wanted = until[next - 1];
      if (wanted === undefined || text.slice(seen).search(wanted) < 0) return;
      seen = text.length;
      if (next < parts.length) send();
      else socket.destroy();
    });
    socket.on('close', () => resolve(text)).on('error', () => {});
    send();
  });
}

export const OPENED = 'Connection Established\r\n\r\n';

/** Opens a tunnel, then sends what `after` says; resolves with all that came back. */
export function tunnel(setting: Setting, authority: string, after: string | Buffer): Promise<string> {
  return converse(setting, [`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`, after], [OPENED]);
}

/** The first bytes that a TLS client sends for this server name; empty: none. */
export function clientHello(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createTcpServer((socket) =>
      socket.once('data', (data) => {
        resolve(data);
        socket.destroy();
        server.close();
      }),
    );
    void listening(server).then((port) =>
      connectTls({ host: '127.0.0.1', port, ...(servername === '' ? {} : { servername }) }).on(
        'error',
        () => {},
      ),
    );
  });
}

/** Answers with the first byte it got, and closes. */
export function echo(): Server {
  return createTcpServer((socket) =>
    socket.on('error', () => {}).once('data', (data) => socket.end(`got ${data[0]}`)),
  );
}

/** Writes down every byte it gets, and answers each connection's first bytes with an empty 200. */
export function recorder(): { readonly server: Server; readonly got: () => string } {
  let got = '';
  const server = createTcpServer((socket) => {
    let isAnswered = false;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      got += data.toString('latin1');
      if (!isAnswered) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      isAnswered = true;
    });
  });
  return { server, got: () => got };
}
