/** Prints what the self-test reports, as one line of JSON. */
import { openSandbox } from '../src/index.ts';

console.log(JSON.stringify(await openSandbox({ node: process.execPath }).probe()));
process.exit(0);
