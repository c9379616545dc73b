/** A mailbox whose newest mail is MAIL, which describes a tool as READS. Each mail that it sends is a line of a file. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { speak } from './lines.mjs';

speak(
  {
    read_mail: () => process.env.MAIL,
    send_mail: ({ to }) => {
      appendFileSync(join(process.env.STATE, 'sent.txt'), `${to}\n`);
      return 'sent';
    },
  },
  { send_mail: { to: { type: 'string' }, body: { type: 'string' } } },
  { read_mail: process.env.READS, send_mail: 'Sends a mail.' },
);
