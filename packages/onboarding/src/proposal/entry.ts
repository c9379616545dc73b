/** A proposal as members of `cordon.json`. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: values name placeholders as the file writes them
import type { PrintedMember } from '../writing/json-print.ts';
import type { AppProposal } from './propose.ts';
import { writtenLabels } from './undo.ts';

/** How the app is started. `answers`: what the user typed to replace examples, by variable. */
export function sourceMembers(
  { source }: AppProposal,
  answers: ReadonlyMap<string, string> = new Map(),
): readonly PrintedMember[] {
  if (source === null) return [];
  const texts = (key: string, values: Readonly<Record<string, string>>): readonly PrintedMember[] => {
    const given = Object.entries(values).map(([name, value]) => [name, answers.get(name) ?? value]);
    return given.length === 0 ? [] : [{ key, value: Object.fromEntries(given) }];
  };
  if (source.kind === 'url') return [{ key: 'url', value: source.url }, ...texts('headers', source.headers)];
  return [
    { key: 'command', value: source.command },
    ...(source.args.length === 0 ? [] : [{ key: 'args', value: [...source.args] }]),
    ...(source.cwd === null ? [] : [{ key: 'cwd', value: source.cwd }]),
    ...texts('env', source.env),
  ];
}

/** What the app may do, each with its reason above it. */
export function manifestMember({ description, grants, state }: AppProposal): PrintedMember {
  const of = (kind: AppProposal['grants'][number]['kind']) => grants.filter((grant) => grant.kind === kind);
  const [read, write, network] = [of('read'), of('write'), of('network')];
  const reasons = (all: AppProposal['grants'], more: string | null = null) =>
    [...new Set([...(more === null ? [] : [more]), ...all.map(({ reason }) => reason)])].join('; ');
  const files: PrintedMember[] = [];
  if (read.length > 0) files.push({ key: 'read', value: read.map(({ value }) => value), why: reasons(read) });
  if (write.length > 0 || state !== null)
    files.push({
      key: 'write',
      value: [...(state === null ? [] : ['${state}']), ...write.map(({ value }) => value)],
      why: reasons(write, state),
    });
  return {
    key: 'manifest',
    value: [
      { key: 'description', value: description },
      ...(files.length === 0 ? [] : [{ key: 'files', value: files }]),
      ...(network.length === 0
        ? []
        : [{ key: 'network', value: network.map(({ value }) => value), why: reasons(network) }]),
    ],
  };
}

/** Labels by `app/tool`, with what says them. */
export function labelMembers({ id, labels }: AppProposal): readonly PrintedMember[] {
  return labels.flatMap(({ says, tools, reasons }) =>
    tools.map((tool, at) => ({
      key: `${id}/${tool}`,
      value: writtenLabels(says),
      why: at === 0 ? reasons.join('; ') : undefined,
    })),
  );
}
