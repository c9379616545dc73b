/**
 * The confined process of one module of the user's predicates: it sees the module's folder, for reading, and reaches what the
 * configuration grants to it. The first question starts it. It is ended when it is late, breaks the protocol or is idle; its open
 * questions then have no answer, and their rules are undecided.
 *
 * Ring 0: what the process says is hostile by assumption.
 */
import { connect as dial } from 'node:net';
import { dirname, extname } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ModuleSettings } from '@cordon/config';
import {
  DEFAULT_APP_LIMITS,
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { INSIDE_FOLDER } from '@cordon/detectors';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  oneAtATime,
  openEgressProxy,
  parseReach,
  systemLookup,
  type WayOut,
} from '@cordon/egress';
import {
  type ConfinedProcess,
  checkPath,
  NODE_INSIDE,
  type Sandbox,
  type SandboxSpec,
} from '@cordon/sandbox';
import { digestTreeInPieces } from '@cordon/sandbox/tree-digest';

const START_MS = 20_000;
/** An idle process of 50 MiB is not kept. */
const IDLE_MS = 60_000;
const ANSWER_LIMITS = { length: 1024 * 1024, depth: 32, elements: 20_000 } as const;
const CODE_INSIDE = '/opt/predicates';
const MODULE_INSIDE = '/module';

export class ModuleProcess {
  readonly #settings: ModuleSettings;
  readonly #sandbox: Sandbox;
  readonly #ending = new AbortController();
  #running: { readonly link: Promise<Result<Link, string>> } | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(settings: ModuleSettings, sandbox: Sandbox) {
    this.#settings = settings;
    this.#sandbox = sandbox;
  }

  /** The module's declaration, unchecked. The failure may quote the module. */
  async declared(): Promise<Result<Json, string>> {
    const link = await this.#link();
    return link.ok ? link.value.declared : link;
  }

  /** The answer of a function. Aborting ends the process: it cannot be interrupted in any other way. */
  async answer(name: string, values: JsonObject, signal: AbortSignal): Promise<Result<Json, string>> {
    const link = await this.#link();
    return link.ok
      ? link.value.ask(name, values, signal)
      : failed(`the module of \`${name}\` cannot be started`);
  }

  /** Ends the process; from then on nothing is answered. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#ending.abort();
    const link = await this.#running?.link;
    if (link?.ok === true) await link.value.end();
  }

  async #link(): Promise<Result<Link, string>> {
    this.#restLater();
    const running = this.#running ?? { link: this.#start(() => forget()) };
    const forget = () => {
      if (this.#running === running) this.#running = null;
    };
    this.#running = running;
    const link = await running.link;
    if (!link.ok) forget();
    return link;
  }

  #restLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#rest(), IDLE_MS).unref();
  }

  async #rest(): Promise<void> {
    const link = await this.#running?.link;
    if (link?.ok !== true) return;
    if (link.value.isBusy) this.#restLater();
    else await link.value.end();
  }

  /** @param onOver when the process can be asked no more */
  async #start(onOver: () => void): Promise<Result<Link, string>> {
    const { file, digest, network } = this.#settings;
    // Attack: the module is replaced after the user agreed to it.
    const tree = await digestTreeInPieces(dirname(file), 'the folder of the module');
    if (!tree.ok) return failed(tree.fault.message);
    if (tree.value.digest !== digest)
      return failed('its files are not those that were read with the configuration');
    const spec = specOf(this.#settings);
    if (!spec.ok) return spec;
    const way = network.length === 0 ? ok(null) : wayOut(network);
    if (!way.ok) return way;
    const process = await this.#sandbox.spawn(spec.value, this.#ending.signal);
    if (!process.ok) return failed(process.fault.message);
    const { link, stderr } = process.value;
    stderr?.resume();
    if (link === null) return failed('its process has no link');
    if (way.value !== null) void serve(process.value, way.value);
    return Link.open(process.value, link, onOver);
  }
}

