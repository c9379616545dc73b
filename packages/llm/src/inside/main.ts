/**
 * The program inside a provider process: it serves calls on an inherited socket, and ends with it. All that it can reach is the
 * loopback port behind which the hub has put its provider.
 *
 * Ring 1.
 */
import { Socket } from 'node:net';
import { sleep } from '../transport/retry.ts';
import { serveCalls } from './serve-calls.ts';
import { tunnelFetch } from './tunnel-fetch.ts';

const LINK_DESCRIPTOR = 3;
const { port } = new URL(process.env.HTTP_PROXY ?? '');

serveCalls(
  new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true }),
  { fetch: tunnelFetch(Number(port)), random: Math.random, clock: Date.now, sleep },
  () => process.exit(0),
);
