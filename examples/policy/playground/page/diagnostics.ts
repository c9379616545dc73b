/** What is wrong with the policy: as marks in its text and as a list below it. */
import type { Diagnostic } from '@cordon/core';
import type { Editor, Mark } from './editor.ts';
import { button, element, visible } from './element.ts';

const MAX_SHOWN = 50;

export function diagnosticMarks(found: readonly Diagnostic[], editor: Editor): readonly Mark[] {
  const offset = editor.offsets();
  return found.flatMap(({ range, severity, code, message, help }) => {
    if (range === undefined) return [];
    const start = offset(range.line, range.column);
    const end = offset(range.endLine, range.endColumn);
    const title = `${code} ${message}${help === undefined ? '' : `\n${help}`}`;
    return [{ start, end, kind: severity, title }];
  });
}

export function diagnosticList(found: readonly Diagnostic[], editor: Editor): HTMLElement {
  const rows = found.slice(0, MAX_SHOWN).map((one) => row(one, editor));
  if (found.length > MAX_SHOWN)
    rows.push(element('li', { class: 'more' }, `and ${found.length - MAX_SHOWN} more`));
  return element('ul', { class: 'diagnostics' }, ...rows);
}

function row({ severity, code, range, message, help }: Diagnostic, editor: Editor): HTMLElement {
  const { line, column, endLine, endColumn } = range ?? { line: 1, column: 1, endLine: 1, endColumn: 1 };
  const go = (): void => {
    const offset = editor.offsets();
    editor.select(offset(line, column), offset(endLine, endColumn));
  };
  return element(
    'li',
    { 'data-kind': severity },
    button(
      { title: 'go there' },
      go,
      element('span', { class: 'badge', 'data-kind': severity }, `${severity} ${code}`),
      element('span', { class: 'message' }, visible(message)),
      element('span', { class: 'rule' }, `${line}:${column}`),
    ),
    help === undefined ? null : element('p', { class: 'note' }, visible(help)),
  );
}
