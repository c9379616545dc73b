/**
 * Libraries that are large and rarely needed: loaded when a detector is first asked, because a policy that does not
 * use it must not pay for it at every start. Rules are decided at once, so loading is synchronous. Ring 1.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loads a module of this package's dependencies when it is first needed. The caller names its type. */
export function onDemand<Module>(specifier: string): () => Module {
  let loaded: { readonly module: Module } | null = null;
  return () => {
    loaded ??= { module: require(specifier) as Module };
    return loaded.module;
  };
}
