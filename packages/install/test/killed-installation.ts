/** Installs in a process of its own, which a test kills. Arguments: data folder, registry, the registry's real port. */

import { connect } from 'node:net';
import { ok } from '@cordon/core';
import { callOf, sandbox } from '@cordon/testkit/installing.ts';
import { fetchPackages } from '../src/install.ts';
import { findNpm } from '../src/npm-program.ts';
import { DEFAULT_STEP_LIMITS } from '../src/step.ts';

const [data = '', registry = '', port = ''] = process.argv.slice(2);
const fetched = await fetchPackages(
  callOf('npx demo-app'),
  {
    dataFolder: data,
    places: {
      environment: { npm_config_registry: registry },
      home: data,
      registries: new Map(),
      privateAddresses: new Map(),
      credentials: new Map(),
      folder: data,
      npm: findNpm(process.env.PATH ?? ''),
      read: () => null,
    },
    step: {
      sandbox,
      lookup: async () => ['93.184.215.14'],
      dial: async () => ok(connect(Number(port), '127.0.0.1')),
      now: Date.now,
      limits: DEFAULT_STEP_LIMITS,
    },
    now: Date.now,
    agreesTo: async () => null,
  },
  new AbortController().signal,
);
if (fetched.ok) fetched.value.commit();
