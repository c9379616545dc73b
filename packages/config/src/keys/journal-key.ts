/**
 * The key that signs the journal: from a variable, or from a file that it names. It is another key than the store's: who
 * reads a store need not be able to write its history. It goes to the store and nowhere else.
 *
 * Who has it can write a journal that verifies.
 */
import { resolve } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { LEAST_KEY_BYTES } from '@cordon/trace';
import { type Environment, type OwnPath, ownPath, type Places } from '../reading/paths.ts';
import { KEY_FILE_VARIABLE, type KeySource, keyText } from './store-key.ts';

export const JOURNAL_KEY_VARIABLE = 'CORDON_JOURNAL_KEY';
export const JOURNAL_KEY_FILE_VARIABLE = 'CORDON_JOURNAL_KEY_FILE';

/** Null: none is set, and the journal is not signed. A fault: one is set and cannot be had, so the store stays shut. */
export function readJournalKey(environment: Environment): Result<Uint8Array | null, Fault> {
  const path = environment[JOURNAL_KEY_FILE_VARIABLE] ?? '';
  const isNamed = (environment[JOURNAL_KEY_VARIABLE] ?? '') !== '';
  if (!isNamed && path === '') return ok(null);
  const text = keyText(
    isNamed ? { kind: 'variable', name: JOURNAL_KEY_VARIABLE } : { kind: 'file', path },
    environment,
  );
  if (!text.ok) return text;
  const key = Buffer.from(text.value.trim());
  if (key.length >= LEAST_KEY_BYTES) return ok(key);
  const message = `the key of the journal is shorter than ${LEAST_KEY_BYTES} characters`;
  return failed(fault('journal-unavailable', message, 'make one with `openssl rand -hex 32`'));
}

/** Files of keys that stand outside of the data folder: who reads one reads, or forges, all that is in it. */
export function keyFiles(
  { environment, cwd }: Pick<Places, 'environment' | 'cwd'>,
  configured: KeySource | null,
): readonly OwnPath[] {
  const named = [
    [environment[KEY_FILE_VARIABLE], 'the key of the store'],
    [environment[JOURNAL_KEY_FILE_VARIABLE], 'the key of the journal'],
    [configured?.kind === 'file' ? configured.path : undefined, 'the key of the store'],
  ] as const;
  return named.flatMap(([path, name]) =>
    path === undefined || path === '' ? [] : [ownPath('read and write', resolve(cwd, path), name)],
  );
}
