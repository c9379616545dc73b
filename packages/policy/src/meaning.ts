/**
 * What names, operators and functions mean, for whoever gives trees a meaning by another way than the compiler:
 * the reference evaluator of the tests.
 *
 * Ring 0.
 */
export { importedName, runBuiltin } from './builtins.ts';
export { applyBinary, applyUnary, elementOf, elements, memberOf, truth } from './operators.ts';
export { type ComputedPattern, referencesOf, toolMatcher } from './pattern.ts';
export { PatternCache } from './regex.ts';
export { type Named, Names, variablesOf } from './scope.ts';
export { joined } from './text.ts';
export { isTypeName } from './types.ts';
