/** Writes a line for each time that it was told to keep free. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { speak } from './lines.mjs';

speak({
  cancel: ({ from, until }) => {
    appendFileSync(join(process.env.STATE, 'free.txt'), `${from} ${until}\n`);
    return 'cancelled';
  },
});
