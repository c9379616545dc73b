/** What the hub is told of an app that could be installed, with a registry on this machine. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type InstalledApp, id, SILENT_MANIFEST } from '@cordon/core';
import { Machine } from '@cordon/testkit/installing.ts';
import { installablesOf } from '../src/installables.ts';

function appOf(command: string): InstalledApp {
  const [program = '', ...args] = command.split(' ');
  return {
    id: id('demo'),
    source: { kind: 'command', command: program, args, env: {}, cwd: null },
    model: null,
    manifest: {
      ...SILENT_MANIFEST,
      description: 'Demonstrates.',
      irreversible: [],
      untrusted: [],
      private: [],
    },
  };
}

/** Attack: a package that a rule forbids stands behind one that it does not look at. */
for (const [command, path] of [
  ['npx demo-app', '/demo-app'],
  ['npx -p demo-app -p @evil/more demo-app', '/demo-app /@evil/more'],
] as const) {
  test(`the policy decides about every package of \`${command}\``, async (context) => {
    const machine = await Machine.make(context);
    const app = appOf(command);
    const installables = installablesOf(
      {
        apps: [],
        installableApps: [app],
        installable: new Map(),
        dataFolder: machine.data,
        ownDataFolder: machine.data,
        folder: join(machine.root, 'project'),
        entries: new Map(),
      },
      async () => machine.installer(),
    );
    const source = await installables.source(app);
    assert.ok(source.ok, JSON.stringify(source));
    assert.equal(source.value?.path, path);
  });
}
