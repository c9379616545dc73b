/** `throw-in-listener FOLDER`: prints a session, appends one event to it with a broken listener, prints `appended`. */
import { append, openOrThrow, say } from '../fixture.ts';
import { print } from './barrier.ts';

const store = openOrThrow(process.argv[2] ?? '');
const session = store.sessions.create();
print(session);
store.journal.subscribe(() => {
  throw new Error('the display is broken');
});
append(store, session, say('x'));
print('appended');
