/** Dials in the process that asks: for programs that use Cordon as a library, and where the hub shares the network of the machine. */
import { failed, ok, type Result } from '@cordon/core';
import { addressesOf, connected, faultOf, openBait } from './connect.ts';
import type { DialFault, Dialler } from './dialler.ts';

export const HERE: Dialler = {
  lookup: addressesOf,
  dial: (host, port, signal) => settled(connected(host, port, { allowHalfOpen: false, signal })),
  bait: () => settled(openBait()),
};

async function settled<T>(wanted: Promise<T>): Promise<Result<T, DialFault>> {
  try {
    return ok(await wanted);
  } catch (error) {
    return failed(faultOf(error));
  }
}
