/**
 * What names, operators and functions mean, for whoever gives trees a meaning by another way than the compiler:
 * the reference evaluator of the tests.
 */

export { freeNames, type Named, Names, variablesOf } from './check/scope.ts';
export { decodingsOf, spokenLink } from './origin/encodings.ts';
export { formsIn, readingsOf } from './origin/forms.ts';
export { holdsName, othersOfKind } from './origin/kinds.ts';
export { sentenceAt } from './origin/origin.ts';
export { leavesOf, namesPlaceOf, piecesOf, placeOf, spokenPlaces } from './origin/pieces.ts';
export { namesBeside, type SeenText, seenIn } from './origin/sources.ts';
export { coreOf, hidesText, isAddress, isStrict, type Words, weightOf, wordsOf } from './origin/words.ts';
export { importedName, runBuiltin } from './values/builtins.ts';
export { applyBinary, applyUnary, elementOf, elements, memberOf, truth } from './values/operators.ts';
export { type ComputedPattern, referencesOf, toolMatcher } from './values/pattern.ts';
export { PatternCache } from './values/pattern-cache.ts';
export { joined } from './values/python-str.ts';
export { isTypeName } from './values/types.ts';
