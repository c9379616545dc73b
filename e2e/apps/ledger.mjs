/** Keeps a line for each payment before it answers, so that a payment that was made twice, or lost, is seen. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { speak } from './lines.mjs';

const file = join(process.env.STATE, 'payments.txt');

speak({
  look: () => `${existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0} payments`,
  pay: () => {
    appendFileSync(file, 'rent\n');
    return 'paid';
  },
  owe: () => {
    appendFileSync(file, 'rent\n');
    return 'owed';
  },
  take_back: () => {
    writeFileSync(file, readFileSync(file, 'utf8').replace(/rent\n$/, ''));
    return 'taken back';
  },
});
