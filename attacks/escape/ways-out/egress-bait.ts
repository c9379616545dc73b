/**
 * The way out that attempts on the proxy get: the real proxy, with names and connections that lead to servers of
 * ours. One is the site that was granted; the other stands for everything else and answers with the bait.
 */

import { connect, createServer, type Server, type Socket } from 'node:net';
import { ok } from '@cordon/core';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  type DirectListeners,
  directPorts,
  type EgressProxy,
  openEgressProxy,
  parseReach,
  type WayOut,
} from '@cordon/egress';
import { BAIT } from '../attempt.ts';

/** The only address that is the granted site's. */
const GOOD_ADDRESS = '93.184.215.14';

/** What the app was granted. */
export const GRANTED = ['good.com', 'good.com:80'];

/** Names below the granted site, and where their owner lets them lead. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  'loopback.good.com': ['127.0.0.1'],
  'metadata.good.com': ['169.254.169.254'],
  'azure.good.com': ['168.63.129.16'],
  'private.good.com': ['10.0.0.1'],
  'carrier.good.com': ['100.64.0.1'],
  'multicast.good.com': ['224.0.0.1'],
  'mixed.good.com': [GOOD_ADDRESS, '127.0.0.1'],
  'mapped.good.com': ['::ffff:127.0.0.1'],
  'loopback6.good.com': ['::1'],
  'nat64.good.com': ['64:ff9b::7f00:1'],
  'sixtofour.good.com': ['2002:7f00:1::1'],
  'teredo.good.com': ['2001:0:7f00:1::1'],
  'unique-local.good.com': ['fd00::1'],
};

export interface EgressBait {
  /** That a sandbox listens on for direct connections. */
  readonly ports: readonly number[];
  /** Serves a sandbox on the listeners that it handed over. */
  serve(listener: Server, direct: DirectListeners | null): Promise<void>;
  close(): Promise<void>;
}

export const BUDGET = { bytesUp: 64 * 1024, headersMs: 1_500, bodyMs: 1_500 };

/** The granted site, and everything else. */
export interface BaitServers {
  readonly good: number;
  readonly evil: number;
  close(): void;
}

export async function openBaitServers(): Promise<BaitServers> {
  const good = createServer((socket) => answerAsGood(socket));
  const evil = createServer((socket) => socket.on('error', () => {}).end(`HTTP/1.1 200 OK\r\n\r\n${BAIT}`));
  return {
    good: await listen(good),
    evil: await listen(evil),
    close: () => {
      good.close();
      evil.close();
    },
  };
}

export async function openEgressBait(): Promise<EgressBait> {
  const servers = await openBaitServers();
  const looked = new Map<string, number>();
  const reach = parseReach(GRANTED);
  if (!reach.ok) throw new Error(reach.fault.message);
  const way: WayOut = {
    reach: reach.value,
    decide: async () => true,
    decideMs: 60_000,
    lookup: async (host) => {
      const times = (looked.get(host) ?? 0) + 1;
      looked.set(host, times);
      // Rebinding: who looks twice gets another answer.
      if (host === 'flips.good.com' && times > 1) return ['127.0.0.1'];
      return ANSWERS[host] ?? [GOOD_ADDRESS];
    },
    dial: async (address) => ok(connect(address === GOOD_ADDRESS ? servers.good : servers.evil, '127.0.0.1')),
    budget: new Budget({ ...DEFAULT_EGRESS_LIMITS, ...BUDGET }, () => performance.now()),
    onRefused: () => undefined,
    onClosed: () => undefined,
  };
  const proxies: EgressProxy[] = [];
  return {
    ports: directPorts(way.reach),
    serve: async (listener, direct) => {
      const proxy = await openEgressProxy(listener, way, direct);
      if (!proxy.ok) throw new Error(proxy.fault.message);
      proxies.push(proxy.value);
    },
    close: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      servers.close();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/**
 * The granted site reads raw bytes, so that it sees what a lenient server would: a second request in the first, a
 * name that is not its own, more than may be sent. What should not have come to it, it answers with the bait.
 */
function answerAsGood(socket: Socket): void {
  let seen = '';
  let isAnswered = false;
  const answer = (body: string) => {
    isAnswered = true;
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  };
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    seen += chunk.toString('latin1');
    // Once: an answer behind the end would reset the connection, and the bait be lost.
    if (socket.writableEnded) return;
    if (isWrong(seen)) return void socket.end(BAIT);
    if (isAnswered) return;
    if (seen.startsWith('\x16\x03')) {
      isAnswered = true;
      return void socket.write('tls'); // and goes on reading: more may come than should
    }
    const end = seen.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(seen.slice(0, end))?.[1] ?? 0);
    const isChunked = /^transfer-encoding: chunked/im.test(seen.slice(0, end));
    const hints = Number(/^GET \/hints-(\d+) /.exec(seen)?.[1] ?? 0);
    if (hints > 0) socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(hints));
    if (hints > MOST_HINTS) return answer(BAIT);
    if (isChunked ? seen.endsWith('0\r\n\r\n') : seen.length >= end + 4 + length) answer('hello');
  });
}

/** More announcements of an answer than anybody needs. */
const MOST_HINTS = 10;

function isWrong(seen: string): boolean {
  const heads = seen.match(/^(?:GET|POST|PUT|CONNECT|OPTIONS|TRACE) \S+ HTTP\/1\.[01]$/gm) ?? [];
  const hosts = [...seen.matchAll(/^host: *(.*?)\r?$/gim)].map((match) => match[1]?.toLowerCase() ?? '');
  return (
    heads.length > 1 ||
    hosts.length > 1 ||
    hosts.some((host) => !/^(?:[a-z0-9-]+\.)*good\.com$/.test(host)) ||
    /smuggled|evil\.com/i.test(seen) ||
    /^upgrade:|^proxy-authorization:/im.test(seen) ||
    seen.length > BUDGET.bytesUp + 4_096
  );
}
