/** Which values of an app's variables are secrets, and which are only examples of a README. */

/** Names of variables and headers whose value is a secret. */
const SECRET_NAME =
  /(?:^|[_-])(?:TOKEN|KEY|APIKEY|SECRET|PASS|PASSWORD|PASSWD|PWD|PAT|CREDENTIALS?|AUTH|AUTHORIZATION|COOKIE)(?:$|[_-])/i;
/** Parts of such names that say where a secret is, or what it is for. */
const NO_SECRET_NAME = /(?:_|-)(?:PATH|FILE|DIR|ID|URL|HOST|PORT|NAME|TYPE|TTL|LIMIT)$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name);
}

/** `postgres://user:password@host` */
export function holdsPassword(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/@\s:]*:[^/@\s]+@/i.test(value);
}

const EXAMPLES =
  /^(?:<.*>|\[.*\]|\{.*\}|your[-_ ].*|.*[-_ ]?your[-_ ](?:key|token|password|secret|api).*|you@.*|.*@example\.(?:com|org)|my-(?:token|key|secret)|x{3,}.*|.*x{4,}|.*\.\.\.|change-?me|todo|replace.*|insert.*|\*+)$/i;

/** Whether a README would write it for the reader to replace. */
export function isExample(value: string): boolean {
  return value.trim() === '' || EXAMPLES.test(value.trim());
}
