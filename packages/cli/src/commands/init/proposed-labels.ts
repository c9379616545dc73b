/** Labels for the tools of apps, from what the apps say of themselves, and those that no longer hold. Starts no app. */
import type { Configuration } from '@cordon/config';
import { type AppId, isJsonObject, type Json, type ToolLabels } from '@cordon/core';
import type { AppDescription } from '@cordon/hub';
import {
  type LabelProposal,
  type OutdatedLabel,
  outdatedLabels,
  type ProposedTool,
  proposeLabels,
} from '@cordon/onboarding';
import type { CommandContext } from '../../context/command-context.ts';

export interface AppLabels {
  readonly app: string;
  /** Of tools of which no label speaks yet. */
  readonly tools: readonly LabelProposal[];
  /** To be taken back. */
  readonly outdated: readonly OutdatedLabel[];
}

/** `tree`: the file of the configuration. `descriptions`: what is known of the apps; of others nothing is proposed. */
export function proposedLabels(
  configuration: Configuration,
  tree: Json,
  descriptions: ReadonlyMap<AppId, AppDescription>,
): readonly AppLabels[] {
  return configuration.apps.flatMap(({ id, source, manifest }) => {
    if (source.kind === 'instructions') return [];
    const tools = (descriptions.get(id)?.tools ?? []).map(proposedTool);
    const hasNetwork = source.kind === 'url' || manifest.network.length > 0;
    const labels = manifest.labels ?? [];
    const isOpen = (name: string) => !labels.some(({ tool }) => tool === name);
    const proposed = proposeLabels(manifest, tools, hasNetwork).filter(
      ({ tool, reasons }) => reasons.length > 0 && isOpen(tool),
    );
    const outdated = outdatedLabels({ manifest, hasNetwork, tools }, labelsInFile(tree, id));
    return proposed.length + outdated.length === 0 ? [] : [{ app: id, tools: proposed, outdated }];
  });
}

/** What the file says of single tools of one app, by the tool's name. Patterns are left out: one is about many tools. */
function labelsInFile(tree: Json, app: string): ReadonlyMap<string, Partial<ToolLabels>> {
  const labels = isJsonObject(tree) ? tree.labels : undefined;
  const tools = isJsonObject(labels) ? labels.tools : undefined;
  if (!isJsonObject(tools)) return new Map();
  const said = Object.entries(tools).flatMap(([key, says]): [string, Partial<ToolLabels>][] => {
    const isOwn = key.startsWith(`${app}/`) && !key.includes('*');
    return isOwn && isJsonObject(says) ? [[key.slice(app.length + 1), says as Partial<ToolLabels>]] : [];
  });
  return new Map(said);
}

/** What an app says of a tool, as far as labels are proposed from it. */
export function proposedTool({
  name,
  title,
  description,
  input,
  output,
  annotations,
}: AppDescription['tools'][number]): ProposedTool {
  return {
    name,
    description: [title, description].filter((words) => words !== null).join('. '),
    input,
    ...(output === null ? {} : { output }),
    readOnlyHint: annotations?.readOnlyHint === true,
    destructiveHint: annotations?.destructiveHint === true,
    openWorldHint: annotations?.openWorldHint !== false,
  };
}

/**
 * One line for each reason, with all its tools: there are many tools, and few reasons. Attack: an app with so many tools that the
 * one that matters is not on the screen. What loosens is never cut.
 */
export function drawLabels({ output }: CommandContext, { app, tools, outdated }: AppLabels): void {
  output.line();
  output.say('', `${app}: labels for its tools`, 'bold');
  const said = tools.flatMap(({ tool, reasons }) =>
    reasons.map((reason) => ({ tool, reason: oneForAll(reason) })),
  );
  for (const [reason, named] of Map.groupBy(said, ({ reason }) => reason)) {
    const isLooser = reason.startsWith('looser');
    const list = named.map(({ tool }) => tool).join(', ');
    output.say(
      isLooser ? '  + ' : '    ',
      `${reason}: ${list}`,
      isLooser ? 'warn' : 'dim',
      isLooser ? Number.POSITIVE_INFINITY : 3,
    );
  }
  for (const { tool, label, reason } of outdated)
    output.say('  - ', `takes back ${label} of ${tool}, because ${reason}`, 'good', 2);
}

/** Of identifying arguments, which differ from tool to tool; the file names them. */
export function oneForAll(reason: string): string {
  return reason.replace(/^looser: only .* say /, 'looser: only some arguments say ');
}
