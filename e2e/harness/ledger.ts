import { join } from 'node:path';
import { REPOSITORY } from './cordon.ts';

/** An app that keeps payments: `look` shows them, `pay` adds one. */
export function ledgerApp(irreversible: readonly string[]) {
  return {
    command: 'node',
    args: [join(REPOSITORY, 'e2e/apps/ledger.mjs')],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: names a placeholder as the file writes it
    env: { STATE: '${state}' },
    manifest: {
      description: 'Keeps payments.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
      files: { write: ['${state}'] },
      irreversible,
      untrusted: [],
      private: [],
    },
  };
}
