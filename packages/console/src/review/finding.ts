/** A passage in the description of an app that its reviewer should look at. */

export type FindingKind =
  | 'hidden-text' // characters that no screen shows
  | 'text-direction' // characters that reorder what is shown
  | 'look-alike' // letters of several scripts in one word
  | 'pushed-away' // blank room that moves what follows out of sight
  | 'instruction' // orders to the model, beyond what the tool does
  | 'secrecy' // something that the user should not learn
  | 'wide-request' // asks for the conversation, keys, files or anything personal
  | 'other-app' // names another app, or a tool of one
  | 'encoded' // a text that has to be decoded
  | 'address' // a link or an address
  | 'very-long'; // more than a tool needs

export interface DescriptionFinding {
  readonly kind: FindingKind;
  /** Null: the instructions. */
  readonly tool: string | null;
  /** `instructions`, or the tool and the way to the text: `send: input.properties.to.description`. */
  readonly where: string;
  /** In UTF-16 units of that text, the end exclusive. */
  readonly range: { readonly start: number; readonly end: number };
  /** What stands there, or what it says when decoded; shortened. */
  readonly excerpt: string;
}
