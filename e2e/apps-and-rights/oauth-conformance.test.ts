/** The scenarios of authorization that MCP's own conformance suite has for clients, against the real `cordon`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { isLeftOut, isLeftToAll } from '../../tools/cases.ts';
import { ROOT } from '../harness/provider-harness.ts';

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = join(ROOT, 'e2e/harness/oauth-conformance-client.ts');

/** What revision 2026-07-28 requires, and how an earlier one finds the authorization server. */
const SCENARIOS = [
  ...['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3', 'basic-cimd'],
  ...['scope-from-www-authenticate', 'scope-from-scopes-supported', 'scope-omitted-when-undefined'],
  ...['scope-step-up', 'scope-retry-limit'],
  ...[
    'token-endpoint-auth-basic',
    'token-endpoint-auth-post',
    'token-endpoint-auth-none',
    'pre-registration',
  ],
  ...['resource-mismatch', 'offline-access-scope', 'offline-access-not-supported'],
  'authorization-server-migration',
  ...['iss-supported', 'iss-not-advertised', 'iss-supported-missing', 'iss-wrong-issuer', 'iss-unexpected'],
  ...['iss-normalized', 'metadata-issuer-mismatch', '2025-03-26-oauth-metadata-backcompat'],
];

/** login.test.ts has a login that succeeds. The others take two minutes of CPU together. */
const SAMPLE = 'resource-mismatch';
/** One of each kind, for the full run. */
const FULL: ReadonlySet<string> = new Set([
  SAMPLE,
  ...['metadata-default', 'basic-cimd', 'scope-step-up', 'token-endpoint-auth-basic', 'offline-access-scope'],
  ...['authorization-server-migration', 'iss-supported', 'iss-wrong-issuer', 'metadata-issuer-mismatch'],
]);

const results = mkdtempSync(join(tmpdir(), 'cordon-conformance-'));
after(() => rmSync(results, { recursive: true, force: true }));

for (const scenario of SCENARIOS)
  test(scenario, async (t) => {
    if (isLeftOut(t, scenario === SAMPLE) || isLeftToAll(t, FULL.has(scenario))) return;
    const args = ['client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', `auth/${scenario}`];
    const done = await promisify(execFile)(
      process.execPath,
      [SUITE, ...args, '--timeout', '240000', '--output-dir', results],
      {
        timeout: 280_000,
        env: { ...process.env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/cordon-e2e') },
      },
    ).catch((error) => error as { stdout: string; stderr: string });
    assert.match(done.stderr + done.stdout, /OVERALL: PASSED/, done.stderr + done.stdout);
  });
