/**
 * `outcomes FOLDER`: starts a session and prints its id. Appends a proposal, its decision that allows and what became of
 * it, in this order, each between the lines `before KIND` and `after KIND`; prints how long the write-ahead log was after
 * the decision, then waits.
 */
import { statSync } from 'node:fs';

import { append, DECIDED, EXECUTED, openOrThrow, PROPOSED, say } from '../fixture.ts';
import { barrier, print } from './barrier.ts';

const store = openOrThrow(process.argv[2] ?? '');
const session = store.sessions.create();
print(session);
let logBytes = 0;
for (const body of [PROPOSED, DECIDED, EXECUTED, say('one'), say('two')]) {
  print(`before ${body.kind}`);
  append(store, session, body);
  print(`after ${body.kind}`);
  if (body.kind === DECIDED.kind) logBytes = statSync(`${store.file}-wal`).size;
}
print(String(logBytes));
barrier();
