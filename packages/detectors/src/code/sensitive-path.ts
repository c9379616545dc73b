/**
 * Paths that hold credentials, or whose content is run when someone logs in or a machine starts; names of variables that
 * hold credentials.
 */

/** Files whose reading gives credentials away. */
const CREDENTIALS: readonly RegExp[] = [
  /^\/etc\/(?:shadow|passwd|sudoers|gshadow|krb5\.keytab)(?:$|[-./])/,
  /(?:^|\/)\.ssh(?:\/|$)/,
  /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)$/,
  /(?:^|\/)\.(?:aws|azure|gnupg|kube|docker)(?:\/|$)/,
  /(?:^|\/)\.config\/(?:gcloud|gh|hub|op)(?:\/|$)/,
  /(?:^|\/)\.(?:env|netrc|pgpass|my\.cnf|npmrc|pypirc|git-credentials|htpasswd|vault-token)(?:\.(?:local|production|prod|dev))?$/,
  /(?:^|\/)\.(?:bash|zsh|python|mysql|psql)_history$/,
  /^\/proc\/(?:self|\d+|\*)\/(?:environ|mem|maps|cmdline)$/,
  /^\/(?:var\/)?run\/(?:docker|containerd|secrets)(?:\.sock|\/|$)/,
  /(?:^|\/)(?:credentials|secrets?|passwords?)\.(?:json|ya?ml|txt|toml|ini|csv|db|kdbx)$/i,
  /(?:^|\/)(?:Login Data|logins\.json|key4\.db|Cookies|wallet\.dat)$/,
];

/** Files that are run by themselves. */
const STARTED: readonly RegExp[] = [
  /(?:^|\/)\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|xinitrc|xprofile)$/,
  /(?:^|\/)\.ssh\/authorized_keys\d?$/,
  /^\/etc\/(?:cron|init\.d|rc\.local|profile|systemd|ld\.so\.preload|pam\.d|bash\.bashrc)/,
  /^\/var\/spool\/cron(?:\/|$)/,
  /(?:^|\/)\.config\/(?:autostart|systemd)(?:\/|$)/,
  /(?:^|\/)Library\/Launch(?:Agents|Daemons)(?:\/|$)/,
  /(?:^|\/)\.git\/hooks(?:\/|$)/,
  /(?:sitecustomize|usercustomize)\.py$/,
];

/** No path of a system is longer. */
const LONGEST_PATH = 4096;

/** What a path is known for; null: nothing. Only a text that can be a path as a whole, not one that mentions it. */
export function sensitivePath(text: string): 'credentials' | 'started' | null {
  if (text.length > LONGEST_PATH || text.length < 4 || /[\n\r<>|;]/.test(text)) return null;
  const path = text.replace(/^file:\/\//, '').replace(/\/{2,}|\/\.\//g, '/');
  if (/\s/.test(path) && !/(?:^|\/)Login Data$/.test(path)) return null;
  if (STARTED.some((pattern) => pattern.test(path))) return 'started';
  return CREDENTIALS.some((pattern) => pattern.test(path)) ? 'credentials' : null;
}

/** Whether a variable with this name probably holds a credential. Null stands for every name. */
export function isCredentialName(name: string | null): boolean {
  return (
    name === null || /key|secret|token|passw|passphrase|credential|private|auth/i.test(name.slice(0, 200))
  );
}
