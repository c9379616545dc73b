/** Reads what the user types to change a proposal. */
import { absolutePath } from '@cordon/config/reading';
import { failed, ok, type Result } from '@cordon/core';
import { parseNetworkEntry, printNetworkEntry } from '@cordon/egress/reach';
import { valuesOf } from '../clients/found-server.ts';
import { type AppProposal, grantKey, NO_EDITS, type ProposalEdits, type ProposalPlace } from './propose.ts';

/** Everything of an app that can be left out, in the order in which the screen shows it. */
export function droppable({ grants, state, labels }: AppProposal): readonly string[] {
  return [
    ...grants.map(grantKey),
    ...(state === null ? [] : ['state']),
    ...(labels.length === 0 ? [] : ['labels']),
  ];
}

export const EDIT_HELP =
  'N leaves app N out or takes it in; N letter leaves a line of it out; N +read PATH, N +write PATH, N +host HOST:PORT add; N OLD NEW replaces a word of its command, N without OLD takes it out; N says TEXT describes it; N reset';

/** One line that the user typed, such as `2 b` or `3 +host imap.example.org:993`. `apps` are numbered from 1. */
export function parseEdit(
  line: string,
  apps: readonly AppProposal[],
  place: Pick<ProposalPlace, 'folder' | 'home'>,
): Result<{ readonly app: number; readonly change: (edits: ProposalEdits) => ProposalEdits }, string> {
  const [, digits = '', rest = ''] = /^(\d+)\s*(.*)$/s.exec(line.trim()) ?? [];
  const app = Number(digits) - 1;
  const shown = apps[app];
  if (shown === undefined) return failed(`there is no app ${digits || `\`${line.trim()}\``}. ${EDIT_HELP}`);
  if (shown.source === null) return failed(`app ${digits} cannot be taken over as it is`);
  const change = changeOf(rest.trim(), shown, place);
  return change.ok ? ok({ app, change: change.value }) : change;
}

type Change = (edits: ProposalEdits) => ProposalEdits;

function changeOf(
  text: string,
  app: AppProposal,
  place: Pick<ProposalPlace, 'folder' | 'home'>,
): Result<Change, string> {
  if (text === '') return ok((edits) => ({ ...edits, isTaken: !app.isTaken }));
  if (text === 'reset') return ok(() => NO_EDITS);
  if (/^[a-z]$/.test(text)) return dropping(app, text);
  const [word = '', ...rest] = text.split(/\s+/);
  const value = rest.join(' ');
  if (word === 'says' && value !== '')
    return ok((edits) => ({ ...edits, description: value.slice(0, 2000) }));
  if (word.startsWith('+')) return adding(word.slice(1), value, place);
  if (word === 'without' && rest.length === 1) return replacing(app, value, '');
  if (rest.length === 1) return replacing(app, word, value);
  return failed(`\`${text}\` is no change. ${EDIT_HELP}`);
}

function dropping(app: AppProposal, letter: string): Result<Change, string> {
  const key = droppable(app)[letter.charCodeAt(0) - 97];
  if (key === undefined) return failed(`app ${app.id} has no line ${letter}`);
  return ok((edits) => ({
    ...edits,
    dropped: new Set([...edits.dropped, key]),
    added: edits.added.filter((grant) => grantKey(grant) !== key),
  }));
}

function adding(
  kind: string,
  value: string,
  { folder, home }: Pick<ProposalPlace, 'folder' | 'home'>,
): Result<Change, string> {
  const granted = (grant: ProposalEdits['added'][number]): Result<Change, string> =>
    ok((edits) => ({
      ...edits,
      added: [...edits.added, grant],
      dropped: new Set([...edits.dropped].filter((key) => key !== grantKey(grant))),
    }));
  if (kind === 'host' || kind === 'network') {
    const entry = parseNetworkEntry(value);
    if (!entry.ok)
      return failed(`\`${value}\` cannot be allowed: ${entry.fault.message}; ${entry.fault.help}`);
    return granted({ kind: 'network', value: printNetworkEntry(entry.value) });
  }
  if (kind !== 'read' && kind !== 'write') return failed(`there is no \`+${kind}\`. ${EDIT_HELP}`);
  if (value === '') return failed(`\`+${kind}\` needs a path`);
  return granted({ kind, value: absolutePath(value, folder, home) });
}

function replacing({ source }: AppProposal, old: string, now: string): Result<Change, string> {
  if (source === null) return failed('there is nothing to replace');
  const start = source.kind === 'url' ? [source.url] : source.args;
  const words = [...start, ...Object.values(valuesOf(source))];
  if (!words.includes(old))
    return failed(`\`${old}\` is no word of its command, and no value of its variables`);
  return ok((edits) => ({ ...edits, replaced: [...edits.replaced, [old, now]] }));
}
