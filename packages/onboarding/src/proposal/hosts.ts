/** Hosts that the arguments and variables of an app name. */
import { isIP } from 'node:net';
import { bareAddress } from '@cordon/core';
import { parseNetworkEntry, printNetworkEntry } from '@cordon/egress/reach';

/** A host that the app names, as an entry of `network`, or why it cannot be one. */
export type NamedHost =
  | { readonly entry: string; readonly where: string }
  | { readonly entry: null; readonly where: string; readonly problem: string };

const PORTS: Readonly<Record<string, number>> = {
  'https:': 443,
  'wss:': 443,
  'http:': 80,
  'ws:': 80,
  'postgres:': 5432,
  'postgresql:': 5432,
  'mysql:': 3306,
  'mariadb:': 3306,
  'redis:': 6379,
  'rediss:': 6379,
  'mongodb:': 27_017,
  'amqp:': 5672,
  'amqps:': 5671,
  'imaps:': 993,
  'imap:': 143,
  'smtps:': 465,
  'smtp:': 587,
  'ssh:': 22,
  'sftp:': 22,
};

/** By a word in a variable's name, where no port is given. */
const PORTS_BY_NAME: readonly (readonly [RegExp, number])[] = [
  [/IMAP/, 993],
  [/SMTP/, 465],
  [/POP3?/, 995],
  [/PG|POSTGRES/, 5432],
  [/REDIS/, 6379],
  [/MYSQL|MARIADB/, 3306],
  [/MONGO/, 27_017],
  [/SSH/, 22],
];

const HOST_VARIABLE = /(?:^|_)(?:HOST|HOSTNAME|SERVER)$/;
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$|^localhost$/i;

/** In the order in which they stand; each once. */
export function namedHosts(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): readonly NamedHost[] {
  const found = [
    ...args.flatMap((arg) => fromAddress(arg.replace(/^--?[\w-]+=/, ''), 'an argument')),
    ...Object.entries(env).flatMap(([key, value]) => [
      ...fromAddress(value, key),
      ...fromHostVariable(key, value, env),
    ]),
  ];
  return found.filter(
    ({ entry }, at) => entry === null || found.findIndex((one) => one.entry === entry) === at,
  );
}

function fromAddress(text: string, where: string): readonly NamedHost[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { protocol, hostname, port } = new URL(text);
  const known = PORTS[protocol];
  if (hostname === '' || (port === '' && known === undefined)) return [];
  return [hostEntry(hostname, port === '' ? (known ?? 443) : Number(port), where)];
}

function fromHostVariable(
  key: string,
  value: string,
  env: Readonly<Record<string, string>>,
): readonly NamedHost[] {
  if (!HOST_VARIABLE.test(key)) return [];
  const [, host = '', own] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(value) ?? [];
  if (!HOST.test(host) && isIP(bareAddress(host)) === 0) return [];
  const sibling = env[key.replace(/(?:HOST|HOSTNAME|SERVER)$/, 'PORT')];
  const guessed = PORTS_BY_NAME.find(([name]) => name.test(key))?.[1];
  const port = own ?? (/^\d+$/.test(sibling ?? '') ? sibling : undefined) ?? guessed ?? 443;
  return [hostEntry(host, Number(port), key)];
}

/** Nothing but this host and this port. */
export function hostEntry(host: string, port: number, where: string): NamedHost {
  const bare = bareAddress(host);
  const text = isIP(bare) === 0 ? `=${host}:${port}` : `${isIP(bare) === 6 ? `[${bare}]` : bare}:${port}`;
  const entry = parseNetworkEntry(text);
  if (entry.ok) return { entry: printNetworkEntry(entry.value), where };
  return { entry: null, where, problem: `\`${host}:${port}\`: ${entry.fault.message}; ${entry.fault.help}` };
}
