/**
 * Functions of the standard library that need a model or a program that nothing here brings along: rules can import
 * them, and are undecided with the reason, which denies. Ring 1.
 */
import { type Detector, defineDetector, noAnswer } from '@cordon/policy';

const NEEDS: Readonly<
  Record<string, { readonly parameters: readonly [string, ...string[]]; readonly what: string }>
> = {
  is_similar: { parameters: ['data', 'target', 'threshold'], what: 'a model that compares meanings' },
  embedding_similarity: { parameters: ['data', 'target', 'mode'], what: 'a model that compares meanings' },
  moderated: {
    parameters: ['data', 'model', 'default_threshold', 'cat_thresholds', 'split'],
    what: 'a classifier for moderation',
  },
  ocr: { parameters: ['images'], what: 'a program that reads text in pictures' },
  llm: {
    parameters: ['prompt', 'system_prompt', 'model', 'temperature', 'max_tokens'],
    what: 'a model for rules',
  },
  llm_confirm: {
    parameters: ['description', 'system_prompt', 'model', 'temperature', 'max_tokens'],
    what: 'a model for rules',
  },
};

/** One for each, never with an answer. */
export function unavailable(): readonly Detector[] {
  return Object.entries(NEEDS).map(([name, { parameters, what }]) =>
    defineDetector({
      name,
      cost: 'model',
      isDeterministic: false,
      parameters,
      run: () => noAnswer(`\`${name}\` needs ${what}, and none is set up`),
    }),
  );
}
