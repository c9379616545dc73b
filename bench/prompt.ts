/** How long a user waits for a program to be there: the prompt of `cordon chat`, and bare Node beside it. */

import { WatchedProcess } from '@cordon/testkit/watched-process.ts';
import { CONFIGURATION, CORDON, type Home, NODE } from './places.ts';

const PROMPT = 'cordon> ';
const CHAT = ['chat', '--config', CONFIGURATION];

/** From the start of the process to the prompt in the pipe. Ends the session as a user would. */
export async function throughPipe({ environment }: Home): Promise<number> {
  const chat = new WatchedProcess({ command: CORDON, args: CHAT, environment });
  const shown = await chat.errors.until(PROMPT);
  chat.say('/exit');
  await chat.done();
  return shown - chat.began;
}

/** From the start of the process until a query that is typed at once has been taken: what is loaded behind the prompt is in it. */
export async function queryTaken({ environment }: Home): Promise<number> {
  const chat = new WatchedProcess({ command: CORDON, args: [...CHAT, '--json'], environment });
  await chat.errors.until(PROMPT);
  chat.say('hello');
  const taken = await chat.output.until('"kind":"user.message"');
  chat.say('/exit');
  await chat.done();
  return taken - chat.began;
}

/** To the prompt on its own terminal, which `script` (util-linux) makes; its start is in the time. */
export async function onTerminal({ environment }: Home): Promise<number> {
  const line = ['exec', CORDON, ...CHAT]
    .map((word) => `'${word}'`)
    .join(' ')
    .replace("'exec'", 'exec');
  const args = ['--quiet', '--flush', '--return', '--command', line, '/dev/null'];
  const chat = new WatchedProcess({
    command: 'script',
    args,
    environment: { ...environment, TERM: 'xterm' },
  });
  const shown = await chat.output.until(PROMPT);
  chat.say('/exit');
  await chat.done();
  return shown - chat.began;
}

/** The least that anything written for Node can take here: start, empty program, end. */
export async function bareNode({ environment }: Home): Promise<number> {
  const node = new WatchedProcess({ command: NODE, args: ['-e', '0'], environment });
  await node.done();
  return performance.now() - node.began;
}
