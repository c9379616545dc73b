export {
  type AgreementQuestions,
  agreementTo,
  agreementToChange,
  agreementToRegistry,
  isInEffect,
  type NamedRegistry,
} from './agreement.ts';
export { type AnswerOptions, consentFrom, NOBODY, parseAnswers } from './answers.ts';
export { isMarked, type MarkedEntry, mark, unmark } from './apps/marks.ts';
export {
  type Configuration,
  type ConfigurationOptions,
  type ConfigurationSources,
  isProviderConfigured,
  loadAnswers,
  loadConfiguration,
  modelInUse,
  ownDataFolderOf,
} from './config.ts';
export { minuteOf, parseEnd, type TermChoice, termChoices, termOfWord, termWords } from './grant-term.ts';
export { modelChoices, withModel } from './model-choice.ts';
export type { AskingSettings } from './settings/asking-config.ts';
export { BUILT_IN_PRICES } from './settings/limits-config.ts';
export { type ModuleSettings, moduleAt } from './settings/module-settings.ts';
export { modelForKey, OBEDIENT_MODEL, providerOf } from './settings/provider-config.ts';
