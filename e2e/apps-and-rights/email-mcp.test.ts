/**
 * The review of a real server with 49 tools. Its package is under the LGPL and no dependency of Cordon: it has to be installed
 * beside the tests.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a placeholder as people write it

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EMAIL_ACCOUNT } from '@cordon/testkit/email-app.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Home, ofKind, REPOSITORY } from '../harness/cordon.ts';

const PLACES = ['.', 'examples/servers'].map((folder) =>
  join(REPOSITORY, folder, 'node_modules/@codefuturist/email-mcp'),
);
const PACKAGE = PLACES.find((path) => existsSync(path)) ?? '';
const LEFT_OUT = PACKAGE === '' && '@codefuturist/email-mcp is not installed';

test('a mail server with 49 tools is shown on one screen, without a false finding', {
  skip: LEFT_OUT,
}, async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = home.write('elsewhere/cordon.json', {
    apps: {
      email: {
        command: 'node',
        args: [join(PACKAGE, 'dist/main.js'), 'stdio'],
        env: {
          ...EMAIL_ACCOUNT,
          MCP_EMAIL_IMAP_HOST: '127.0.0.1',
          MCP_EMAIL_SMTP_HOST: '127.0.0.1',
        },
        manifest: { files: { write: ['${state}'] } },
      },
    },
  });
  const shown = await home.run(['apps', 'review', '--config', config]);
  assert.equal(shown.code, 1, shown.stderr);
  const lines = shown.stdout.split('\n');
  assert.equal(lines.length <= 41, true, shown.stdout);
  assert.equal(
    lines.every((line) => line.length <= 80),
    true,
  );
  assert.match(shown.stdout, /^ {2}│ ! delete_email +│ Delete an email\./m);
  assert.match(shown.stdout, /the scan found nothing suspicious/);
  assert.doesNotMatch(shown.stdout, /sha256|secret/);
  const { overview, findings } = Object(
    ofKind((await home.run(['apps', 'review', '--json', '--config', config])).events, 'app.review')[0],
  );
  assert.deepEqual([overview.tools.length, findings], [49, []]);
  for (const { name } of overview.tools) assert.equal(shown.stdout.includes(name), true, name);
});
