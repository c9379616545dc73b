/**
 * Layers of the sandbox that someone wants left out, as they are written; which there are is known in weaker.ts, with
 * the sandbox, which most commands never load.
 */
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { quoted } from '../reading/config-reader.ts';

export interface WantedLayer {
  readonly name: string;
  readonly place: Pick<Diagnostic, 'file' | 'range' | 'path'>;
}

const PREFIX = 'weaker=';
const PLACE = { file: 'command line', path: '--sandbox' };

/** The value of `--sandbox`; without the option, nothing. */
export function wantedLayers(option: string | undefined): Result<readonly WantedLayer[], Diagnostic> {
  if (option === undefined) return ok([]);
  if (option.startsWith(PREFIX)) {
    const names = option.slice(PREFIX.length).split(',');
    return ok(names.map((name) => ({ name, place: PLACE })));
  }
  return failed({
    severity: 'error',
    code: 'CFG039',
    ...PLACE,
    message: `${quoted(option)} is nothing that the sandbox can be`,
    help: 'write `--sandbox weaker=LAYER,LAYER`; without the option every layer is in force',
  });
}
