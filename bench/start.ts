/**
 * `npm run bench:start`: how long Cordon takes to be there, and an app to be at work when it is first needed. Real
 * processes, real sandboxes, the obedient model. Each round makes every measurement once, so that whatever else the
 * machine does falls on all of them; see docs/benchmarks.md.
 *
 * Exit codes: 0 every aim is met, 1 one is missed, 2 it could not be measured.
 */
import { parseArgs } from 'node:util';
import { ConfinedStarts } from './confined-start.ts';
import { APPS, type FirstCall, inAsk, inChat } from './first-call.ts';
import { Ledger } from './ledger.ts';
import { printRecords } from './machine/print.ts';
import { thisMachine } from './machine.ts';
import { type Home, Homes } from './places.ts';
import { bareNode, onTerminal, queryTaken, throughPipe } from './prompt.ts';

const LEAST_ROUNDS = 7;
const PROMPT_AIM = 500;
const FIRST_CALL_AIM = 400;
const BARE_NODE = 'node -e 0';

interface Stage {
  readonly homes: Homes;
  /** Where Cordon has run before: compiled code, a journal and the result of the self-test are there. */
  readonly warm: Home;
  readonly confined: ConfinedStarts;
  readonly ledger: Ledger;
  readonly say: (doing: string) => void;
}

async function round(number: number, { homes, warm, confined, ledger, say }: Stage): Promise<void> {
  say('the prompt');
  ledger.add(BARE_NODE, await bareNode(warm));
  ledger.add('chat: start → prompt, pipe', await throughPipe(warm), PROMPT_AIM);
  ledger.add('chat: start → prompt, pipe, with the network', await throughPipe(withNetwork(warm)));
  ledger.add('chat: start → prompt, terminal', await onTerminal(warm), PROMPT_AIM);
  ledger.add('chat: start → prompt, first ever', await throughPipe(homes.create()), PROMPT_AIM);

  ledger.add('chat: start → query taken, typed at once', await queryTaken(warm));

  const calls: FirstCall[] = [];
  for (const app of APPS) {
    say(`ask, ${app}`);
    const call = await inAsk(app, warm);
    ledger.add(`ask: ${app} needed → first call`, call.sinceNeed, FIRST_CALL_AIM);
    calls.push(call);
  }
  say('chat, all apps');
  const order = APPS.map((_, at) => APPS[(at + number) % APPS.length] ?? '');
  for (const [at, { sinceNeed }] of (await inChat(order, warm)).entries()) {
    // The first app of a session also waits for what all apps share, such as the MCP client.
    ledger.add(`chat: ${at === 0 ? 'first' : 'later'} app needed → first call`, sinceNeed, FIRST_CALL_AIM);
  }
  for (const { sinceQuery, start } of calls) {
    ledger.add('ask: query → first call', sinceQuery);
    ledger.add('ask: app started, tools listed', start);
  }
  say('parts');
  ledger.add('agent loop: start → ready', await confined.loop());
  for (const app of APPS) ledger.add('app: start → initialize answered', await confined.app(app));
  ledger.add('self-test of the sandbox', await confined.selfTest());
  const first = await inAsk(APPS[number % APPS.length] ?? '', homes.create());
  ledger.add('ask: first ever, with the self-test, needed → first call', first.sinceNeed);
}

/** The same home, for a hub that shares the network of the machine. */
function withNetwork({ folder, environment }: Home): Home {
  return { folder, environment: { ...environment, CORDON_NETWORK: 'shared' } };
}

/** Nothing of this is counted: it fills the caches, and fails at once if the machine cannot confine. */
async function warmUp({ warm, confined, say }: Stage): Promise<void> {
  say('filling the caches');
  await confined.selfTest();
  await throughPipe(warm);
  await inChat(APPS, warm);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: String(LEAST_ROUNDS) }, json: { type: 'boolean' } },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < LEAST_ROUNDS) {
    console.error(
      `--rounds takes a number of at least ${LEAST_ROUNDS}: fewer say nothing on a shared machine`,
    );
    return 2;
  }
  const machine = thisMachine();
  const homes = new Homes();
  try {
    const warm = homes.create();
    const ledger = new Ledger();
    const stage = { homes, warm, confined: new ConfinedStarts(warm), ledger };
    await warmUp({ ...stage, say: progress });
    for (let number = 1; number <= rounds; number++) {
      await round(number, { ...stage, say: (doing) => progress(`round ${number} of ${rounds}: ${doing}`) });
    }
    const rows = ledger.rows();
    if (values.json === true) console.log(JSON.stringify({ machine, rows }, null, 2));
    else await printRecords({ start: { rows } });
    return rows.some(({ met }) => met === false) ? 1 : 0;
  } finally {
    homes.remove();
  }
}

function progress(doing: string): void {
  console.error(`… ${doing}`);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
