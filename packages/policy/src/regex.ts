/**
 * Regular expressions, for the rest of the package.
 *
 * Ring 0.
 */
export type { Match } from './regex/linear.ts';
export { type Alternatives, anchorsOf, occursIn } from './regex/literals.ts';
export {
  compilePattern,
  EXHAUSTED_REASON,
  type Exhausted,
  MOST_PATTERNS,
  type Pattern,
  PatternCache,
  type PatternOptions,
} from './regex/pattern-cache.ts';
