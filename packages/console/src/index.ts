export { TerminalAgreement } from './questions/agreement-question.ts';
export { TerminalConsent } from './questions/consent.ts';
export { LineAnswers } from './questions/line-answers.ts';
export { drawPermission, fieldWords, textOfDrawing } from './questions/prompt-drawing.ts';
export { readQueryLine } from './questions/query-line.ts';
export { type AnswerOptions, typedAnswer, whyAlone } from './questions/typed-answer.ts';
export { WaitingConsent } from './questions/waiting-consent.ts';
export { MOST_LINE_LENGTH, Terminal, type TerminalOptions } from './terminal/terminal.ts';
export { terminalClock } from './terminal/terminal-clock.ts';
