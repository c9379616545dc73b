/** The program that runs inside a spoke's sandbox, on a socket that it inherits. It ends with its link. */
import { Socket } from 'node:net';
import { runSpoke } from './spoke.ts';

const LINK_DESCRIPTOR = 3;

runSpoke(new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true }), () => process.exit(0));
