/** Problems of texts that people wrote, for people. */
import type { Screen, Style } from '@cordon/console/text';
import { type Diagnostic, visibleLine } from '@cordon/core';
import { counted } from '@cordon/print';

/** Problems of a text that a person wrote, and how many there are. */
export function renderDiagnostics(screen: Screen, diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) renderDiagnostic(screen, diagnostic);
  if (diagnostics.length > 0) screen.line(countsOf(diagnostics).join(', '));
}

/** Place, sentence, what `draw` adds, and the remedy. */
export function renderDiagnostic(
  screen: Screen,
  diagnostic: Diagnostic,
  draw: (style: Style) => void = () => undefined,
): void {
  const { file, range, path, severity, code, message, help } = diagnostic;
  const style = severity === 'error' ? 'bad' : 'warn';
  const place = range === undefined ? '' : `:${range.line}:${range.column}`;
  const key = path === undefined ? '' : ` ${visibleLine(path)}`;
  screen.line(`${visibleLine(file)}${place}: ${screen.style(style, `${severity} ${code}`)}${key}`);
  screen.say('  ', message);
  draw(style);
  if (help !== undefined) screen.say('  help: ', help);
}

/** `2 errors`, `1 warning`; empty where there are none. */
export function countsOf(diagnostics: readonly Diagnostic[]): readonly string[] {
  return (['error', 'warning'] as const).flatMap((kind) => {
    const count = diagnostics.filter(({ severity }) => severity === kind).length;
    return count === 0 ? [] : [counted(count, kind)];
  });
}
