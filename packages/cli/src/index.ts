export {
  type AnswerMatch,
  type AnswerOptions,
  type AnswerRule,
  AnswersConsent,
  consentFrom,
  parseAnswers,
} from './answers.ts';
export type { HandedVariable } from './app-config.ts';
export {
  type Configuration,
  type ConfigurationOptions,
  type ConfigurationSources,
  isProviderConfigured,
  loadAnswers,
  loadConfiguration,
  modelInUse,
} from './config.ts';
export { TerminalConsent } from './consent.ts';
export { EXIT, type ExitCode, exitCodeOf } from './exit.ts';
export { OBEDIENT_MODEL } from './provider-config.ts';
export { EventRenderer, jsonLine, type RenderOptions, renderDiagnostics } from './render.ts';
export { QuotedStream, Screen, type ScreenOptions, type ScreenOutput, type Style } from './screen.ts';
export { type Row, renderTable } from './table.ts';
export { type Question, type Reply, Terminal, type TerminalOptions } from './terminal.ts';
export { visibleLine } from './visible-text.ts';
