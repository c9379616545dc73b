/**
 * Labels that once held and do not any more. A label says nothing of why it was given, so only what contradicts it counts: a
 * user may know more of a tool than its description says.
 */
import type { Manifest, ToolLabels } from '@cordon/core';
import { type ProposedTool, placeReason } from './labels.ts';

export interface OutdatedLabel {
  readonly tool: string;
  readonly label: keyof ToolLabels;
  readonly reason: string;
}

export interface LabelledApp {
  readonly manifest: Manifest;
  readonly hasNetwork: boolean;
  /** As reviewed; empty: the app was not reviewed yet. */
  readonly tools: readonly ProposedTool[];
}

/** `labels`: what the file says, by the tool's name. */
export function outdatedLabels(
  app: LabelledApp,
  labels: ReadonlyMap<string, Partial<ToolLabels>>,
): readonly OutdatedLabel[] {
  return [...labels].flatMap(([tool, says]) => {
    const described = app.tools.find(({ name }) => name === tool) ?? null;
    const found: readonly (readonly [keyof ToolLabels, string | null])[] = [
      ['readOnly', says.readOnly === true ? destroys(app.manifest, tool, described) : null],
      ['irreversible', says.irreversible === false ? destroys(app.manifest, tool, described) : null],
      ['tells', says.tells === undefined ? null : destroys(app.manifest, tool, described)],
      ['outward', says.outward === false ? leaves(app, described) : null],
      ['untrusted', says.untrusted === false ? listed(app.manifest.untrusted, tool, 'untrusted') : null],
      ['private', says.private === false ? listed(app.manifest.private, tool, 'private') : null],
    ];
    return found.flatMap(([label, reason]) => (reason === null ? [] : [{ tool, label, reason }]));
  });
}

function destroys(manifest: Manifest, tool: string, described: ProposedTool | null): string | null {
  if (described?.destructiveHint === true) return 'the app says that it destroys';
  return listed(manifest.irreversible, tool, 'irreversible');
}

/** Attack: a host is added to an app, and a tool that was labelled as staying here sends out what it gets. */
function leaves({ hasNetwork }: LabelledApp, described: ProposedTool | null): string | null {
  if (!hasNetwork) return null;
  const place = described === null ? null : placeReason(described.input);
  if (place !== null) return place;
  return described?.openWorldHint === false ? null : 'the app has a network now';
}

function listed(tools: readonly string[] | null, tool: string, key: string): string | null {
  return tools?.includes(tool) === true ? `the manifest lists it as ${key}` : null;
}
