/** Where programs can be started, as `cordon doctor` says it. */
import { readFileSync } from 'node:fs';
import { covers, realPath } from '@cordon/config/reading';

/** Whether programs can be started from a folder: not where its file system is mounted `noexec` (proc(5), mountinfo). */
export function runsPrograms(folder: string): boolean {
  try {
    return mountRunsPrograms(realPath(folder), readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return true; // Where there is no such list, there is no such option that we know of.
  }
}

export function mountRunsPrograms(folder: string, mountinfo: string): boolean {
  let best = { point: '', options: '' };
  for (const line of mountinfo.split('\n')) {
    const [, , , , point = '', options = ''] = line.split(' ');
    const place = point.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
    // The last of several mounts on one place is the one that is seen.
    if (place !== '' && covers(place, folder) && place.length >= best.point.length)
      best = { point: place, options };
  }
  return !best.options.split(',').includes('noexec');
}
