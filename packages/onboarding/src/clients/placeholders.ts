/**
 * Placeholders of other clients, as Cordon writes them. Each client has its own: `${input:ID}` and `${workspaceFolder}` of
 * VS Code, `${VAR:-default}` of Claude Code, `$VAR` of the Gemini CLI.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import type { Environment } from '@cordon/config/reading';
import { NAME_PATTERN } from '@cordon/core';

export interface TranslationPlace {
  readonly home: string;
  /** What `${workspaceFolder}` means. */
  readonly folder: string;
  readonly environment: Environment;
  /** Whether `$NAME` is a variable, as in the Gemini CLI. Elsewhere it may be part of a password. */
  readonly takesBareNames: boolean;
}

/** `env`: a value that may hold variables and secrets; `plain`: arguments, paths and addresses, which may not. */
export type ValueKind = 'env' | 'plain';

export interface Translated {
  readonly text: string;
  /** Ids of inputs that the text asks for. */
  readonly inputs: readonly string[];
  /** What cannot stand in a plain value; null: nothing. */
  readonly refused: string | null;
}

const PLACEHOLDER = /\$\{([^}]*)\}|\$([A-Z_][A-Z0-9_]*)\b/g;
const VARIABLE = /^[A-Za-z_]\w{0,127}$/;

/** Cordon's own placeholders stay. Text in `${…}` that no client knows becomes literal text. */
export function translate(text: string, kind: ValueKind, place: TranslationPlace): Translated {
  const inputs: string[] = [];
  let refused: string | null = null;
  const variable = (name: string, whole: string): string => {
    if (kind === 'env') return `\${env:${name}}`;
    if (name === 'HOME') return place.home;
    refused ??= whole;
    return whole;
  };
  const translated = text.replace(PLACEHOLDER, (whole: string, braced?: string, bare?: string) => {
    if (bare !== undefined) return place.takesBareNames ? variable(bare, whole) : whole;
    const inner = braced ?? '';
    if (inner === 'state' || inner === 'config') return whole;
    if (inner === 'workspaceFolder') return place.folder;
    if (inner === 'userHome') return place.home;
    if (inner === '/' || inner === 'pathSeparator') return '/';
    if (inner.startsWith('input:')) {
      const name = secretName(inner.slice('input:'.length));
      inputs.push(inner.slice('input:'.length));
      if (kind === 'plain') refused ??= whole;
      return `\${secret:${name}}`;
    }
    if (inner.startsWith('secret:')) return whole;
    const named = inner.startsWith('env:') ? inner.slice('env:'.length) : inner;
    const [name = '', fallback] = named.split(':-', 2);
    if (!VARIABLE.test(name)) return `$${whole}`;
    const isSet = (place.environment[name] ?? '') !== '';
    return fallback !== undefined && !isSet ? fallback : variable(name, whole);
  });
  return { text: translated, inputs, refused };
}

/** A name that can stand in `${secret:NAME}`. */
export function secretName(id: string): string {
  const name = id
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  return NAME_PATTERN.test(name) ? name : 'secret';
}
