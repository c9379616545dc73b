/**
 * `network` and `credentials` of a manifest as the configuration writes them. A secret itself never stands here: only
 * the name of the variable or file in which the user keeps it.
 *
 * Ring 0; what it accepts becomes the app's rights.
 */
import { createRequire } from 'node:module';
import { type Credential, NAME_PATTERN, type SecretSource } from '@cordon/core';
import { type ConfigReader, type Located, type ObjectReader, quoted } from '../reading/config-reader.ts';

type Notation = typeof import('@cordon/egress/reach');

const load = createRequire(import.meta.url);

/** Loaded for a configuration that has an entry: the list of public suffixes takes 13 ms. */
function notation(): Notation {
  return load('@cordon/egress/reach');
}

/** An entry in its shortest spelling, or null after a report. */
export function readNetworkEntry(reader: ConfigReader, at: Located): string | null {
  const text = reader.string(at);
  if (text === null) return null;
  const entry = notation().parseNetworkEntry(text);
  if (entry.ok) return notation().printNetworkEntry(entry.value);
  const { message, help } = entry.fault;
  reader.reportAt(at, { code: 'CFG014', message: `${quoted(text)} cannot be allowed: ${message}`, help });
  return null;
}

export interface CredentialPlace {
  /** Entries of the same manifest, in their shortest spelling. */
  readonly network: readonly string[];
  readonly readPath: (at: Located) => string | null;
  /** Whether the app may read or write what is there. */
  readonly isVisible: (path: string) => boolean;
  readonly hasVariable: (name: string) => boolean;
}

/** Credentials by name; what is wrong is reported and left out. */
export function readCredentials(reader: ConfigReader, at: Located, place: CredentialPlace): Credential[] {
  return reader.entries(at).flatMap(({ key, keySpan, at: inner }) => {
    if (!NAME_PATTERN.test(key)) {
      reader.report(inner.path, keySpan, {
        code: 'CFG008',
        message: `${quoted(key)} is no name for a credential`,
        help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
      });
      return [];
    }
    const credential = readCredential(reader, inner, key, place);
    return credential === null ? [] : [credential];
  });
}

function readCredential(
  reader: ConfigReader,
  at: Located,
  name: string,
  place: CredentialPlace,
): Credential | null {
  const object = reader.object(at);
  if (object === null) return null;
  const headerAt = object.get('header');
  const formatAt = object.get('format');
  const hostsAt = object.required('hosts', 'name the hosts that may receive it');
  const secret = readSecretSource(reader, object, place);
  object.finish();
  const header = headerAt === null ? 'authorization' : readHeader(reader, headerAt);
  const silentFormat = headerAt === null ? `Bearer ${SECRET}` : SECRET;
  const format = formatAt === null ? silentFormat : readFormat(reader, formatAt);
  const hosts = hostsAt === null ? [] : readHosts(reader, hostsAt, place.network);
  if (header === null || format === null || secret === null || hosts.length === 0) return null;
  return { name, header, format, hosts, secret };
}

/** Stands for the secret in `format`. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
const SECRET = '${secret}';

/** Headers that say where a request goes, how it is framed, or that change what the others mean. */
const NO_CREDENTIAL =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/;

function readHeader(reader: ConfigReader, at: Located): string | null {
  const text = reader.string(at)?.toLowerCase() ?? null;
  if (text === null || (/^[a-z0-9-]{1,64}$/.test(text) && !NO_CREDENTIAL.test(text))) return text;
  reader.reportAt(at, {
    code: 'CFG040',
    message: `${quoted(text)} is no header for a credential`,
    help: 'use `Authorization`, or the header that the service names',
  });
  return null;
}

function readFormat(reader: ConfigReader, at: Located): string | null {
  const text = reader.string(at);
  if (text === null || (text.split(SECRET).length === 2 && /^[\x20-\x7e]{1,256}$/.test(text))) return text;
  reader.reportAt(at, {
    code: 'CFG040',
    message: 'the format does not hold the secret exactly once',
    help: `write it like \`Bearer ${SECRET}\``,
  });
  return null;
}

/** Attack: a credential for a host that anybody on the way can pretend to be, or that the app may not reach. */
function readHosts(reader: ConfigReader, at: Located, network: readonly string[]): string[] {
  const { parseNetworkEntry, coversEntry, PLAIN_PORT } = notation();
  const hosts: string[] = [];
  for (const item of reader.items(at, 'an array of hosts')) {
    const text = readNetworkEntry(reader, item);
    const entry = text === null ? null : parseNetworkEntry(text);
    if (text === null || entry?.ok !== true) continue;
    const isReached = network.some((listed) => {
      const wide = parseNetworkEntry(listed);
      return wide.ok && coversEntry(wide.value, entry.value);
    });
    if (entry.value.port === PLAIN_PORT) {
      const help = 'a credential goes over https only';
      reader.reportAt(item, { code: 'CFG040', message: `${quoted(text)} is not encrypted`, help });
    } else if (!isReached) {
      const help = `add ${quoted(text)} to \`network\``;
      reader.reportAt(item, { code: 'CFG040', message: `the app may not reach ${quoted(text)}`, help });
    } else hosts.push(text);
  }
  return hosts;
}

function readSecretSource(
  reader: ConfigReader,
  object: ObjectReader,
  place: CredentialPlace,
): SecretSource | null {
  const variable = object.get('env');
  const file = object.get('file');
  if (variable !== null && file === null) return readVariable(reader, variable, place);
  if (variable === null && file !== null) return readFile(reader, file, place);
  reader.reportAt(object.at, {
    code: 'CFG040',
    message: 'a credential is kept in one place',
    help: 'give `env`, the name of a variable, or `file`, a path',
  });
  return null;
}

function readVariable(reader: ConfigReader, at: Located, place: CredentialPlace): SecretSource | null {
  const name = reader.string(at);
  if (name === null) return null;
  if (!/^[A-Za-z_]\w{0,127}$/.test(name)) {
    const help = 'write the name of the variable, not its value';
    reader.reportAt(at, { code: 'CFG040', message: 'this is no name of a variable', help });
    return null;
  }
  if (place.hasVariable(name)) return { kind: 'variable', name };
  reader.reportAt(at, {
    code: 'CFG019',
    message: `the environment variable ${quoted(name)} is not set`,
    help: `set it before starting cordon, e.g. \`export ${name}=…\``,
  });
  return null;
}

function readFile(reader: ConfigReader, at: Located, place: CredentialPlace): SecretSource | null {
  const path = place.readPath(at);
  if (path === null) return null;
  if (!place.isVisible(path)) return { kind: 'file', path };
  reader.reportAt(at, {
    code: 'CFG040',
    message: 'the app may read the file of this credential',
    help: 'keep it outside of `files`, or take the folder out of them',
  });
  return null;
}
