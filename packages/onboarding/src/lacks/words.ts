/**
 * What an app says that it lacks, in an error, or in its last words on standard error. Its words are hostile: they name
 * candidates and decide nothing, and reading them takes time that grows with their length alone.
 */

/** A right, as the app names it. */
export type NamedLack =
  | { readonly kind: 'path'; readonly path: string; readonly access: 'read' | 'write' }
  | {
      readonly kind: 'host';
      readonly host: string;
      readonly port: number | null;
      /** The entry of `network` that Cordon named when it refused the host. */
      readonly lacks?: string;
    }
  | { readonly kind: 'variable'; readonly name: string };

const MOST_LINES = 40;
const LONGEST_LINE = 1000;
const LONGEST_PATH = 500;
/** Each is looked for on the disk. */
const MOST_NAMED = 20;

/** As Node, Python, Go and libc say that a path cannot be used. */
const NO_PATH = [
  ...[
    'enoent',
    'eacces',
    'eperm',
    'erofs',
    'err_access_denied',
    'no such file',
    'does not exist',
    'not exist',
  ],
  ...['permission denied', 'operation not permitted', 'read-only file system', 'access denied', 'cannot see'],
  ...['filenotfounderror', 'permissionerror'],
];
/** A rule of the app itself, which its arguments set and no right of Cordon changes. */
const OWN_RULE = ['allowed director', 'allowed path', 'allowed folder', 'outside of the root'];
const WRITING = ['erofs', 'read-only file system', 'mkdir', 'unlink', 'rename', 'write', 'filesystemwrite'];
const NO_HOST = [
  'enotfound',
  'eai_again',
  'name or service not known',
  'name resolution',
  'could not resolve',
];
const NO_VARIABLE = [
  'required',
  'missing',
  'not set',
  'must be set',
  'undefined',
  'is not defined',
  'provide',
];

/** Each once, in the order in which they are named; of many the first. */
export function lacksInWords(text: string): readonly NamedLack[] {
  const lines = text.split('\n', MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));
  const found = lines.flatMap((line) => {
    const low = line.toLowerCase();
    const says = (words: readonly string[]) => words.some((word) => low.includes(word));
    return [
      ...(says(NO_PATH) && !says(OWN_RULE) ? pathsIn(line, says(WRITING) ? 'write' : 'read') : []),
      ...(says(NO_HOST) ? hostsIn(line) : []),
      ...(says(NO_VARIABLE) ? variablesIn(line) : []),
    ];
  });
  return [...new Map(found.map((lack) => [JSON.stringify(lack), lack])).values()].slice(0, MOST_NAMED);
}

function pathsIn(line: string, access: 'read' | 'write'): readonly NamedLack[] {
  const quoted = [...line.matchAll(/'(\/[^']{1,500})'|"(\/[^"]{1,500})"|`(\/[^`]{1,500})`/g)];
  const paths = quoted.map(([, one, two, three]) => one ?? two ?? three ?? '');
  const bare = quoted.length > 0 ? [] : [...line.matchAll(/(?:^|[\s:=(])(\/[\w.@%+~/-]{1,500})/g)];
  return [...paths, ...bare.map(([, path = '']) => path)]
    .map((path) => path.replace(/[.,:;]+$/, ''))
    .filter((path) => path.length > 1 && path.length <= LONGEST_PATH && !/\p{Cc}|\/\.\.?(?:\/|$)/u.test(path))
    .map((path) => ({ kind: 'path', path, access }));
}

function hostsIn(line: string): readonly NamedLack[] {
  const names = [
    ...line.matchAll(/(?<![\w.@/-])((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})(?::(\d{1,5}))?(?![\w.-]*\/)/gi),
  ];
  return names
    .filter(([, host = '']) => !/\.(?:js|mjs|cjs|ts|py|json)$/i.test(host))
    .map(([, host = '', port]) => ({
      kind: 'host',
      host: host.toLowerCase(),
      port: port === undefined ? null : Number(port),
    }));
}

/** Names in capitals with a word of two parts: `BRAVE_API_KEY`. Codes of errors look alike. */
function variablesIn(line: string): readonly NamedLack[] {
  return [...line.matchAll(/(?<![\w$])([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6})(?!\w)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !/^(?:ERR|E|SQLITE|ERROR)_/.test(name))
    .map((name) => ({ kind: 'variable', name }));
}
