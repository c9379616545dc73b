/**
 * The confined process of one module of the user's predicates: it sees the module's folder, for reading, and reaches what the
 * configuration grants to it. When it ends, its open questions have no answer, and their rules are undecided.
 *
 * What the process says is hostile by assumption.
 */
import { dirname, extname } from 'node:path';
import type { ModuleSettings } from '@cordon/config';
import {
  DEFAULT_APP_LIMITS,
  type Fault,
  failed,
  fault,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { INSIDE_FOLDER } from '@cordon/detectors';
import type { Dialler } from '@cordon/dialler';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  oneAtATime,
  openEgressProxy,
  parseReach,
  type WayOut,
} from '@cordon/egress';
import {
  type ConfinedProcess,
  checkPath,
  NODE_INSIDE,
  type Sandbox,
  type SandboxSpec,
} from '@cordon/sandbox';
import { type HelperLife, type HelperPeer, HelperProcess } from '@cordon/sandbox/helper';
import { digestTreeInPieces } from '@cordon/sandbox/tree-digest';

const START_MS = 20_000;
/** An idle process of 50 MiB is not kept. */
const IDLE_MS = 60_000;
const ANSWER_LIMITS = { length: 1024 * 1024, depth: 32, elements: 20_000 } as const;
/** A UTF-16 unit has at most three bytes. */
const LINE_BYTES = 3 * ANSWER_LIMITS.length;
const PAUSE_MS = { first: 100, longest: 5_000 };
const CODE_INSIDE = '/opt/predicates';
const MODULE_INSIDE = '/module';

export class ModuleProcess {
  readonly #helper: HelperProcess<ModuleLink>;

  constructor(settings: ModuleSettings, sandbox: Sandbox, dialler: Dialler) {
    this.#helper = new HelperProcess({
      spawn: (signal) => spawn(settings, sandbox, dialler, signal),
      open: (life) => new ModuleLink(life),
      lineBytes: LINE_BYTES,
      idleMs: IDLE_MS,
      pauseMs: PAUSE_MS,
    });
  }

  /** The module's declaration, unchecked. The failure may quote the module. */
  async declared(): Promise<Result<Json, string>> {
    const link = await this.#helper.peer();
    return link.ok ? link.value.declared : failed(link.fault.message);
  }

  /** The answer of a function. Aborting ends the process: it cannot be interrupted in any other way. */
  async answer(name: string, values: JsonObject, signal: AbortSignal): Promise<Result<Json, string>> {
    const link = await this.#helper.peer();
    return link.ok && (await link.value.declared).ok
      ? link.value.ask(name, values, signal)
      : failed(`the module of \`${name}\` cannot be started`);
  }

  /** Ends the process; from then on nothing is answered. */
  close(): Promise<void> {
    return this.#helper.close();
  }
}

async function spawn(
  settings: ModuleSettings,
  sandbox: Sandbox,
  dialler: Dialler,
  signal: AbortSignal,
): Promise<Result<ConfinedProcess, Fault>> {
  const { file, digest, network } = settings;
  // Attack: the module is replaced after the user agreed to it.
  const tree = await digestTreeInPieces(dirname(file), 'the folder of the module');
  if (!tree.ok) return tree;
  if (tree.value.digest !== digest)
    return failed(
      fault('sandbox-unavailable', 'its files are not those that were read with the configuration'),
    );
  const spec = specOf(settings);
  if (!spec.ok) return spec;
  const way = network.length === 0 ? ok(null) : wayOut(network, dialler);
  if (!way.ok) return way;
  const process = await sandbox.spawn(spec.value, signal);
  if (!process.ok) return process;
  process.value.stderr?.resume();
  if (way.value !== null) void serve(process.value, way.value);
  return process;
}

