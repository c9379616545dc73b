/**
 * `${…}` inside a string of the configuration. There are four, each explicit about what it passes on; what other
 * clients would also replace is refused with the remedy, because passing it on literally would fail obscurely.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import { type Located, type Problem, quoted } from './config-reader.ts';
import { nearest } from './nearest.ts';
import { absolutePath, type Environment } from './paths.ts';

/** Where paths of a configuration begin, and what the placeholders in them stand for. */
export interface Folders {
  /** `~` */
  readonly home: string;
  /** `${config}`: the folder of the configuration file. Relative paths begin there. */
  readonly config: string;
  /** `${state}`: the app's private folder. */
  readonly state: string;
}

export interface PlaceholderValues extends Pick<Folders, 'config' | 'state'> {
  /** `${env:NAME}`; absent where the place takes none. */
  readonly environment?: Environment | undefined;
  /** Told of each variable that is passed on. */
  readonly onVariable?: (name: string) => void;
  /** What `${secret:NAME}` stands for in this file; null: nothing is kept. Absent where no secret may stand. */
  readonly secret?: (name: string) => string | null;
}

/** `$${` stands for a literal `${`. */
const PLACEHOLDER = /\$\$\{|\$\{([^}]*)(\}?)/g;

/** Whether `${state}` is in a text. */
export function namesState(text: string): boolean {
  return /(?<!\$)\$\{state\}/.test(text);
}

/** A path as people write it, made absolute; null after a report. */
export function readPath(at: Located, folders: Folders): string | null {
  const text = at.checked(pathProblem);
  const replaced = text === null ? null : replacePlaceholders(at, text, folders);
  return replaced === null ? null : absolutePath(replaced, folders.config, folders.home);
}

function pathProblem(text: string): Problem | null {
  const help = pathHelp(text);
  return help === null
    ? null
    : { code: 'CFG016', message: `${quoted(text)} is no path that can be used here`, help };
}

function pathHelp(text: string): string | null {
  if (text.trim() === '') return 'name a file or folder';
  if (text.length > 4096) return 'paths have at most 4096 characters';
  if (/\p{Cc}/u.test(text)) return 'remove the control character';
  if (/^~[^/]/.test(text)) return 'only your own home is known, as `~`; write the path in full';
  if (/[*?]/.test(text)) return 'patterns are not understood; name the folder';
  return null;
}

/** The text with every placeholder replaced, or null after a report. A replaced value is not looked at again. */
export function replacePlaceholders(at: Located, text: string, values: PlaceholderValues): string | null {
  let refused = false;
  const replaced = text.replace(PLACEHOLDER, (whole, name: string | undefined, close: string | undefined) => {
    if (name === undefined) return '${';
    const value = close === '}' ? replacement(at, name, values) : unclosed(at, whole);
    if (value === null) refused = true;
    return value ?? '';
  });
  return refused ? null : replaced;
}

function unclosed(at: Located, text: string): null {
  const message = `${quoted(text)} has no closing brace`;
  return at.report({ code: 'CFG018', message, help: 'write `$${` for a literal `${`' });
}

function replacement(at: Located, name: string, values: PlaceholderValues): string | null {
  const { environment } = values;
  if (name === 'state') return values.state;
  if (name === 'config') return values.config;
  if (name.startsWith('secret:') && values.secret !== undefined) {
    const secret = name.slice('secret:'.length);
    return values.secret(secret) ?? at.report(unkeptSecret(secret));
  }
  if (!name.startsWith('env:')) {
    const message = `${quoted(`\${${name}}`)} is no placeholder that Cordon knows`;
    return at.report({ code: 'CFG018', message, help: remedy(name, environment !== undefined) });
  }
  if (environment === undefined)
    return at.report({
      code: 'CFG018',
      message: `${quoted(`\${${name}}`)} is only replaced in the values of \`env\` and \`headers\``,
      help: 'hand the variable over in `env`, where `cordon apps` shows it',
    });
  const variable = name.slice('env:'.length);
  const value = Object.hasOwn(environment, variable) ? environment[variable] : undefined;
  if (value === undefined) return at.report(unsetVariable(variable));
  values.onVariable?.(variable);
  return value;
}

function unkeptSecret(name: string): Problem {
  const message = `the secret ${quoted(name)} is not kept for this file`;
  return { code: 'CFG019', message, help: '`cordon init`, at a terminal, asks for it' };
}

export function unsetVariable(name: string): Problem {
  const example = /^\w{1,60}$/.test(name) ? name : 'NAME';
  return {
    code: 'CFG019',
    message: `the environment variable ${quoted(name)} is not set`,
    help: `set it before starting cordon, e.g. \`export ${example}=…\``,
  };
}

function remedy(name: string, takesVariables: boolean): string {
  if (name === 'workspaceFolder') return 'write `${config}`, the folder of this file';
  if (name === 'userHome') return 'write the path in full, or `~` in `files`';
  if (name.startsWith('input:'))
    return '`cordon init` asks for it once; or put the value into an environment variable and write `${env:NAME}`';
  if (name.startsWith('secret:'))
    return 'secrets stand in the values of `env` and `headers` of an app, and in `packages`';
  const meant = nearest(name, ['state', 'config']);
  if (meant !== null) return `did you mean \`\${${meant}}\`?`;
  if (takesVariables && /^[A-Z_][A-Z0-9_]*(:-.*)?$/.test(name))
    return `write \`\${env:${name.split(':-')[0]?.slice(0, 60)}}\``;
  return 'there are `${state}`, `${config}` and, in `env`, `${env:NAME}`; write `$${` for a literal `${`';
}
