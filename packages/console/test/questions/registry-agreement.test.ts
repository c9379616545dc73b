/** A yes to a registry is a yes to the address that was shown, and to nothing else that the file says. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { agreementToRegistry, isInEffect } from '@cordon/config';
import { ConfigurationFolder } from '@cordon/testkit/configuration-folder.ts';
import { TerminalAgreement } from '../../src/questions/agreement-question.ts';
import { scriptedTerminal } from '../scripted-terminal.ts';

const NEVER = new AbortController().signal;

/** Asks about `url`, which the file names; returns whether the user was asked, and says `word`. */
async function wasAsked(
  named: { file: string; text: string; url: string },
  folder: string,
  word: string,
): Promise<boolean> {
  const person = scriptedTerminal({ isInteractive: true });
  const { terminal, screen, shown } = person;
  const asks = new TerminalAgreement({ screen, terminal, signal: NEVER });
  const answered = agreementToRegistry(named, folder, { asks, now: () => 0 });
  const typed = person.types(`${word}\r`);
  assert.equal(await answered, null);
  await typed;
  return shown().includes(named.url);
}

function ownFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-agreed-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Attack: a file whose `registry` is npm's own, and whose `@acme:registry` is the attacker's.
test('a yes to one registry of a file is not one to another registry of the same file', async (context) => {
  const folder = ownFolder(context);
  const text = 'registry=https://registry.example/\n@acme:registry=https://evil.example/\n';
  const file = join(folder, '.npmrc');
  writeFileSync(file, text);
  const shown = { file, text, url: 'https://registry.example/' };
  assert.equal(await wasAsked(shown, folder, 'y'), true);
  assert.equal(await wasAsked(shown, folder, 'y'), false, 'remembered');
  assert.equal(await wasAsked({ ...shown, url: 'https://evil.example/' }, folder, 'y'), true);
});

// Attack: `cordon.json` is a link to an `.npmrc` that is also JSON with a comment.
test('a yes to a registry lets no configuration take effect', async () => {
  using place = new ConfigurationFolder();
  const text = '/*\nregistry=https://registry.example/\n*/ {"apps": {"evil": {"command": "evil"}}}';
  const file = place.write('.npmrc', text);
  symlinkSync(file, join(file, '../cordon.json'));
  const configuration = place.load();
  assert.ok(configuration.ok);
  const { ownDataFolder } = configuration.value;
  assert.equal(await wasAsked({ file, text, url: 'https://registry.example/' }, ownDataFolder, 'y'), true);
  assert.equal(
    isInEffect(configuration.value, () => 0),
    false,
  );
});
