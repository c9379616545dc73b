/**
 * The dialling process: it stays in the network of the machine, and the hub has none. The launcher (packages/cli/bin/cordon) starts
 * it when the hub first dials, and ends it with the hub.
 */
import { serve } from './serve.ts';

const [path = ''] = process.argv.slice(2);

// Ctrl-C is for the hub, which may continue.
process.on('SIGINT', () => undefined);

// Whoever started this process ends it. If that one was killed, nobody does.
const LOOK_MS = 5_000;
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(0);
}, LOOK_MS);

serve(path);
