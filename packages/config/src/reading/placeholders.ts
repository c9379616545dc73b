/**
 * `${…}` inside a string of the configuration. There are three, each explicit about what it passes on; what other
 * clients would also replace is refused with the remedy, because passing it on literally would fail obscurely.
 *
 * Ring 0.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import { type ConfigReader, type Located, quoted } from './config-reader.ts';
import { nearest } from './nearest.ts';
import type { Environment } from './paths.ts';

export interface PlaceholderValues {
  /** `${state}`: the app's private folder. */
  readonly state: string;
  /** `${config}`: the folder of the configuration file. */
  readonly config: string;
  /** `${env:NAME}`; null where the place takes none. */
  readonly environment: Environment | null;
  /** Told of each variable that is passed on. */
  readonly onVariable?: (name: string) => void;
}

/** `$${` stands for a literal `${`. */
const PLACEHOLDER = /\$\$\{|\$\{([^}]*)(\}?)/g;

/** The text with every placeholder replaced, or null after a report. A replaced value is not looked at again. */
export function replacePlaceholders(
  reader: ConfigReader,
  at: Located,
  text: string,
  values: PlaceholderValues,
): string | null {
  let refused = false;
  const replaced = text.replace(PLACEHOLDER, (whole, name: string | undefined, close: string | undefined) => {
    if (name === undefined) return '${';
    const value = close === '}' ? replacement(reader, at, name, values) : unclosed(reader, at, whole);
    if (value === null) refused = true;
    return value ?? '';
  });
  return refused ? null : replaced;
}

function replacement(
  reader: ConfigReader,
  at: Located,
  name: string,
  values: PlaceholderValues,
): string | null {
  if (name === 'state') return values.state;
  if (name === 'config') return values.config;
  if (!name.startsWith('env:')) return unknown(reader, at, name, values.environment);
  const variable = name.slice('env:'.length);
  if (values.environment === null) {
    reader.reportAt(at, {
      code: 'CFG018',
      message: `${quoted(`\${${name}}`)} is only replaced in the values of \`env\` and \`headers\``,
      help: 'hand the variable over in `env`, where `cordon apps` shows it',
    });
    return null;
  }
  const value = Object.hasOwn(values.environment, variable) ? values.environment[variable] : undefined;
  if (value === undefined) {
    reader.reportAt(at, {
      code: 'CFG019',
      message: `the environment variable ${quoted(variable)} is not set`,
      help: `set it before starting cordon, e.g. \`export ${variableExample(variable)}=…\``,
    });
    return null;
  }
  values.onVariable?.(variable);
  return value;
}

function variableExample(name: string): string {
  return /^\w{1,60}$/.test(name) ? name : 'NAME';
}

function unclosed(reader: ConfigReader, at: Located, text: string): null {
  reader.reportAt(at, {
    code: 'CFG018',
    message: `${quoted(text)} has no closing brace`,
    help: 'write `$${` for a literal `${`',
  });
  return null;
}

function unknown(reader: ConfigReader, at: Located, name: string, environment: Environment | null): null {
  reader.reportAt(at, {
    code: 'CFG018',
    message: `${quoted(`\${${name}}`)} is no placeholder that Cordon knows`,
    help: remedy(name, environment),
  });
  return null;
}

function remedy(name: string, environment: Environment | null): string {
  if (name === 'workspaceFolder') return 'write `${config}`, the folder of this file';
  if (name === 'userHome') return 'write the path in full, or `~` in `files`';
  if (name.startsWith('input:')) return 'put the value into an environment variable and write `${env:NAME}`';
  const meant = nearest(name, ['state', 'config']);
  if (meant !== null) return `did you mean \`\${${meant}}\`?`;
  const isVariable = environment !== null && /^[A-Z_][A-Z0-9_]*(:-.*)?$/.test(name);
  if (isVariable) return `write \`\${env:${name.split(':-')[0]?.slice(0, 60)}}\``;
  return 'there are `${state}`, `${config}` and, in `env`, `${env:NAME}`; write `$${` for a literal `${`';
}
