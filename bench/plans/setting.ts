/** What a user has written about the apps of a task, and what a plan says of their tools. */
import { type Model, ok, SILENT_MANIFEST, type ToolLabelEntry, type ToolPlannerAnswer } from '@cordon/core';
import { proposeLabels } from '@cordon/onboarding';
import type { ReplayApp, ReplayTool } from '../runtime/run.ts';

/** `hand`: a file that somebody wrote for the suite. `proposed`: as `cordon init` proposes them. `none`: no labels. */
type LabelSource = 'hand' | 'proposed' | 'none';

/**
 * - `manifest`: the plan names each use that the task needs, as where a manifest lists what the app can be used for.
 * - `tools`: the planner knows only the app's name; a second call of the model names tools from the reviewed description.
 * - `app`: the plan names only the app.
 */
type PlanSource = 'manifest' | 'tools' | 'app';

export const SETTING_IDS = ['written', 'hand-tools', 'hand-app', 'tools', 'app', 'pasted'] as const;
export type SettingId = (typeof SETTING_IDS)[number];

export interface Setting {
  readonly id: SettingId;
  readonly title: string;
  readonly labels: LabelSource;
  readonly plan: PlanSource;
}

export const SETTINGS: readonly Setting[] = [
  { id: 'written', title: 'manifest and labels by hand', labels: 'hand', plan: 'manifest' },
  { id: 'hand-tools', title: 'labels by hand, plan by tools', labels: 'hand', plan: 'tools' },
  { id: 'hand-app', title: 'labels by hand, plan by app', labels: 'hand', plan: 'app' },
  { id: 'tools', title: 'labels of `cordon init`, plan by tools', labels: 'proposed', plan: 'tools' },
  { id: 'app', title: 'labels of `cordon init`, plan by app', labels: 'proposed', plan: 'app' },
  { id: 'pasted', title: 'no labels, plan by tools', labels: 'none', plan: 'tools' },
];

/** The app as the setting has it; `byHand`: with the labels that somebody wrote. */
export function appIn({ labels }: Setting, byHand: ReplayApp): ReplayApp {
  switch (labels) {
    case 'hand':
      return byHand;
    case 'proposed':
      return { ...byHand, manifest: { ...byHand.manifest, labels: proposedFor(byHand.tools) } };
    case 'none':
      return { ...byHand, manifest: { ...byHand.manifest, labels: [] } };
    default:
      labels satisfies never;
      return byHand;
  }
}

/** The apps of the sets are services elsewhere. */
const ONLINE = { ...SILENT_MANIFEST, network: ['service.example'] };

function proposedFor(tools: readonly ReplayTool[]): readonly ToolLabelEntry[] {
  const described = tools.map(({ name, description, inputSchema, annotations }) => ({
    name,
    description,
    input: inputSchema,
    readOnlyHint: annotations?.readOnlyHint === true,
    destructiveHint: false,
    openWorldHint: true,
  }));
  return proposeLabels(ONLINE, described).map(({ tool, says }) => ({ app: null, tool, says }));
}

/** The same model; where the plan names only the app, it names no tools. */
export function modelIn({ plan }: Setting, model: Model): Model {
  if (plan !== 'app') return model;
  const nothing: ToolPlannerAnswer = { uses: [] };
  const usage = { inputTokens: 0, outputTokens: 0 };
  const answer = { text: JSON.stringify(nothing), calls: [], finish: 'stop', usage } as const;
  return {
    complete: async (request, options) =>
      request.role === 'tool-planner' ? ok(answer) : model.complete(request, options),
  };
}
