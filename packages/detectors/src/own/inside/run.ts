/**
 * The program of a confined process that answers for one module of the user's predicates, on a socket that it inherits: one
 * JSON object a line. First it says what the module declares. Its reader believes none of it.
 *
 * It ends with its link.
 */
import { registerHooks } from 'node:module';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { DetectorModule } from '../module.ts';
import { evaluated } from './evaluate.ts';

const LINK_DESCRIPTOR = 3;
/** `defineDetectors` is there for the types: inside, the whole package is this one line. */
const DEFINE = 'data:text/javascript,export const defineDetectors = (module) => module;';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@cordon/detectors'
      ? { url: DEFINE, format: 'module', shortCircuit: true }
      : next(specifier, context),
});

const link = new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true });
link.on('close', () => process.exit(0));
link.on('error', () => process.exit(0));
const say = (message: object) => link.write(`${JSON.stringify(message)}\n`);

const module = await loaded(process.argv[2] ?? '');
if (module !== null) {
  const declared = Object.entries(module).map(([name, { parameters }]) => [name, parameters]);
  say({ declared: Object.fromEntries(declared) });
  for await (const line of createInterface({ input: link })) void answer(module, line);
}

/** The message of an error may tell the author what is wrong; it goes to the user alone. */
async function loaded(file: string): Promise<DetectorModule | null> {
  try {
    const { default: found }: { default?: DetectorModule } = await import(file);
    if (typeof found === 'object' && found !== null) return found;
    say({ unusable: 'it has no default export' });
  } catch (error) {
    say({ unusable: error instanceof Error ? error.message.slice(0, 500) : 'it threw no error' });
  }
  return null;
}

async function answer(from: DetectorModule, line: string): Promise<void> {
  const { id, name, values } = JSON.parse(line);
  const predicate = Object.hasOwn(from, name) ? from[name] : undefined;
  say({ id, ...(await evaluated(predicate, name, values)) });
}
