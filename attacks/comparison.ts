/** The table that compares sandboxes: which attempts it holds, and how it is written. */
import type { Attempt } from './escape/attempt.ts';
import { ATTEMPTS } from './escape/attempts.ts';
import type { Outcome } from './escape/program.ts';

export interface Column {
  readonly name: string;
  /** Empty where there is none. */
  readonly version: string;
  /** By the attempt's id; nothing at all where it could not be run. */
  readonly outcomes: ReadonlyMap<string, { readonly outcome?: Outcome; readonly twin?: Outcome }>;
}

/** Those that make sense everywhere: not what only Cordon has, nor what only root could do. */
export function compared(): readonly Attempt[] {
  return ATTEMPTS.filter(({ cordonOnly, rootOnly }) => cordonOnly !== true && rootOnly !== true);
}

const BEGIN = '<!-- comparison: written by `npm run attacks:compare` -->';
const END = '<!-- end of comparison -->';

export function renderComparison(columns: readonly Column[], machine: string): string {
  const attempts = compared();
  const heads = columns.map(({ name, version }) => (version === '' ? name : `${name} ${version}`));
  const totals = columns.map(({ outcomes }) => total(attempts, outcomes));
  const rows = attempts.map((attempt) => {
    const cells = columns.map(({ outcomes }) => cell(outcomes.get(attempt.id)));
    return [`\`${attempt.id}\``, attempt.title, ...cells];
  });
  const lines = [
    ['attempt', 'an app that', ...heads],
    ['---', '---', ...heads.map(() => '---')],
    ['', '**gets through**', ...totals],
    ...rows,
  ];
  const text = lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return `${BEGIN}\n${machine}, an ordinary user.\n\n${text}\n${END}`;
}

function total(attempts: readonly Attempt[], outcomes: Column['outcomes']): string {
  if (outcomes.size === 0) return '—';
  const through = attempts.filter(({ id }) => outcomes.get(id)?.outcome?.kind === 'through');
  return `**${through.length} of ${attempts.length}**`;
}

/** `*`: what is allowed does not work there either. */
function cell(ended: { readonly outcome?: Outcome; readonly twin?: Outcome } | undefined): string {
  if (ended?.outcome === undefined) return '—';
  const isBroken = ended.twin?.kind !== 'through';
  switch (ended.outcome.kind) {
    case 'through':
      return '**through**';
    case 'stopped':
      return `${shorten(ended.outcome.by)}${isBroken ? ' *' : ''}`;
    case 'unclear':
    case 'not-run':
      return isBroken ? '—' : '?';
  }
}

function shorten(code: string): string {
  return /^[\w-]{1,20}$/.test(code) ? code : 'refused';
}

/** The page with another table between its marks. */
export function replaceComparison(page: string, table: string): string {
  const [before, rest] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || rest < before) throw new Error('the page has no marks for the comparison');
  return `${page.slice(0, before)}${table}${page.slice(rest + END.length)}`;
}

/** The attempts that the page's table tells of, in its order. */
export function attemptsIn(page: string): readonly string[] {
  const table = page.slice(page.indexOf(BEGIN), page.indexOf(END));
  return [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map((match) => match[1] ?? '');
}
