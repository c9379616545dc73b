/**
 * A request of a peer and its answer: over the hub's link, with a confined peer and every check that the hub makes,
 * and over a bare pipe with none. A confined peer has its own session, so that it cannot type into the user's
 * terminal; where Linux groups what it schedules by session (`sched_autogroup_enabled`), waking a process of another session
 * takes longer, most of all on busy cores. So the pipe is measured both ways, and the link is compared with its like.
 */
import { DEFAULT_TURN_LIMITS, isJsonObject, ok } from '@cordon/core';
import { loopSpec, type Serve, SpokeLink } from '@cordon/hub/parts';
import { checkPath, type Mount } from '@cordon/sandbox';
import { bare, fail, must, PROGRAMS, type Rig } from '@cordon/testkit/isolation/rig.ts';
import { CODE_ROOT } from '../places.ts';

/** Fewer than a turn may have. */
const TIMES = 400;
/** So often before it counts: both ends then run compiled code. */
const WARM_UPS = 6;

/** Microseconds for one round trip. */
export async function overLink(rig: Rig, bytes: number): Promise<number> {
  const link = new SpokeLink(await linkPeer(rig), DEFAULT_TURN_LIMITS);
  const echo: Serve = async (request) =>
    ok({
      type: 'output',
      text: request.type === 'tool' ? String(request.arguments.text) : fail('another request'),
      isError: false,
    });
  const turn = (times: number) =>
    link.runTurn(
      {
        system: '',
        history: [],
        query: `${times} ${bytes}`,
        data: [],
        tools: [],
        offers: [],
        functionalities: [],
        serves: null,
        maxSteps: 1,
      },
      echo,
      (reason) => fail(reason),
      new AbortController().signal,
    );
  for (let times = 0; times < WARM_UPS; times++) must(await turn(TIMES));
  const began = performance.now();
  must(await turn(TIMES));
  const took = performance.now() - began;
  link.close();
  return (took * 1000) / TIMES;
}

/** As the agent loop is confined, with another program. */
async function linkPeer({ sandbox }: Rig) {
  const folders = ['packages/core', 'packages/protocol', 'packages/spoke', 'node_modules/@cordon'];
  const mounts = [
    ...folders.map((folder) => mount(`${CODE_ROOT}/${folder}`, `/cordon/${folder}`)),
    mount(PROGRAMS, '/cordon/testkit/isolation/programs'),
  ];
  const base = must(loopSpec(CODE_ROOT));
  const spec = { ...base, args: ['/cordon/testkit/isolation/programs/link-peer.mjs'], mounts };
  const running = must(await sandbox.spawn(spec, new AbortController().signal));
  const { link } = running;
  if (link === null) fail('the peer has no link');
  return {
    link,
    layers: running.layers,
    ended: running.exited.then(({ message }) => message),
    stderrTail: () => '',
    kill: () => running.kill(),
  };
}

function mount(path: string, inside: string): Mount {
  return { host: must(checkPath(path)), inside, access: 'read' };
}

/** Microseconds for one round trip; the last `TIMES` count. */
export function overPipe(bytes: number, ownSession: boolean): Promise<number> {
  const times = (WARM_UPS + 1) * TIMES;
  const child = bare([`${PROGRAMS}/bare-peer.mjs`, String(times), String(bytes)], {}, ownSession);
  let rest = '';
  let answered = 0;
  let began = 0;
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const message: unknown = JSON.parse(line);
        if (!isJsonObject(message)) return reject(new Error('no message'));
        if (message.type === 'done') {
          const took = performance.now() - began;
          return resolve((took * 1000) / TIMES);
        }
        if (answered++ === WARM_UPS * TIMES) began = performance.now();
        const { text } = isJsonObject(message.arguments) ? message.arguments : {};
        child.stdin?.write(`${JSON.stringify({ type: 'output', id: message.id, text, isError: false })}\n`);
      }
    });
  });
}
