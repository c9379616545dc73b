/**
 * Descriptors that this process inherited without close-on-exec (a pipe of the calling shell, say) go into
 * every child, and bubblewrap does not close them. They are found here so that the launcher can put /dev/null
 * in their place.
 */
import { readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2_000_000;

/** Numbers above 2, in rising order, of open descriptors that a child would inherit. Throws when /proc cannot be read. */
export function inheritableDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(descriptor))
    .sort((a, b) => a - b);
}

function isInheritable(descriptor: number): boolean {
  let text: string;
  try {
    text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  } catch {
    return false; // the descriptor of the listing itself, closed by now
  }
  const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
  return flags === undefined || (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
}
