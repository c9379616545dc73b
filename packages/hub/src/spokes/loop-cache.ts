/**
 * Compiled code of the agent loop: with it a loop starts in half the time and takes a third of the memory, because
 * Node need not strip types. What V8 finds there it runs, so it is code: it is written once, by a confined run of
 * our own loop that is given nothing to do, and every other loop sees it read-only. No app ever sees it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkPath, type Mount, makeFolder, type Sandbox, type SandboxSpec } from '@cordon/sandbox';

const LOOP_CACHE_INSIDE = '/compiled';
/** Compiling takes a second on a busy machine. */
const FILL_MS = 20_000;

export interface LoopCacheParts {
  readonly sandbox: Sandbox;
  /** The folders whose sources the loop consists of. */
  readonly sources: readonly string[];
  /** A folder of the hub alone; made if it is missing. */
  readonly folder: string;
}

export class LoopCache {
  readonly #parts: LoopCacheParts;
  readonly #place: string;
  #isTried = false;

  constructor(parts: LoopCacheParts) {
    this.#parts = parts;
    // Other sources, other code: a folder is never filled twice.
    this.#place = join(parts.folder, `${process.version}-${digestOf(parts.sources)}`);
  }

  /** The same loop with its compiled code, if there is any yet. */
  applied(spec: SandboxSpec): SandboxSpec {
    const mount = existsSync(this.#place) ? mountOf(this.#place, 'read') : null;
    return mount === null ? spec : withCache(spec, mount);
  }

  /** Lets one loop come up and end, so that it leaves its compiled code. Once in the life of a hub; never throws. */
  async fill(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    if (this.#isTried || existsSync(this.#place)) return;
    this.#isTried = true;
    let draft: string | null = null;
    try {
      makeFolder(this.#parts.folder);
      draft = mkdtempSync(join(this.#parts.folder, 'draft-'));
      if (!(await this.#run(spec, draft, signal)) || readdirSync(draft).length === 0) return;
      for (const old of readdirSync(this.#parts.folder))
        if (join(this.#parts.folder, old) !== draft) remove(join(this.#parts.folder, old));
      renameSync(draft, this.#place);
    } catch {
      // Without it loops start more slowly, and nothing else.
    } finally {
      if (draft !== null) remove(draft);
    }
  }

  /** Whether the loop was ready and then ended by itself: only then Node has written what it compiled. */
  async #run(spec: SandboxSpec, draft: string, signal: AbortSignal): Promise<boolean> {
    const mount = mountOf(draft, 'own');
    if (mount === null) return false;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(FILL_MS)]);
    const loop = await this.#parts.sandbox.spawn(withCache(spec, mount), deadline);
    if (!loop.ok || loop.value.link === null) return false;
    const { link } = loop.value;
    link.on('error', () => undefined);
    link.once('data', () => link.end());
    const { code } = await loop.value.exited;
    return code === 0;
  }
}

function withCache(spec: SandboxSpec, mount: Mount): SandboxSpec {
  const env = { ...spec.env, NODE_COMPILE_CACHE: LOOP_CACHE_INSIDE };
  // Node uses no compiled code where its permission model would not let it write: the mount is what forbids that.
  const args = [`--allow-fs-write=${LOOP_CACHE_INSIDE}`, ...spec.args];
  return { ...spec, args, env, mounts: [...spec.mounts, mount] };
}

function mountOf(folder: string, access: 'read' | 'own'): Mount | null {
  const host = checkPath(folder);
  return host.ok ? { host: host.value, inside: LOOP_CACHE_INSIDE, access } : null;
}

/** Of names, sizes and times: Node compares the sources themselves with what was compiled of them. */
function digestOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders)
    for (const name of readdirSync(folder).sort()) {
      const { size, mtimeMs } = statSync(join(folder, name));
      hash.update(`${folder}/${name}\0${size}\0${mtimeMs}\0`);
    }
  return hash.digest('hex').slice(0, 16);
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
