/**
 * The installed apps and what they serve. The manifest is vetted; what an app says of itself is not, and stays out
 * of every context but its own.
 */
import {
  type AppId,
  type Fault,
  type Functionality,
  type FunctionalityName,
  failed,
  fault,
  type InstalledApp,
  id,
  isJsonObject,
  type JsonSchema,
  type Manifest,
  NAME_PATTERN,
  ok,
  type Result,
  saidOfTool,
  strangersSchema,
  type ToolCall,
  UNKNOWN_TOOL,
  withoutProse,
} from '@cordon/core';
import type { AppTool } from '../context/app-tool.ts';

export class Registry {
  readonly #apps: Map<AppId, InstalledApp>;

  constructor(apps: readonly InstalledApp[]) {
    this.#apps = new Map(apps.map((app) => [app.id, app]));
  }

  get apps(): readonly InstalledApp[] {
    return [...this.#apps.values()];
  }

  get(app: AppId): InstalledApp | undefined {
    return this.#apps.get(app);
  }

  /** The app, or the fault that says that it is not there. */
  installed(app: AppId): Result<InstalledApp, Fault> {
    const found = this.#apps.get(app);
    return found === undefined ? failed(fault('app-unavailable', `\`${app}\` is not installed`)) : ok(found);
  }

  /** Installed while the session runs. */
  add(app: InstalledApp): void {
    this.#apps.set(app.id, app);
  }

  /** Not installed any more, as far as this session goes. */
  remove(app: AppId): void {
    this.#apps.delete(app);
  }

  /** The apps that serve a functionality, in the order of the configuration. */
  serving(
    functionality: string,
  ): readonly { readonly app: InstalledApp; readonly functionality: Functionality }[] {
    return this.apps.flatMap((app) => {
      const found = app.manifest.functionalities.find((candidate) => candidate.name === functionality);
      return found === undefined ? [] : [{ app, functionality: found }];
    });
  }
}

/**
 * INVARIANT (silence is strict): a tool counts as undoable only where the user's own files or, failing these, the app
 * says so. An app may make us stricter than the user's files, never laxer; of two files the stricter counts.
 */
export function isIrreversible(manifest: Manifest, tool: AppTool): boolean {
  const said = saidOfTool(manifest.labels ?? [], tool.name, null);
  // Of two labels that disagree, such as one of a pattern and one of a name, the stricter counts.
  const labelled =
    said.tells !== undefined ? true : (said.irreversible ?? (said.readOnly === true ? false : null));
  if (manifest.irreversible === null)
    return labelled === null ? !tool.readOnlyHint : labelled || tool.destructiveHint;
  return manifest.irreversible.includes(tool.name) || labelled === true || tool.destructiveHint;
}

/**
 * The arguments that say whom a tool tells of what it does, where the user's files say that it can be undone but for that. Null:
 * nobody says so, or a label, the manifest or the app says that it cannot be undone.
 */
export function toldBy(manifest: Manifest, tool: AppTool): readonly string[] | null {
  const { tells, irreversible } = saidOfTool(manifest.labels ?? [], tool.name, null);
  const isListed = manifest.irreversible?.includes(tool.name) === true;
  const isLasting = irreversible === true || tool.destructiveHint || isListed;
  return isLasting || tells === undefined || tells.length === 0 ? null : tells;
}

/**
 * Whether a tool counts as one that cannot be undone only because nobody speaks of it, while its words say that it looks. Attack: an app's
 * words are false. So each call is a question all the same.
 */
export function isUnspokenLook(manifest: Manifest, tool: AppTool): boolean {
  const { irreversible, tells, readOnly, undo } = saidOfTool(manifest.labels ?? [], tool.name, null);
  const isSaid = [irreversible, tells, readOnly, undo].some((label) => label !== undefined);
  return manifest.irreversible === null && !isSaid && !tool.destructiveHint && tool.looksByWords;
}

/** The labels of a call, for rules. Where no label says so, a call reaches others if it cannot be undone. */
export function calledLabels(manifest: Manifest, tool: AppTool): NonNullable<ToolCall['labels']> {
  const said = saidOfTool(manifest.labels ?? [], tool.name, null);
  const outward = said.outward ?? isIrreversible(manifest, tool);
  const mayLeave = said.outward ?? UNKNOWN_TOOL.outward;
  return {
    readOnly: said.readOnly === true && !tool.destructiveHint,
    outward,
    identifying: said.identifying ?? UNKNOWN_TOOL.identifying,
    ...(mayLeave === outward ? {} : { mayLeave }),
  };
}

/**
 * Whether it may be begun with before a plan names it. Else its provider would hear a query that may not be for it, or its
 * server that somebody asks.
 */
export function maySpeculateFor({ model, source }: InstalledApp): boolean {
  return model === null && source.kind !== 'url';
}

/** Whether an app may reach anybody: it runs elsewhere, or its manifest opens a way out. */
export function mayConnect({ manifest, source }: InstalledApp): boolean {
  const { network, credentials, unixSockets } = manifest;
  return source.kind === 'url' || network.length > 0 || credentials.length > 0 || unixSockets === true;
}

/** The names under which a plan may have expected this tool. */
export function usesOf(manifest: Manifest, tool: string): readonly string[] {
  return [tool, ...manifest.functionalities.filter((served) => served.tool === tool).map(({ name }) => name)];
}

/**
 * What an app serves to a context that the plan lets use it: the functionalities of its manifest, or where there are
 * none, one for each tool. The app's words are taken out of the schemas: they may not reach another context.
 */
export function servedBy(app: InstalledApp, tools: readonly AppTool[]): readonly Functionality[] {
  if (app.manifest.functionalities.length > 0) return app.manifest.functionalities;
  if (app.source.kind === 'instructions') return [CONSULTATION];
  return tools.filter((tool) => NAME_PATTERN.test(tool.name)).map(toolFunctionality);
}

/** An answer in words. */
export const TEXT_RESPONSE: JsonSchema = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
};

/** What an app without tools can do for others: answer a question by its own instructions. */
const CONSULTATION: Functionality = {
  name: id('consult'),
  description: 'answer a question',
  request: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
  response: TEXT_RESPONSE,
  tool: null,
};

function toolFunctionality(tool: AppTool): Functionality {
  const name: FunctionalityName = id(tool.name);
  return {
    name,
    description: `the tool \`${tool.name}\``,
    request: strangersSchema(tool.input),
    response: tool.output === null ? TEXT_RESPONSE : strangersSchema(tool.output),
    tool: tool.name,
  };
}

/** The schema as another app's context may see it. */
export function plainSchema(schema: JsonSchema): JsonSchema {
  const plain = withoutProse(schema);
  return isJsonObject(plain) ? plain : { type: 'object' };
}
