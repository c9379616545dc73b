/**
 * Rego by OPA itself. Where the program `opa` is at hand, policies are compiled to WebAssembly, as the documentation of
 * `@ai-sdk/policy-opa` has it. It is in no package of the registry, so without it they are evaluated by the OPA that is
 * built into a validator of API descriptions: the same engine and the same verdicts, but in batches and interpreted, so
 * that its time says nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isJsonObject, type Json } from '@cordon/core';
import { peerModule } from '../packages.ts';
import type { Evaluated, Evaluation } from './rego-worker.ts';

/** As `@ai-sdk/policy-opa` wants it. */
export interface PolicyClient {
  evaluate<Result>(path: string, input: unknown): Promise<Result>;
}

export interface RegoEngine {
  readonly isAsDeployed: boolean;
  /** @param policy the text of a module with `decision` in the package `agent.call` */
  client(policy: string): Promise<PolicyClient>;
}

const DEADLINE_MS = 60_000;

/** Null: neither is there. */
export async function regoEngine(): Promise<RegoEngine | null> {
  if (spawnSync('opa', ['version'], { timeout: DEADLINE_MS }).status === 0)
    return { isAsDeployed: true, client: compiledClient };
  const validator = await Validator.started();
  if (validator === null) return null;
  return { isAsDeployed: false, client: async (policy) => new BatchClient(validator, policy) };
}

// ── compiled ────────────────────────────────────────────────────────────────────────────────────────────────────

interface PolicyOpa {
  readonly wasmPolicyClient: (options: { readonly wasm: Uint8Array }) => Promise<PolicyClient>;
}

async function compiledClient(policy: string): Promise<PolicyClient> {
  const adapter = await peerModule<PolicyOpa>('@ai-sdk/policy-opa');
  if (adapter === null) throw new Error('`@ai-sdk/policy-opa` went away');
  const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-rego-'));
  try {
    const [source, bundle] = [join(folder, 'policy.rego'), join(folder, 'bundle.tar.gz')];
    writeFileSync(source, policy);
    run('opa', ['build', '-t', 'wasm', '-e', 'agent/call/decision', '-o', bundle, source]);
    run('tar', ['-xzf', bundle, '-C', folder, '/policy.wasm']);
    return await adapter.wasmPolicyClient({ wasm: readFileSync(join(folder, 'policy.wasm')) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(program: string, parameters: readonly string[]): void {
  const { status, stderr } = spawnSync(program, parameters, { encoding: 'utf8', timeout: DEADLINE_MS });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}

// ── in the validator ────────────────────────────────────────────────────────────────────────────────────────────

/** Holds the process only while something is being evaluated. */
class Validator {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (report: string) => void>();
  #asked = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ id, report }: Evaluated) => {
      this.#waiting.get(id)?.(report);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
    });
    worker.unref();
  }

  /** Null: it is not installed. */
  static async started(): Promise<Validator | null> {
    const worker = new Worker(new URL('./rego-worker.ts', import.meta.url));
    const isReady = await new Promise<boolean>((resolve, reject) => {
      worker.once('message', () => resolve(true));
      worker.once('exit', () => resolve(false));
      worker.once('error', reject);
    });
    return isReady ? new Validator(worker) : null;
  }

  evaluate(profile: string, data: string): Promise<string> {
    const id = ++this.#asked;
    this.#worker.ref();
    this.#worker.postMessage({ id, profile, data } satisfies Evaluation);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}

interface Open {
  readonly input: unknown;
  readonly settle: { resolve(result: unknown): void; reject(reason: Error): void };
}

/** What is asked in one turn of the event loop is evaluated at once, each question by itself. */
class BatchClient implements PolicyClient {
  readonly #validator: Validator;
  readonly #profile: string;
  #open: Open[] = [];

  constructor(validator: Validator, policy: string) {
    this.#validator = validator;
    this.#profile = profileOf(policy);
  }

  evaluate<Result>(_path: string, input: unknown): Promise<Result> {
    if (this.#open.length === 0) setImmediate(() => this.#evaluateAll());
    return new Promise<Result>((resolve, reject) => {
      // What the policy answers is for the adapter to check.
      this.#open.push({ input, settle: { resolve: (result) => resolve(result as Result), reject } });
    });
  }

  async #evaluateAll(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    try {
      const answers = answersIn(await this.#validator.evaluate(this.#profile, dataOf(open)));
      if (answers.length !== open.length)
        throw new Error(`${answers.length} decisions for ${open.length} calls`);
      for (const [index, { settle }] of open.entries()) settle.resolve(answers[index]);
    } catch (reason) {
      const error = reason instanceof Error ? reason : new Error(String(reason));
      for (const { settle } of open) settle.reject(error);
    }
  }
}

const REQUESTS = 'http://cordon.invalid/requests';

/**
 * The validator writes a rule around what a profile says. That rule is ended early, the policy stands behind it, and a
 * rule that never holds takes up what the validator writes last.
 */
function profileOf(policy: string): string {
  const body = policy
    .split('\n')
    .filter((line) => !/^(?:package|import) /.test(line))
    .map((line) => `      ${line.replaceAll('\t', '  ')}`);
  return `#%Validation Profile 1.0
profile: peers
violation:
  - decisions
validations:
  decisions:
    message: none
    targetClass: apiContract.WebAPI
    rego: |
      asked := json.unmarshal(x["${REQUESTS}"])
      said := json.marshal([d | request := asked.requests[_]; d := decision with input as object.union(request, {"messages": [m | i := request.messages[_]; m := asked.messages[i]]})])
      matches := error("decisions", x, said, [trace("rego", "", x, {"negated": false})])
      }

${body.join('\n')}

      never[matches] {
      x := {"@id": "none"}
      $result = true
`;
}

/** Messages that several calls share are written once. */
function dataOf(open: readonly Open[]): string {
  const messages = new Map<unknown, number>();
  const placeOf = (message: unknown): number => {
    const known = messages.get(message);
    if (known !== undefined) return known;
    messages.set(message, messages.size);
    return messages.size - 1;
  };
  const requests = open.map(({ input }) => {
    if (typeof input !== 'object' || input === null || !('messages' in input)) return input;
    return { ...input, messages: Array.isArray(input.messages) ? input.messages.map(placeOf) : [] };
  });
  const node = {
    '@id': 'http://cordon.invalid/1',
    '@type': ['http://a.ml/vocabularies/apiContract#WebAPI'],
    [REQUESTS]: JSON.stringify({ requests, messages: [...messages.keys()] }),
  };
  return JSON.stringify({ '@context': {}, '@graph': [node] });
}

function answersIn(report: string): readonly Json[] {
  if (!report.startsWith('[')) throw new Error(`no decisions: ${report.slice(0, 400)}`);
  const parsed: Json = JSON.parse(report);
  const said = textsNamed(parsed, 'resultMessage')[0];
  const answers: Json = said === undefined ? null : JSON.parse(said);
  if (!Array.isArray(answers)) throw new Error(`no decisions: ${report.slice(0, 400)}`);
  return answers;
}

function textsNamed(value: Json | undefined, name: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsNamed(item, name));
  if (!isJsonObject(value)) return [];
  const own = value[name];
  return [
    ...(typeof own === 'string' ? [own] : []),
    ...Object.values(value).flatMap((item) => textsNamed(item, name)),
  ];
}
