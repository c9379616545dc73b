/**
 * Runs `scenario.ts` with the library in a realm of its own, in which there is the language and nothing else: no global
 * of Node or of a browser, no module but the library's and those that it is made of, no code from strings. Prints what came out.
 * To be started with `--experimental-vm-modules`.
 */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createContext, SourceTextModule } from 'node:vm';

const PACKAGES: Readonly<Record<string, string>> = {
  '@cordon/core': import.meta.resolve('@cordon/core'),
  '@cordon/monitor': import.meta.resolve('@cordon/monitor'),
  '@cordon/policy': import.meta.resolve('@cordon/policy'),
  '@cordon/policy-tools': import.meta.resolve('@cordon/policy-tools'),
  '@cordon/regex': import.meta.resolve('@cordon/regex', import.meta.resolve('@cordon/policy')),
};

const realm = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
const modules = new Map<string, SourceTextModule>();

function moduleAt(address: string): SourceTextModule {
  const known = modules.get(address);
  if (known !== undefined) return known;
  const text = stripTypeScriptTypes(readFileSync(fileURLToPath(address), 'utf8'));
  const made = new SourceTextModule(text, { context: realm, identifier: address });
  modules.set(address, made);
  return made;
}

function addressOf(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return new URL(specifier, from).href;
  const address = PACKAGES[specifier];
  if (address === undefined) throw new Error(`${from} imports \`${specifier}\``);
  return address;
}

const scenario = moduleAt(new URL('scenario.ts', import.meta.url).href);
await scenario.link((specifier, from) => moduleAt(addressOf(specifier, from.identifier)));
await scenario.evaluate();
console.log(Reflect.get(scenario.namespace, 'report'));
