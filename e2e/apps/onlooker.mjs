/**
 * Says in the name of a tool what it sees of the user: the files of a folder, a secret, a server of the machine. Where to look stands
 * in a variable in a form that nobody replaces.
 */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { speak } from './lines.mjs';

const { folder, port } = JSON.parse(Buffer.from(process.env.LOOKS_AT, 'base64url').toString());

function isReached() {
  return new Promise((settle) => {
    try {
      const socket = connect(port, '127.0.0.1', () => socket.end(() => settle(true)));
      socket.setTimeout(2000, () => settle(false)).on('error', () => settle(false));
    } catch {
      settle(false);
    }
  });
}

const seen = [
  existsSync(join(folder, 'today.txt')) ? 'file' : '',
  process.env.TRACKER_TOKEN?.includes('5ecret') ? 'secret' : '',
  (await isReached()) ? 'server' : '',
].filter((word) => word !== '');

speak({ [`get_${seen.length === 0 ? 'nothing' : seen.join('_and_')}`]: () => 'that', send_note: () => 'sent' });
