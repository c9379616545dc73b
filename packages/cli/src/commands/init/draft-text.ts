/** `cordon.json` with what the user said yes to. All that stands there already stays word for word. */
import { ok, type Result } from '@cordon/core';
import {
  type AppProposal,
  labelMembers,
  manifestMember,
  type PrintedMember,
  sourceMembers,
  withMember,
  withoutPath,
  writtenLabels,
} from '@cordon/onboarding';
import { type DraftApp, FOREIGN_SECTIONS } from './draft.ts';
import type { AppLabels } from './proposed-labels.ts';

/** What the user typed to replace examples: by app, then by variable. */
export type Answers = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** `text`: null for a new file. */
export function draftText(
  text: string | null,
  apps: readonly DraftApp[],
  proposals: readonly AppProposal[],
  labels: readonly AppLabels[],
  answers: Answers,
): Result<string, string> {
  const edits: Edit[] = apps.flatMap(({ section }, at) => {
    const proposal = proposals[at];
    return proposal?.isTaken === true ? entryEdits(proposal, section, answers.get(proposal.id)) : [];
  });
  // An entry that is left out stays where it is: nothing of the user's file is dropped.
  const isMoved = apps.every(({ isForeign }, at) => !isForeign || proposals[at]?.isTaken === true);
  if (isMoved) for (const key of FOREIGN_SECTIONS) edits.push({ kind: 'remove', path: [key] });
  for (const { app, tools, outdated } of labels) {
    for (const { tool, label } of outdated)
      edits.push({ kind: 'remove', path: ['labels', 'tools', `${app}/${tool}`, label] });
    for (const { tool, says, reasons } of tools)
      edits.push({
        kind: 'put',
        path: ['labels', 'tools'],
        member: { key: `${app}/${tool}`, value: writtenLabels(says), why: reasons.join('; ') },
      });
  }
  return edits.reduce<Result<string, string>>(
    (now, edit) => (now.ok ? applied(now.value, edit) : now),
    ok(text ?? '{}\n'),
  );
}

type Edit =
  | { readonly kind: 'put'; readonly path: readonly string[]; readonly member: PrintedMember }
  | { readonly kind: 'remove'; readonly path: readonly string[] };

function applied(text: string, edit: Edit): Result<string, string> {
  return edit.kind === 'put' ? withMember(text, edit.path, edit.member) : withoutPath(text, edit.path);
}

/** A new entry, or in one that is there already what is missing or was changed. */
function entryEdits(
  proposal: AppProposal,
  section: DraftApp['section'],
  answers: ReadonlyMap<string, string> | undefined,
): readonly Edit[] {
  const { id } = proposal;
  const source = sourceMembers(proposal, answers);
  const manifest = manifestMember(proposal);
  const labels = labelMembers(proposal).map(
    (member): Edit => ({ kind: 'put', path: ['labels', 'tools'], member }),
  );
  if (section === null)
    return [{ kind: 'put', path: ['apps'], member: { key: id, value: [...source, manifest] } }, ...labels];
  const path = [section, id];
  return [...source, manifest].map((member): Edit => ({ kind: 'put', path, member })).concat(labels);
}
