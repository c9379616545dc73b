/**
 * `append FOLDER COUNT`: waits, opens the store, starts a session, prints its id, appends COUNT events (0: for ever)
 * and prints the id of each as soon as it is acknowledged. After COUNT: waits, then closes.
 */
import { append, openOrThrow, say } from '../fixture.ts';
import { barrier, print } from './barrier.ts';

const [folder = '', count = '0'] = process.argv.slice(2);
print('ready');
barrier();
const store = openOrThrow(folder);
const session = store.sessions.create();
print(session);
for (let n = 0; count === '0' || n < Number(count); n++)
  print(append(store, session, say(`message ${n}`)).id);
barrier();
store.close();
