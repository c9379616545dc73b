/** Regular expressions of rules (Python's syntax and meaning) and of JSON Schemas (ECMAScript's). */
export type { Match } from './linear.ts';
export { type Alternatives, anchorsOf, occursIn } from './literals.ts';
export {
  compilePattern,
  compileSchemaPattern,
  EXHAUSTED_REASON,
  type Exhausted,
  type Pattern,
  type PatternOptions,
} from './pattern.ts';
