/**
 * Libraries that are large and rarely needed: loaded when a detector is first asked, because a policy that does not
 * use it must not pay for it at every start. Rules are decided at once, so loading is synchronous.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Set while a call runs that may use no third-party parser; `isAsked`: it has reached for one. */
let refusal: { isAsked: boolean } | null = null;

/** The same for a third-party library that reads hostile texts: inside `withoutParsers` it throws. */
export function parserOnDemand<Module>(specifier: string): () => Module {
  const load = onDemand<Module>(specifier);
  return () => {
    if (refusal === null) return load();
    refusal.isAsked = true;
    throw new Error('no third-party parser runs here');
  };
}

/**
 * Calls `run` without third-party parsers. Answers with `needsParser` if it reached for one, even if it caught the error: what it
 * says then is about a text that nobody read.
 */
export function withoutParsers<T>(run: () => T, needsParser: T): T {
  const outer = refusal;
  const own = { isAsked: false };
  refusal = own;
  try {
    const result = run();
    return own.isAsked ? needsParser : result;
  } catch (error) {
    if (own.isAsked) return needsParser;
    throw error;
  } finally {
    refusal = outer;
  }
}

/** Loads a module of this package's dependencies when it is first needed. The caller names its type. */
export function onDemand<Module>(specifier: string): () => Module {
  return once(() => require(specifier) as Module);
}

/** The value is made when it is first asked. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
