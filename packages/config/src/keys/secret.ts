/**
 * Reads the secrets that credentials of manifests name, when a request needs one: from the user's environment as it
 * was at the start, or from a file as it is now.
 *
 * The only reader of them; what it answers goes to the hub and is shown nowhere.
 */
import { type Fault, failed, fault, ok, type Result, type SecretSource } from '@cordon/core';
import type { Environment } from '../reading/paths.ts';
import { readTextFile } from '../reading/text-file.ts';

/** The text without the line break at its end; a fault says what is missing and nothing of what is there. */
export function secretReader(environment: Environment): (source: SecretSource) => Result<string, Fault> {
  return (source) => {
    switch (source.kind) {
      case 'variable': {
        const value = Object.hasOwn(environment, source.name) ? environment[source.name] : undefined;
        return value === undefined ? missing(`the variable \`${source.name}\` is not set`) : ok(value);
      }
      case 'file': {
        const text = readTextFile(source.path);
        return text.ok
          ? ok(text.value.replace(/\r?\n$/, ''))
          : missing('the file of the credential cannot be read');
      }
    }
  };
}

function missing(message: string): Result<never, Fault> {
  return failed(fault('app-unavailable', message));
}
