/**
 * What stands beside Cordon: policy engines and guards of others, each asked before every call of a trace. What they
 * are asked with is the same for all: the labelled events of the trace up to the call.
 */
import type { ToolCallEvent, TraceEvent } from '@cordon/policy';

/** The rules of the paper's section 4.2, as `examples/policy/paper` has them. */
export const PAPER_RULES = ['link-preview', 'leaked-secret', 'pickled-model', 'mail-after-pii'] as const;

/** What the packs are about, cut down to what can be said in one rule. */
export const IDEAS = [
  'write-after-output',
  'unnamed-recipient',
  'kept-recipient',
  'instructions',
  'contents',
] as const;

export type PaperRule = (typeof PAPER_RULES)[number];
export type Idea = (typeof IDEAS)[number];
export type PeerRule = PaperRule | Idea;

/** What the rule says, in words that hold for all. */
export const IDEA_TEXTS: Readonly<Record<Idea, string>> = {
  'write-after-output': 'any write after any output of a tool',
  'unnamed-recipient': 'a write whose identifying argument the user did not type',
  'kept-recipient': 'the same, but what is the whole field of a record is known',
  instructions: 'any write after an output that gives the agent instructions',
  contents: 'keys, account, card and identity numbers in what is sent, but for its identifying arguments',
};

/** Who knows what a rule needs. */
export type Saying =
  /** The policy says it all, out of what the library hands to it. */
  | { readonly kind: 'policy' }
  /** The policy decides, but the program around it has to keep a fact of the history for it. */
  | { readonly kind: 'host'; readonly keeps: string }
  /** It cannot be said: what is missing. */
  | { readonly kind: 'none'; readonly missing: string };

export interface Peer {
  /** Of the keys of records. */
  readonly id: string;
  /** With its version, as it stands in tables. */
  readonly name: string;
  readonly says: Readonly<Record<PeerRule, Saying>>;
  /** Null: it is not installed. */
  load(): Promise<PeerEngine | null>;
}

export interface PeerEngine {
  /** A judge that has seen nothing. Only for what the peer can say. */
  open(rule: PeerRule): Judge | Promise<Judge>;
  /** Whether the time of one decision says something about the peer as it would be used. */
  readonly isAsDeployed: boolean;
}

/** Watches one trace. */
export interface Judge {
  /** It has happened. */
  hear(event: TraceEvent): void;
  /** Whether the call, which is next, is denied or asked about. What it asks for is answered out of what was heard so far. */
  stops(call: ToolCallEvent): boolean | Promise<boolean>;
}
