/** `secrets`, and what others find. Kinds differ from package to package, so any finding at a secret's place is right. */
import { findSecrets } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { peerModule } from '../peers.ts';
import type { Find, Suite } from '../suite.ts';
import { openRedaction } from './open-redaction.ts';

/** As `secrets` does in rules when it is given no other. */
const THRESHOLD = 0.5;

interface SecretlintCore {
  lintSource(options: object): Promise<{ messages: readonly { range: readonly [number, number] }[] }>;
}

async function secretlint(): Promise<Find | null> {
  const core = await peerModule<SecretlintCore>('@secretlint/core');
  const preset = await peerModule<{ creator: object }>('@secretlint/secretlint-rule-preset-recommend');
  if (core === null || preset === null) return null;
  const rules = [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: preset.creator, options: {} }];
  return async (content) => {
    const result = await core.lintSource({
      source: { content, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
      options: { config: { rules }, noPhysicFilePath: true },
    });
    return result.messages.map(({ range: [start, end] }): Label => ({ kind: 'secret', start, end }));
  };
}

/** Of its many kinds, those that are secrets. */
const SECRET_TYPES = /KEY|TOKEN|SECRET|PASSWORD|PRIVATE|JWT|CREDENTIAL|WEBHOOK|CONNECTION|AUTH|OAUTH/;

async function openredaction(): Promise<Find | null> {
  const find = await openRedaction();
  if (find === null) return null;
  return async (text) => (await find(text)).filter(({ kind }) => SECRET_TYPES.test(kind));
}

export const SECRETS_SUITE: Suite = {
  detector: 'secrets',
  judged: 'ranges',
  rows: [{ name: 'all kinds', kinds: null, aim: { recall: 0.99, precision: 0.99 } }],
  find: (text) => findSecrets(text).filter(({ confidence }) => confidence >= THRESHOLD),
  peers: [
    { name: '`@secretlint/core` 13.0.7 with `preset-recommend`', rows: null, load: secretlint },
    { name: '`openredaction` 1.1.5', rows: null, load: openredaction },
  ],
  speedAim: 50,
};
