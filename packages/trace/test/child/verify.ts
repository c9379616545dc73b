/** `verify FOLDER SESSION`: prints `intact COUNT`, or `broken`. */
import { id } from '@cordon/core';

import { openOrThrow } from '../fixture.ts';
import { print } from './barrier.ts';

const [folder = '', session = ''] = process.argv.slice(2);
const verification = openOrThrow(folder).journal.verify(id(session));
print(verification.intact ? `intact ${verification.head.events}` : 'broken');