/** What the process may use: our Node, our two files, and the module's folder. */
function specOf({ file, network }: ModuleSettings): Result<SandboxSpec, string> {
  const own = checkPath(dirname(file));
  const code = checkPath(INSIDE_FOLDER);
  if (!own.ok || !code.ok) return failed(own.ok ? (code.ok ? '' : code.fault.message) : own.fault.message);
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

function wayOut(network: readonly string[]): Result<WayOut, string> {
  const reach = parseReach(network);
  if (!reach.ok) return failed(reach.fault.message);
  return ok({
    reach: reach.value,
    // The configuration grants the hosts, and each question that leads to a request has been decided.
    decide: async () => true,
    decideMs: 1_000,
    lookup: oneAtATime(systemLookup),
    dial: (address, port) => dial(port, address),
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

/** One running process, and who waits for it. */
class Link {
  readonly #process: ConfinedProcess;
  readonly #link: Duplex;
  readonly #onOver: () => void;
  readonly #waiting = new Map<number, (answer: Result<Json, null>) => void>();
  readonly #greeting = Promise.withResolvers<Result<Json, string>>();
  #asked = 0;
  #hasGreeted = false;
  #line = '';
  #isOver = false;
  /** What the module declares. */
  declared: Result<Json, string> = failed('it has said nothing');

  private constructor(process: ConfinedProcess, link: Duplex, onOver: () => void) {
    this.#process = process;
    this.#onOver = onOver;
    this.#link = link;
    link.setEncoding('utf8');
    link.on('data', (text: string) => this.#take(text));
    link.on('error', () => this.#over());
    link.on('close', () => this.#over());
    void process.exited.then(({ message }) => {
      this.#greeting.resolve(failed(message));
      this.#over();
    });
  }

  /** Fails where the module cannot be loaded, or says nothing in time. */
  static async open(
    process: ConfinedProcess,
    duplex: Duplex,
    onOver: () => void,
  ): Promise<Result<Link, string>> {
    const link = new Link(process, duplex, onOver);
    const late = setTimeout(() => link.#greeting.resolve(failed('it did not start in time')), START_MS);
    link.declared = await link.#greeting.promise;
    clearTimeout(late);
    if (link.declared.ok) return ok(link);
    const { fault } = link.declared;
    await link.end();
    return failed(fault);
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  async ask(name: string, values: JsonObject, signal: AbortSignal): Promise<Result<Json, string>> {
    if (this.#isOver || signal.aborted) return failed(`\`${name}\` gave no answer`);
    const number = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<Result<Json, null>>();
    this.#waiting.set(number, resolve);
    const end = () => this.#over();
    signal.addEventListener('abort', end, { once: true });
    this.#link.write(`${JSON.stringify({ id: number, name, values })}\n`);
    const answer = await promise;
    signal.removeEventListener('abort', end);
    // The module's reason is not passed on: it could contain the values of the question.
    return answer.ok ? answer : failed(`\`${name}\` gave no answer${signal.aborted ? ' in time' : ''}`);
  }

  async end(): Promise<void> {
    this.#over();
    await this.#process.exited;
  }

  #take(text: string): void {
    const lines = `${this.#line}${text}`.split('\n');
    this.#line = lines.pop() ?? '';
    if (this.#line.length > ANSWER_LIMITS.length) return this.#over();
    for (const line of lines) this.#hear(parseJson(line, ANSWER_LIMITS));
  }

  #hear(message: Result<Json, string>): void {
    const said = message.ok && isJsonObject(message.value) ? message.value : null;
    if (this.#isOver) return;
    // Attack: a module that says the same for ever, which the hub reads for ever.
    const isGreeting = !this.#hasGreeted;
    this.#hasGreeted = true;
    if (isGreeting && said?.declared !== undefined) return this.#greeting.resolve(ok(said.declared));
    if (isGreeting && typeof said?.unusable === 'string')
      return this.#greeting.resolve(failed(said.unusable.slice(0, 500)));
    const number = typeof said?.id === 'number' ? said.id : -1;
    const resolve = this.#waiting.get(number);
    // A line that answers no question breaks the protocol, so later answers are not trusted either.
    if (said === null || resolve === undefined) return this.#over();
    this.#waiting.delete(number);
    resolve(said.answer === undefined ? failed(null) : ok(said.answer));
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.#process.kill();
    for (const resolve of this.#waiting.values()) resolve(failed(null));
    this.#waiting.clear();
  }
}
