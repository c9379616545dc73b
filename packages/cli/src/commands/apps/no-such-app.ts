import type { Configuration } from '@cordon/config';
import { suggestion } from '@cordon/config/reading';
import { type Fault, fault } from '@cordon/core';

/** An app that the configuration does not have, and the one that was probably meant. */
export function noSuchApp(name: string, { apps }: Pick<Configuration, 'apps'>): Fault {
  const ids = apps.map(({ id }) => id);
  const help = suggestion(name, ids, '`cordon apps` lists them');
  return fault('app-unavailable', `there is no app \`${name}\``, help);
}