/** What the process may use: our Node, our two files, and the module's folder. */
function specOf({ file, network }: ModuleSettings): Result<SandboxSpec, Fault> {
  const own = checkPath(dirname(file));
  const code = checkPath(INSIDE_FOLDER);
  if (!own.ok) return own;
  if (!code.ok) return code;
  const name = file.slice(dirname(file).length + 1);
  return ok({
    executable: NODE_INSIDE,
    args: [`${CODE_INSIDE}/run${extname(import.meta.url)}`, `${MODULE_INSIDE}/${name}`],
    env: {},
    cwd: MODULE_INSIDE,
    mounts: [
      { host: code.value, inside: CODE_INSIDE, access: 'read' },
      { host: own.value, inside: MODULE_INSIDE, access: 'read' },
    ],
    profile: 'tight',
    nodeGrants: [],
    limits: DEFAULT_APP_LIMITS,
    tmpMiB: null,
    usr: false,
    stdin: 'none',
    stdout: 'none',
    stderr: 'pipe',
    link: true,
    network: { kind: network.length === 0 ? 'none' : 'handover' },
  });
}

function wayOut(network: readonly string[], { lookup, dial }: Dialler): Result<WayOut, Fault> {
  const reach = parseReach(network);
  if (!reach.ok) return failed(fault('sandbox-unavailable', reach.fault.message));
  return ok({
    reach: reach.value,
    // The configuration grants the hosts, and each question that leads to a request has been decided.
    decide: async () => true,
    decideMs: 1_000,
    lookup: oneAtATime(lookup),
    dial,
    budget: new Budget(DEFAULT_EGRESS_LIMITS, () => performance.now()),
    onRefused: () => undefined,
    onClosed: () => undefined,
  });
}

async function serve({ listener, exited, kill }: ConfinedProcess, way: WayOut): Promise<void> {
  const handed = (await listener) ?? null;
  if (handed === null) return;
  const proxy = await openEgressProxy(handed, way);
  if (!proxy.ok) return kill();
  await exited;
  await proxy.value.close();
}

/** What one process was asked. */
class ModuleLink implements HelperPeer {
  readonly #life: HelperLife;
  readonly #waiting = new Map<number, (answer: Result<Json, null>) => void>();
  readonly #greeting = Promise.withResolvers<Result<Json, string>>();
  readonly #late: NodeJS.Timeout;
  #asked = 0;
  #hasGreeted = false;
  /** What the module declares. It fails if the module cannot be loaded, or says nothing in time. */
  readonly declared = this.#greeting.promise;

  constructor(life: HelperLife) {
    this.#life = life;
    this.#late = setTimeout(() => life.end('it did not start in time'), START_MS);
  }

  isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  async ask(name: string, values: JsonObject, signal: AbortSignal): Promise<Result<Json, string>> {
    if (this.#life.isOver || signal.aborted) return failed(`\`${name}\` gave no answer`);
    const number = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<Result<Json, null>>();
    this.#waiting.set(number, resolve);
    const end = () => this.#life.end('it is late');
    signal.addEventListener('abort', end, { once: true });
    this.#life.write(`${JSON.stringify({ id: number, name, values })}\n`);
    const answer = await promise;
    signal.removeEventListener('abort', end);
    // The module's reason is not passed on: it could contain the values of the question.
    return answer.ok ? answer : failed(`\`${name}\` gave no answer${signal.aborted ? ' in time' : ''}`);
  }

  hear(line: string): string | null {
    const message = parseJson(line, ANSWER_LIMITS);
    const said = message.ok && isJsonObject(message.value) ? message.value : {};
    // Attack: a module that says the same forever, which the hub reads forever.
    if (!this.#hasGreeted) return this.#greet(said);
    const resolve = typeof said.id === 'number' ? this.#waiting.get(said.id) : undefined;
    // After a line that answers no question, later answers are not trusted either.
    if (typeof said.id !== 'number' || resolve === undefined) return 'it answers no question';
    this.#waiting.delete(said.id);
    this.#life.hasAnswered = true;
    resolve(said.answer === undefined ? failed(null) : ok(said.answer));
    return null;
  }

  #greet({ declared, unusable }: JsonObject): string | null {
    this.#hasGreeted = true;
    clearTimeout(this.#late);
    if (declared !== undefined) this.#greeting.resolve(ok(declared));
    else if (typeof unusable === 'string') this.#greeting.resolve(failed(unusable.slice(0, 500)));
    return declared === undefined ? 'it declares nothing' : null;
  }

  over(why: string): void {
    clearTimeout(this.#late);
    this.#greeting.resolve(failed(why));
    for (const resolve of this.#waiting.values()) resolve(failed(null));
    this.#waiting.clear();
  }
}
