/** One entry of another client, whatever that client calls its keys. */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { FoundInput, FoundServer, FoundSource, Obstacle } from './found-server.ts';
import { secretName, type TranslationPlace, translate } from './placeholders.ts';

export interface EntryPlace extends TranslationPlace {
  readonly origin: string;
  /** `inputs` of the file, by id. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** Keys that take tools or rights away in another client. */
const RESTRICTIONS = [
  ...['disabledTools', 'excludeTools', 'disabled_tools', 'enabledTools', 'includeTools', 'enabled_tools'],
  ...['allowedTools', 'tools', 'sandbox', 'sandboxEnabled'],
];

/** Never throws; what cannot be read is an obstacle of that entry alone. */
export function readServer(name: string, entry: Json, place: EntryPlace): FoundServer {
  const reader = new EntryReader(place);
  const source = isJsonObject(entry) ? reader.source(entry) : reader.refuse(NO_OBJECT);
  const fields = isJsonObject(entry) ? entry : {};
  return {
    name,
    origin: place.origin,
    source: reader.obstacle === null ? source : null,
    obstacle: reader.obstacle,
    loss: lossOf(fields),
    isDisabled: fields.disabled === true || fields.enabled === false,
    inputs: reader.inputs,
  };
}

const NO_OBJECT: Obstacle = { message: 'the entry is not an object', help: 'correct it in that file' };

function lossOf(entry: JsonObject): string | null {
  const restricting = RESTRICTIONS.filter((key) => !isEmpty(entry[key]));
  const [key] = restricting;
  if (key === undefined) return null;
  const value = entry[key];
  const tools = Array.isArray(value) ? `: ${value.map(String).join(', ')}` : '';
  return `\`${key}\` restricts it there${tools}. Cordon does not apply this: forbid the tools in a policy`;
}

function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined || value === false || value === null || (Array.isArray(value) && value.length === 0)
  );
}

class EntryReader {
  obstacle: Obstacle | null = null;
  readonly inputs: FoundInput[] = [];
  readonly #place: EntryPlace;

  constructor(place: EntryPlace) {
    this.#place = place;
  }

  refuse(obstacle: Obstacle): null {
    this.obstacle ??= obstacle;
    return null;
  }

  source(entry: JsonObject): FoundSource | null {
    const command = entry.command;
    if (typeof command === 'string' && command !== '') return this.#command(command, entry);
    const url = entry.httpUrl ?? entry.serverUrl ?? entry.url;
    if (typeof url === 'string') return this.#remote(url, entry);
    return this.refuse({
      message: 'the entry has neither `command` nor `url`',
      help: 'correct it in that file',
    });
  }

  #command(command: string, entry: JsonObject): FoundSource {
    if (typeof entry.envFile === 'string')
      this.refuse({
        message: '`envFile` is a file of variables, which Cordon does not read',
        help: 'write the variables that the app needs into `env`',
      });
    const passed = this.#strings(entry.env_vars, 'env_vars').map((name) => [name, `\${env:${name}}`]);
    const args = this.#strings(entry.args, 'args');
    // The arguments of this bridge become headers, where variables and secrets can stand.
    const isBridge = args.some((arg) => /^mcp-remote(?:@|$)/.test(arg));
    return {
      kind: 'command',
      command: this.#plain(command),
      args: args.map((arg) => (isBridge ? this.#value(arg) : this.#plain(arg))),
      env: { ...Object.fromEntries(passed), ...this.#values(entry.env ?? entry.environment, 'env') },
      cwd: typeof entry.cwd === 'string' ? this.#plain(entry.cwd) : null,
    };
  }

  #remote(url: string, entry: JsonObject): FoundSource {
    const bearer = entry.bearer_token_env_var;
    const fromVariables = isJsonObject(entry.env_http_headers) ? Object.entries(entry.env_http_headers) : [];
    return {
      kind: 'url',
      url: this.#plain(url),
      headers: {
        ...(typeof bearer === 'string' ? { Authorization: `Bearer \${env:${bearer}}` } : {}),
        ...Object.fromEntries(fromVariables.map(([key, name]) => [key, `\${env:${String(name)}}`])),
        ...this.#values(entry.headers ?? entry.http_headers, 'headers'),
      },
    };
  }

  /** Arguments, paths and addresses, in which neither variables nor secrets can stand. */
  #plain(text: string): string {
    const { text: translated, refused } = translate(text, 'plain', this.#place);
    if (refused !== null)
      this.refuse({
        message: `\`${refused}\` stands in the command or address, where Cordon passes no variables or secrets`,
        help: 'write the value itself there if it is no secret, or pass it in `env` or `headers`',
      });
    return translated;
  }

  #strings(value: Json | undefined, key: string): readonly string[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    this.refuse({ message: `\`${key}\` is not a list of texts`, help: 'correct it in that file' });
    return [];
  }

  #values(value: Json | undefined, key: string): Readonly<Record<string, string>> {
    if (value === undefined || value === null) return {};
    if (!isJsonObject(value)) {
      this.refuse({ message: `\`${key}\` is not an object`, help: 'correct it in that file' });
      return {};
    }
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => {
        // Null removes a variable in VS Code. No app gets one that is not named.
        if (inner === null) return [];
        if (typeof inner === 'object') {
          this.refuse({ message: `\`${key}.${name}\` is not a text`, help: 'correct it in that file' });
          return [];
        }
        return [[name, this.#value(String(inner))]];
      }),
    );
  }

  #value(text: string): string {
    const { text: translated, inputs } = translate(text, 'env', this.#place);
    for (const id of inputs) {
      const name = secretName(id);
      if (this.inputs.some((input) => input.name === name)) continue;
      this.inputs.push({ name, description: this.#place.inputs.get(id) ?? id });
    }
    return translated;
  }
}
