export { TerminalConsent } from './consent.ts';
export { EXIT, type ExitCode, exitCodeOf } from './exit.ts';
export { jsonLine } from './json-line.ts';
export { EventRenderer, type RenderOptions, renderDiagnostics } from './render.ts';
export { QuotedStream, Screen, type ScreenOptions, type ScreenOutput, type Style } from './screen.ts';
export { type Row, renderBeside, renderTable, type Story, type StoryLine } from './table.ts';
export { type Question, type Reply, Terminal, type TerminalOptions } from './terminal.ts';
