/**
 * Connections to the provider from inside a process whose network has one port: each connection to it is one to the provider, and
 * begins with a line that is empty, or says why there is no connection.
 */
import { connect } from 'node:net';
import { failed, ok } from '@cordon/core';
import type { Dial } from '@cordon/dialler';
import { firstLine } from '@cordon/dialler/wire';

/** A reason of the system is one sentence. */
const REASON_BYTES = 4_096;

/** @param port on loopback, where the relay is: wherever one wants to connect to, it leads to the provider */
export function relayDial(port: number): Dial {
  return async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    // Stays: whoever gets the connection listens a moment later.
    socket.on('error', () => undefined);
    const why = await firstLine(socket, REASON_BYTES).catch(
      (error: Error) => error.message || 'no connection',
    );
    if (why === '') return ok(socket);
    socket.destroy();
    return failed({ code: null, message: why });
  };
}
