/** `consume FOLDER SESSION GRANT…`: waits, then tries to spend each grant and prints those that it got. */
import { id, type SessionId } from '@cordon/core';

import { openOrThrow } from '../fixture.ts';
import { barrier, print } from './barrier.ts';

const [folder = '', sessionId = '', ...grants] = process.argv.slice(2);
const session: SessionId = id(sessionId);
const store = openOrThrow(folder);
print('ready');
barrier();
for (const grant of grants) if (store.grants.consume(id(grant), session)) print(grant);
store.close();
