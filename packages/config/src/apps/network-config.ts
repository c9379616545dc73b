/**
 * `network` and `credentials` of a manifest as the configuration writes them. A secret itself never stands here: only
 * the name of the variable or file in which the user keeps it.
 *
 * What it accepts becomes the app's rights.
 */
import { createRequire } from 'node:module';
import type { Credential, SecretSource } from '@cordon/core';
import {
  isVariableName,
  type Located,
  nameProblem,
  type ObjectReader,
  quoted,
} from '../reading/config-reader.ts';
import { type Folders, readPath, unsetVariable } from '../reading/placeholders.ts';

type Notation = typeof import('@cordon/egress/reach');

const load = createRequire(import.meta.url);

/** Loaded for a configuration that has an entry: the list of public suffixes takes 13 ms. */
function notation(): Notation {
  return load('@cordon/egress/reach');
}

/** Whether an address belongs to a private network or to this machine. */
export function isPrivateAddress(text: string): boolean {
  return notation().isPrivateAddress(text);
}

/** An entry in its shortest spelling, or null after a report. */
export function readNetworkEntry(at: Located): string | null {
  const text = at.string();
  if (text === null) return null;
  const entry = notation().parseNetworkEntry(text);
  if (entry.ok) return notation().printNetworkEntry(entry.value);
  const { message, help } = entry.fault;
  return at.report({ code: 'CFG014', message: `${quoted(text)} cannot be allowed: ${message}`, help });
}

export interface CredentialPlace {
  /** Entries of the same manifest, in their shortest spelling. */
  readonly network: readonly string[];
  readonly folders: Folders;
  /** Whether the app may read or write what is there. */
  readonly isVisible: (path: string) => boolean;
  readonly hasVariable: (name: string) => boolean;
}

/** Credentials by name; what is wrong is reported and left out. */
export function readCredentials(at: Located, place: CredentialPlace): Credential[] {
  return at.mapped(
    (name) => nameProblem(name, 'a credential'),
    (name, inner) => readCredential(inner, name, place),
  );
}

function readCredential(at: Located, name: string, place: CredentialPlace): Credential | null {
  const object = at.object();
  if (object === null) return null;
  const silentFormat = object.get('header') === null ? `Bearer ${SECRET}` : SECRET;
  const header = object.get('header') === null ? 'authorization' : object.read('header', readHeader);
  const format = object.get('format') === null ? silentFormat : object.read('format', readFormat);
  const hosts = object.required('hosts', 'name the hosts that may receive it');
  const secret = readSecretSource(object, place);
  object.finish();
  const reached = hosts === null ? [] : readHosts(hosts, place.network);
  if (header === null || format === null || secret === null || reached.length === 0) return null;
  return { name, header, format, hosts: reached, secret };
}

/** Stands for the secret in `format`. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
const SECRET = '${secret}';

/** Headers that say where a request goes, how it is framed, or that change what the others mean. */
const NO_CREDENTIAL =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/;

function readHeader(at: Located): string | null {
  const text = at.string()?.toLowerCase() ?? null;
  if (text === null || (/^[a-z0-9-]{1,64}$/.test(text) && !NO_CREDENTIAL.test(text))) return text;
  return at.report({
    code: 'CFG040',
    message: `${quoted(text)} is no header for a credential`,
    help: 'use `Authorization`, or the header that the service names',
  });
}

function readFormat(at: Located): string | null {
  const message = 'the format does not hold the secret exactly once';
  return at.checked((text) =>
    text.split(SECRET).length === 2 && /^[\x20-\x7e]{1,256}$/.test(text)
      ? null
      : { code: 'CFG040', message, help: `write it like \`Bearer ${SECRET}\`` },
  );
}

/** Attack: a credential for a host that anybody on the way can pretend to be, or that the app may not reach. */
function readHosts(at: Located, network: readonly string[]): string[] {
  const { parseNetworkEntry, coversName, PLAIN_PORT } = notation();
  return at.list('an array of hosts', (item) => {
    const text = readNetworkEntry(item);
    const entry = text === null ? null : parseNetworkEntry(text);
    if (text === null || entry?.ok !== true) return null;
    if (entry.value.port === PLAIN_PORT) {
      const help = 'a credential goes over https only';
      return item.report({ code: 'CFG040', message: `${quoted(text)} is not encrypted`, help });
    }
    const isReached = network.some((listed) => {
      const wide = parseNetworkEntry(listed);
      return wide.ok && coversName(wide.value, entry.value);
    });
    if (isReached) return text;
    const help = `add ${quoted(text)} to \`network\``;
    return item.report({ code: 'CFG040', message: `the app may not reach ${quoted(text)}`, help });
  });
}

function readSecretSource(object: ObjectReader, place: CredentialPlace): SecretSource | null {
  const variable = object.get('env');
  const file = object.get('file');
  if (variable !== null && file === null) return readVariable(variable, place);
  if (variable === null && file !== null) return readFile(file, place);
  return object.at.report({
    code: 'CFG040',
    message: 'a credential is kept in one place',
    help: 'give `env`, the name of a variable, or `file`, a path',
  });
}

function readVariable(at: Located, { hasVariable }: CredentialPlace): SecretSource | null {
  const help = 'write the name of the variable, not its value';
  const name = at.checked((text) => {
    if (!isVariableName(text)) return { code: 'CFG040', message: 'this is no name of a variable', help };
    return hasVariable(text) ? null : unsetVariable(text);
  });
  return name === null ? null : { kind: 'variable', name };
}

function readFile(at: Located, place: CredentialPlace): SecretSource | null {
  const path = readPath(at, place.folders);
  if (path === null) return null;
  if (!place.isVisible(path)) return { kind: 'file', path };
  return at.report({
    code: 'CFG040',
    message: 'the app may read the file of this credential',
    help: 'keep it outside of `files`, or take the folder out of them',
  });
}
