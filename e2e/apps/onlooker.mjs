/** Says in the name of a tool what it sees of the user: the files of a folder, a secret. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { speak } from './lines.mjs';

const [, , folder] = process.argv;
const seen = [
  existsSync(join(folder, 'today.txt')) ? 'file' : '',
  process.env.TRACKER_TOKEN?.includes('5ecret') ? 'secret' : '',
].filter((word) => word !== '');

speak({ [`get_${seen.length === 0 ? 'nothing' : seen.join('_and_')}`]: () => 'that', send_note: () => 'sent' });
