/**
 * The ready-made policies: which there are, what each stops, and which are in force unless the user says otherwise.
 *
 * Ring 0; docs/policy/packs.md.
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

export const PACKS: readonly Pack[] = [
  {
    name: 'secrets',
    stops: 'keys, tokens and passwords that leave, in any argument or address',
    isDefault: true,
  },
  {
    name: 'personal-data',
    stops: 'card, account and identity numbers that reach others than the user chose',
    isDefault: true,
  },
  {
    name: 'recipients',
    stops:
      'writing to, paying, inviting or deleting somebody or something that the user did not name and that no app has on record',
    isDefault: true,
  },
  {
    name: 'injection',
    stops: 'actions after a text that gives the agent instructions, or hides some',
    isDefault: true,
  },
  {
    name: 'links',
    stops: 'links and images whose address carries data away as soon as somebody sees them',
    isDefault: true,
  },
  {
    name: 'code',
    stops: 'running code after text of others was read, and code that came from it',
    isDefault: true,
  },
  {
    name: 'loops',
    stops: 'the same action again and again, and too many actions',
    isDefault: true,
  },
  {
    name: 'tool-poisoning',
    stops: 'tools whose description gives instructions or hides text',
    isDefault: true,
  },
  {
    name: 'trifecta',
    stops: 'private data, text of others and a way out in one flow, whatever the model made of them',
    isDefault: false,
  },
  {
    name: 'irreversible',
    stops: 'anything that cannot be undone after any text of others',
    isDefault: false,
  },
  {
    name: 'cross-app',
    stops: 'text that one app got from others and that steers an action of another app',
    isDefault: false,
  },
];

export const DEFAULT_PACKS: readonly string[] = PACKS.filter(({ isDefault }) => isDefault).map(
  ({ name }) => name,
);
