/** What the model looks for, by the place of its input. */
export const WORDS = [
  'ignore',
  'instructions',
  'link',
  'replaced',
  'encoding',
  'summary',
  'prompt',
  'document',
  'friendly',
  'stars',
];
