/**
 * Compiled code of our own programs: with it a process starts in half the time and takes a third of the memory, because Node
 * need not strip types. What V8 finds there it runs, so it is code: a confined run of the same program that is given nothing to do
 * writes it once, and every other run sees it read-only. No app ever sees it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './command/make-folder.ts';
import type { Sandbox } from './spec/backend.ts';
import { checkPath } from './spec/checked-path.ts';
import { type Program, programOf } from './spec/own-code.ts';
import type { Mount, SandboxSpec } from './spec/spec.ts';

const INSIDE = '/compiled';
/** Compiling takes a second on a busy machine. */
const FILL_MS = 20_000;

/**
 * The same sandbox, which keeps the compiled code of what `ownCodeSpec` describes.
 * @param folder of the hub alone; made if it is missing. Absent: nothing is kept
 */
export function withCompiledCode(sandbox: Sandbox, folder: string | undefined): Sandbox {
  if (folder === undefined) return sandbox;
  const caches = new Map<string, CompiledCode>();
  const cacheOf = (program: Program) => {
    const cache = caches.get(program.name) ?? new CompiledCode(sandbox, join(folder, program.name), program);
    caches.set(program.name, cache);
    return cache;
  };
  return {
    probe: () => sandbox.probe(),
    spawn: async (spec, signal) => {
      const program = programOf(spec);
      if (program === null) return sandbox.spawn(spec, signal);
      const cache = cacheOf(program);
      const process = await sandbox.spawn(cache.applied(spec), signal);
      // Beside the first process, which has to do without: the next one has it.
      // Without a network: what is compiled is the same, and there is nothing to hand over.
      if (process.ok) void cache.fill({ ...spec, network: { kind: 'none' } }, signal);
      return process;
    },
  };
}

class CompiledCode {
  readonly #sandbox: Sandbox;
  readonly #folder: string;
  readonly #place: string;
  #isTried = false;

  constructor(sandbox: Sandbox, folder: string, { sources }: Program) {
    this.#sandbox = sandbox;
    this.#folder = folder;
    // Other sources, other code: a folder is never filled twice.
    this.#place = join(folder, `${process.version}-${digestOf(sources)}`);
  }

  /** The same process with its compiled code, if there is any yet. */
  applied(spec: SandboxSpec): SandboxSpec {
    const mount = existsSync(this.#place) ? mountOf(this.#place, 'read') : null;
    return mount === null ? spec : withCache(spec, mount);
  }

  /** Lets one process come up and end, so that it leaves its compiled code. Once in the life of a hub; never throws. */
  async fill(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    if (this.#isTried || existsSync(this.#place)) return;
    this.#isTried = true;
    let draft: string | null = null;
    try {
      makeFolder(this.#folder);
      draft = mkdtempSync(join(this.#folder, 'draft-'));
      if (!(await this.#run(spec, draft, signal)) || readdirSync(draft).length === 0) return;
      for (const old of readdirSync(this.#folder))
        if (join(this.#folder, old) !== draft) remove(join(this.#folder, old));
      renameSync(draft, this.#place);
    } catch {
      // Without it processes start more slowly, and nothing else.
    } finally {
      if (draft !== null) remove(draft);
    }
  }

  /** Whether the process ended by itself: only then Node has written what it compiled. */
  async #run(spec: SandboxSpec, draft: string, signal: AbortSignal): Promise<boolean> {
    const mount = mountOf(draft, 'own');
    if (mount === null) return false;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(FILL_MS)]);
    const process = await this.#sandbox.spawn(withCache(spec, mount), deadline);
    if (!process.ok || process.value.link === null) return false;
    const { link, exited } = process.value;
    link.on('error', () => undefined);
    link.resume();
    // Each of our programs loads all of its modules, and then ends with its link.
    link.end();
    return (await exited).code === 0;
  }
}

function withCache(spec: SandboxSpec, mount: Mount): SandboxSpec {
  // With a network the hand-over runs first, in the same Node, and must not load code that is kept: it tells Node afterwards.
  const variable = spec.network.kind === 'none' ? 'NODE_COMPILE_CACHE' : 'CORDON_COMPILED';
  const env = { ...spec.env, [variable]: INSIDE };
  // Node uses no compiled code where its permission model would not let it write: the mount is what forbids that.
  const args = [`--allow-fs-write=${INSIDE}`, ...spec.args];
  return { ...spec, args, env, mounts: [...spec.mounts, mount] };
}

function mountOf(folder: string, access: 'read' | 'own'): Mount | null {
  const host = checkPath(folder);
  return host.ok ? { host: host.value, inside: INSIDE, access } : null;
}

/** Of names, sizes and times: Node compares the sources themselves with what was compiled of them. */
function digestOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders)
    for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true }).sort()) {
      const { size, mtimeMs } = statSync(join(folder, name));
      hash.update(`${folder}/${name}\0${size}\0${mtimeMs}\0`);
    }
  return hash.digest('hex').slice(0, 16);
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
