/** `open-unprivileged FOLDER`: prints the kind of the fault, or `opened`; gives up root's rights first. */
import { openStore } from '@cordon/trace';

import { print } from './barrier.ts';

if (process.getuid?.() === 0) {
  process.setgid?.(65534);
  process.setuid?.(65534);
}
const opened = openStore(process.argv[2] ?? '', () => 0);
print(opened.ok ? 'opened' : opened.fault.kind);
