/**
 * The program inside a provider process: it serves calls on an inherited socket, and ends with it. All that it can reach is the
 * loopback port behind which the hub has put its provider.
 */
import { Socket } from 'node:net';
import { fetchOver } from '@cordon/dialler/fetch';
import { sleep } from '../transport/retry.ts';
import { relayDial } from './relay-dial.ts';
import { serveCalls } from './serve-calls.ts';

const LINK_DESCRIPTOR = 3;
/** 0 where the process comes up to be compiled, and has no network. */
const port = Number(URL.parse(process.env.HTTP_PROXY ?? '')?.port ?? 0);

serveCalls(
  new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true }),
  { fetch: fetchOver(relayDial(port)), random: Math.random, clock: Date.now, sleep },
  () => process.exit(0),
);
