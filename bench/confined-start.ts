/**
 * The parts of a first call, each alone and with nothing else going on: a confined process from its start to its
 * first words. Uses the hub's own launchers, in this process.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfiguration } from '@cordon/config';
import type { InstalledApp } from '@cordon/core';
import { appLauncher, loopLauncher } from '@cordon/hub';
import { openSandbox, type Sandbox } from '@cordon/sandbox';
import { firstLine, INITIALIZE, must } from '@cordon/testkit/isolation/rig.ts';
import { CODE_ROOT, CONFIGURATION, dataFolder, type Home } from './places.ts';

export class ConfinedStarts {
  readonly #sandbox: Sandbox;
  readonly #home: Home;

  constructor(home: Home) {
    this.#home = home;
    mkdirSync(dataFolder(home), { recursive: true, mode: 0o700 });
    this.#sandbox = openSandbox({
      node: process.execPath,
      cacheFile: join(dataFolder(home), 'sandbox.json'),
      compiledFolder: join(dataFolder(home), 'compiled'),
    });
  }

  /** The self-test, which the first start of an app on a machine waits for. */
  async selfTest(): Promise<number> {
    const began = performance.now();
    const sandbox = openSandbox({ node: process.execPath });
    const { ready, layers } = await sandbox.probe();
    const missing = layers.find(({ ok }) => !ok);
    if (!ready) throw new Error(`no sandbox here: ${missing?.why ?? 'no layer'}`);
    return performance.now() - began;
  }

  /** The agent loop, until it says that it is ready. */
  async loop(): Promise<number> {
    const ending = new AbortController();
    const began = performance.now();
    const loop = must(await loopLauncher(this.#sandbox, CODE_ROOT).launch(ending.signal));
    await firstLine(loop.link);
    const took = performance.now() - began;
    loop.kill();
    await loop.ended;
    return took;
  }

  /** An app, until it has answered MCP's `initialize`. */
  async app(name: string): Promise<number> {
    const app = this.#installed(name);
    const launcher = appLauncher({
      sandbox: this.#sandbox,
      command: {
        configFolder: join(CONFIGURATION, '..'),
        dataFolder: dataFolder(this.#home),
        home: this.#home.folder,
      },
      stateFolder: ({ id }) => join(dataFolder(this.#home), 'apps', id),
    });
    const began = performance.now();
    const running = must(await launcher.launch(app, null, new AbortController().signal));
    running.stdin.write(INITIALIZE);
    await firstLine(running.stdout);
    const took = performance.now() - began;
    running.kill();
    await running.ended;
    return took;
  }

  #installed(name: string): InstalledApp {
    const { folder, environment } = this.#home;
    const options = { config: CONFIGURATION, data: dataFolder(this.#home) };
    const loaded = loadConfiguration({ environment, cwd: folder, home: folder, options });
    const app = loaded.ok ? loaded.value.apps.find(({ id }) => id === name) : undefined;
    if (app === undefined) throw new Error(`${name} is not configured`);
    return app;
  }
}
