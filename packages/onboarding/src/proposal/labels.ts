/**
 * Labels that a user may want for the tools of an app, each with the reason for it: from the manifest, from what the app
 * says of its tools, from their names and arguments. The app is not to be trusted, so nothing here takes effect: it is
 * shown, and the user says yes.
 *
 * See docs/policy/labels.md.
 */
import { isJsonObject, type JsonSchema, type Manifest, type ToolLabels } from '@cordon/core';

/** What is read of a tool's description. */
export interface ProposedTool {
  readonly name: string;
  readonly input: JsonSchema;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly openWorldHint: boolean;
}

export interface LabelProposal {
  readonly tool: string;
  readonly says: Partial<ToolLabels>;
  /** One for each label, in words; what loosens begins with `looser`. */
  readonly reasons: readonly string[];
}

const READS =
  /^(?:get|list|read|search|find|show|fetch|query|lookup|describe|count|check|view)(?:[_.\-/A-Z]|$)/;

/** Names of arguments that say whom or what a call acts upon. */
const IDENTIFIES =
  /^(?:to|cc|bcc|from_account|recipients?|receiver|payee|participants?|attendees?|members?|users?|user_?names?|e?_?mails?|addresse?s?|phones?|numbers?|account|iban|ur[il]s?|links?|hosts?|domains?|endpoint|paths?|files?|file_?names?|folders?|director(?:y|ies)|channels?|rooms?|repos?|repositor(?:y|ies)|branch|owners?|tables?|database|passwords?|keys?|names?|id_?s?|.*_(?:id|ids|email|emails|url|uri|path|account|address|user|channel|to))$/i;

const PLACES = /^(?:ur[il]s?|links?|hosts?|domains?|endpoint|.*_(?:url|uri))$/i;

/** One for each tool, in their order. `hasNetwork`: an app on another machine has one that no manifest lists. */
export function proposeLabels(
  manifest: Manifest,
  tools: readonly ProposedTool[],
  hasNetwork = manifest.network.length > 0,
): readonly LabelProposal[] {
  return tools.map((tool) => proposalFor(manifest, tool, hasNetwork));
}

function proposalFor(manifest: Manifest, tool: ProposedTool, hasNetwork: boolean): LabelProposal {
  const reasons: string[] = [];
  const says: { -readonly [Label in keyof ToolLabels]?: ToolLabels[Label] } = {};
  const names = argumentNames(tool.input);
  const identifying = names.filter((name) => IDENTIFIES.test(name));
  const readOnly = readOnlyReason(manifest, tool);
  if (tool.destructiveHint) {
    says.irreversible = true;
    reasons.push('irreversible: the app says that it destroys');
  } else if (readOnly !== null) {
    says.readOnly = true;
    reasons.push(`looser: readOnly, because ${readOnly}`);
    const place = placeArgument(tool.input);
    if (place !== null) reasons.push(`outward: the argument \`${place}\` says where to ask`);
    else if (!tool.openWorldHint || !hasNetwork) {
      says.outward = false;
      const why = hasNetwork ? 'the app says that it stays here' : 'the app has no network';
      reasons.push(`looser: not outward, because ${why}`);
    }
  }
  if (identifying.length > 0 && identifying.length < names.length) {
    says.identifying = identifying;
    reasons.push(`looser: only ${identifying.join(', ')} say whom or what it acts upon, by their names`);
  }
  for (const label of ['untrusted', 'private'] as const) {
    const listed = manifest[label];
    if (listed === null || listed.includes(tool.name)) continue;
    says[label] = false;
    reasons.push(`looser: not ${label}, because the manifest lists the tools that are`);
  }
  return { tool: tool.name, says, reasons };
}

/** Null: nothing says that it changes nothing. */
function readOnlyReason({ irreversible }: Manifest, tool: ProposedTool): string | null {
  if (irreversible?.includes(tool.name) === true) return null;
  if (tool.readOnlyHint) return 'the app says so';
  const verb = READS.exec(tool.name)?.[0];
  return verb === undefined ? null : `its name begins with \`${verb.replace(/[^a-z]+$/i, '')}\``;
}

/** The argument that says whom a call asks; null: none does. */
export function placeArgument(input: JsonSchema): string | null {
  return argumentNames(input).find((name) => PLACES.test(name)) ?? null;
}

function argumentNames(schema: JsonSchema): readonly string[] {
  const { properties } = schema;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
