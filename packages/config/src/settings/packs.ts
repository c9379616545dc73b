/**
 * The ready-made policies: which there are, what each stops, and which are in force unless the user says otherwise.
 *
 * See docs/policy/packs.md.
 */
export interface Pack {
  /** As `packs` in `cordon.json` names it; its file is `policies/<name>.gr`. */
  readonly name: string;
  /** One sentence, lower-case start, no full stop. */
  readonly stops: string;
  readonly isDefault: boolean;
}

/** Always in force, whatever `packs` says: it speaks of what the hub itself does. */
export const BASE_PACK: Pack = {
  name: 'default',
  stops: 'private data that leave after a context has opened text of others, and images that carry data away',
  isDefault: true,
};

/** In force unless `packs` says otherwise, and what each stops. */
const USUAL = {
  secrets: 'keys, tokens and passwords that leave, in any argument or address',
  'personal-data': 'card, account and identity numbers that reach others than the user chose',
  recipients:
    'writing to, paying, inviting or deleting somebody or something that the user did not name and that no app has on record, pages and searches that only a text of others names, and actions that the plan does not name',
  injection:
    'reads that such a text wants, after a text that gives the agent instructions; of actions after it, or after hidden text, it warns',
  links: 'links and images whose address carries data away as soon as somebody sees them',
  code: 'running code after text of others was read, and code that came from it',
  loops: 'the same action again and again, and too many actions',
  'tool-poisoning': 'tools whose description gives instructions or hides text',
};

/** In force where `packs` names them. */
const STRICTER = {
  trifecta: 'private data, text of others and a way out in one flow, whatever the model made of them',
  irreversible: 'anything that cannot be undone after any text of others',
  'injection-asks': 'any action after a text that gives the agent instructions, or hides some',
  'cross-app': 'text that one app got from others and that steers an action of another app',
};

export const PACKS: readonly Pack[] = [
  ...Object.entries(USUAL).map(([name, stops]) => ({ name, stops, isDefault: true })),
  ...Object.entries(STRICTER).map(([name, stops]) => ({ name, stops, isDefault: false })),
];

export const DEFAULT_PACKS: readonly string[] = Object.keys(USUAL);
