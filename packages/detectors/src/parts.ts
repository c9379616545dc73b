/**
 * Single detectors, and what the classifier is trained with, for programs of this repository that measure one alone or train
 * it. Others import `standardDetectors`, which says of each finding whether a rule may rely on it.
 */

export type { Construct } from './code/construct.ts';
export { javascriptCode } from './code/javascript/javascript.ts';
export { pythonCode } from './code/python/python.ts';
export { shellCode } from './code/shell/shell.ts';
export { sqlCode } from './code/sql/sql.ts';
export { isGranted } from './comparison/access-control.ts';
export { findCopyright } from './comparison/copyright.ts';
export { errorsFor, findFuzzy } from './comparison/fuzzy-search.ts';
export { lexicalSimilarity } from './comparison/lexical-similarity.ts';
export { categoriesIn } from './hidden-text/character-category.ts';
export { findHidden } from './hidden-text/hidden-text.ts';
export { htmlParts } from './links/html-code.ts';
export { findLinkExfiltration, privateTexts } from './links/link-exfiltration.ts';
export { linksIn } from './links/links.ts';
export { findModerated } from './moderation/moderation.ts';
export { findForms, findPersonalData } from './pii/pii.ts';
export {
  emptyWeights,
  type StoredWeights,
  signIndices,
  type Window,
  windowsOf,
} from './prompt-injection/classifier.ts';
export { pairAt, type Sentence, sentencesIn } from './prompt-injection/features.ts';
export { injectionSpans } from './prompt-injection/prompt-injection.ts';
export { SIGNS } from './prompt-injection/signs.ts';
export { findSecrets } from './secrets/secrets.ts';
export { findTopics, TOPICS } from './topic/topic.ts';
