/**
 * The options of a command as they would be typed again, for advice on how to resume: those that say which apps, model,
 * rules and data there are.
 */
import type { ConfigurationOptions } from '@cordon/config';

/** For a shell, each with a space before it; empty where none was given. */
export function optionsAgain(options: ConfigurationOptions & { readonly isolation?: string }): string {
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--config', options.config],
    ['--data', options.data],
    ['--model', options.model],
    ['--base-url', options.baseURL],
    ...(options.policy ?? []).map((file) => ['--policy', file] as const),
    ...(options.scenario ?? []).map((file) => ['--scenario', file] as const),
    ['--sandbox', options.sandbox],
    ['--isolation', options.isolation === 'none' ? 'none' : undefined],
  ];
  return given.map(([name, value]) => (value === undefined ? '' : ` ${name} ${shellWord(value)}`)).join('');
}

function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
