/**
 * Labels that a user may want for the tools of an app, each with the reason for it: from the manifest, from what the app
 * says of its tools, from their names and arguments. The app is not to be trusted, so nothing here takes effect: it is
 * shown, and the user says yes.
 *
 * See docs/policy/labels.md.
 */
import {
  afterSharedWord,
  type JsonSchema,
  type Manifest,
  readingVerb,
  readsAndActs,
  saysThatItChanges,
  type ToolLabels,
} from '@cordon/core';
import { argumentNames, isWritable, removalOf } from './tool-words.ts';
import { undoBy } from './undo.ts';

/** What is read of a tool's description. */
export interface ProposedTool {
  readonly name: string;
  /** It can take a label away, and adds none. */
  readonly description: string;
  readonly input: JsonSchema;
  /** Absent: the app does not say what it returns. */
  readonly output?: JsonSchema;
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

/** Names of arguments that say whom or what a call acts upon. */
const IDENTIFIES =
  /^(?:to|cc|bcc|from_account|recipients?|receiver|payee|participants?|attendees?|members?|users?|user_?names?|e?_?mails?|addresse?s?|phones?|numbers?|account|iban|ur[il]s?|links?|hosts?|domains?|endpoint|paths?|files?|file_?names?|folders?|director(?:y|ies)|channels?|rooms?|repos?|repositor(?:y|ies)|branch|owners?|tables?|database|passwords?|keys?|names?|id_?s?|.*_(?:id|ids|email|emails|url|uri|path|account|address|user|channel|to))$/i;

const PLACES = /^(?:ur[il]s?|links?|hosts?|domains?|endpoint|.*_(?:url|uri))$/i;

/**
 * One for each tool, in their order. `tools`: all tools of the app, because what one does can depend on what another undoes.
 * `hasNetwork`: an app on another machine has one that no manifest lists.
 */
export function proposeLabels(
  manifest: Manifest,
  tools: readonly ProposedTool[],
  hasNetwork = manifest.network.length > 0,
): readonly LabelProposal[] {
  return tools.map((tool) => proposalFor({ manifest, tools, hasNetwork }, tool));
}

interface ProposedApp {
  readonly manifest: Manifest;
  readonly tools: readonly ProposedTool[];
  readonly hasNetwork: boolean;
}

/** Labels with the reason for each. */
interface Said {
  readonly says: Partial<ToolLabels>;
  readonly reasons: readonly string[];
}

const SILENCE: Said = { says: {}, reasons: [] };

function proposalFor(app: ProposedApp, tool: ProposedTool): LabelProposal {
  const all = [effectLabels(app, tool), identifyingLabel(tool), ...outputLabels(app.manifest, tool)];
  return {
    tool: tool.name,
    says: Object.assign({}, ...all.map(({ says }) => says)),
    reasons: all.flatMap(({ reasons }) => reasons),
  };
}

/** What it changes, and whether that can be undone. */
function effectLabels(app: ProposedApp, tool: ProposedTool): Said {
  if (tool.destructiveHint)
    return { says: { irreversible: true }, reasons: ['irreversible: the app says that it destroys'] };
  if (app.manifest.irreversible?.includes(tool.name) === true) return SILENCE;
  const readOnly = readOnlyReason(app, tool);
  if (readOnly !== null) {
    const { says, reasons } = readerReaches(app, tool);
    return {
      says: { readOnly: true, ...says },
      reasons: [`looser: readOnly, because ${readOnly}`, ...reasons],
    };
  }
  const removal = removalOf(tool, app.tools);
  if (removal === null) return SILENCE;
  const { remover, tells } = removal;
  if (tells.length > 0) return tellingLabel(tells, remover.name);
  const { says, reasons } = adderReaches(app);
  const undo = undoBy(remover, tool);
  return {
    says: { irreversible: false, ...says, ...(undo === null ? {} : { undo }) },
    reasons: [
      `looser: can be undone, because it only adds what \`${remover.name}\` removes`,
      ...reasons,
      ...(undo === null ? [] : [`/undo calls \`${remover.name}\`, after a question`]),
    ],
  };
}

function tellingLabel(tells: readonly string[], remover: string): Said {
  if (!tells.every(isWritable)) return SILENCE;
  const why = `it only adds what \`${remover}\` removes, and tells those in ${tells.join(', ')}`;
  return { says: { tells }, reasons: [`looser: no question if you name everybody it tells, because ${why}`] };
}

/** Null: nothing says that it changes nothing. */
function readOnlyReason({ tools }: ProposedApp, tool: ProposedTool): string | null {
  if (tool.readOnlyHint) return 'the app says so';
  if (saysThatItChanges(tool.description)) return null;
  const verb = readingVerb(tool.name);
  const name = verb === null ? afterSharedWord(tool.name, tools) : tool.name;
  if (readsAndActs(name)) return null;
  if (verb !== null) return `its name begins with \`${verb}\``;
  const inner = readingVerb(name);
  return inner === null ? null : `its name, after what all names share, begins with \`${inner}\``;
}

function readerReaches({ hasNetwork }: ProposedApp, tool: ProposedTool): Said {
  const place = placeReason(tool.input);
  if (place !== null) return { says: {}, reasons: [`outward: ${place}`] };
  if (tool.openWorldHint && hasNetwork) return SILENCE;
  const why = hasNetwork ? 'the app says that it stays here' : 'the app has no network';
  return { says: { outward: false }, reasons: [`looser: not outward, because ${why}`] };
}

/** What can be undone is not outward unless a label says so, and a service elsewhere is. */
function adderReaches({ hasNetwork }: ProposedApp): Said {
  return hasNetwork
    ? { says: { outward: true }, reasons: ['outward: the app has a network'] }
    : { says: { outward: false }, reasons: ['looser: not outward, because the app has no network'] };
}

function identifyingLabel({ input }: ProposedTool): Said {
  const names = argumentNames(input);
  const identifying = names.filter((name) => IDENTIFIES.test(name));
  if (identifying.length === 0 || identifying.length === names.length) return SILENCE;
  if (!identifying.every(isWritable)) return SILENCE;
  const reason = `looser: only ${identifying.join(', ')} say whom or what it acts upon, by their names`;
  return { says: { identifying }, reasons: [reason] };
}

function outputLabels(manifest: Manifest, { name }: ProposedTool): readonly Said[] {
  return (['untrusted', 'private'] as const).map((label) =>
    manifest[label]?.includes(name) === false
      ? {
          says: { [label]: false },
          reasons: [`looser: not ${label}, because the manifest lists the tools that are`],
        }
      : SILENCE,
  );
}

/** Which argument says whom a call asks, in words; null: none does. */
export function placeReason(input: JsonSchema): string | null {
  const places = argumentNames(input).filter((name) => PLACES.test(name));
  if (places.length === 0) return null;
  const place = places.find(isWritable);
  return `${place === undefined ? 'an argument' : `the argument \`${place}\``} says where to ask`;
}
