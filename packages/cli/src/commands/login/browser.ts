/** Opens an address in the user's browser, where there is one. */
import { spawn } from 'node:child_process';
import type { Environment } from '@cordon/config/reading';

/** What a browser needs of the environment: no key of Cordon’s or of a provider’s. */
const WANTED =
  /^(HOME|PATH|USER|LANG|LC_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|BROWSER|WSL\w*)$/;

/** Resolves with whether a program took the address. It lives on by itself. */
export function openInBrowser(url: URL, environment: Environment): Promise<boolean> {
  const isMac = process.platform === 'darwin';
  const hasScreen =
    isMac || [environment.DISPLAY, environment.WAYLAND_DISPLAY].some((name) => (name ?? '') !== '');
  if (!hasScreen) return Promise.resolve(false);
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => WANTED.test(name)));
  // The address begins with its scheme: no option, and no shell.
  const opener = spawn(isMac ? 'open' : 'xdg-open', [url.href], { env, stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    opener.once('error', () => resolve(false));
    opener.once('spawn', () => {
      opener.unref();
      resolve(true);
    });
  });
}
