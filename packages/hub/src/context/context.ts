/**
 * One LLM context as the hub sees it: who it belongs to, what has been released to it, and what it may name.
 * Contexts never share any of this; an ephemeral id or a reference of one means nothing in another.
 */
import {
  type AppId,
  type ContextId,
  type ContextKind,
  type EphemeralId,
  type EventId,
  type Functionality,
  HUB_LABEL,
  joinLabels,
  type Label,
} from '@cordon/core';
import type { AppTool } from './app-tool.ts';
import { References } from './references.ts';

/** What stands behind an ephemeral id. */
export interface Peer {
  readonly app: AppId;
  readonly functionality: Functionality;
}

/** What stands behind the name of an own tool: in the shared baseline context the tools of several apps. */
export interface OwnTool {
  readonly app: AppId;
  readonly tool: AppTool;
}

/** What a session is asked to make a context of. */
export interface ContextOptions {
  readonly kind: ContextKind;
  readonly app: AppId | null;
  /** Whose model it has, as the user's configuration says; absent: its app's. */
  readonly modelOf?: AppId;
  /** `provider/model` that it has whatever its app's is. */
  readonly model?: string;
  readonly depth?: number;
  readonly tools?: ReadonlyMap<string, OwnTool>;
  /** The event that its first one carries on. */
  readonly begins?: EventId;
}

/** What a context is made of. */
interface NewContext extends Omit<ContextOptions, 'modelOf'> {
  readonly id: ContextId;
  /** `provider/model` */
  readonly model: string;
}

export class Context {
  readonly id: ContextId;
  readonly kind: ContextKind;
  /** The app whose instructions and tools this context has; null: none, or (shared) several. */
  readonly app: AppId | null;
  readonly model: string;
  /** How many exchanges led to this context. */
  readonly depth: number;
  readonly tools: ReadonlyMap<string, OwnTool>;
  readonly peers = new Map<EphemeralId, Peer>();
  readonly references = new References();
  /** How often it has had a text read. */
  reads = 0;
  #label: Label = HUB_LABEL;
  readonly #origins = new Set<AppId>();
  #recallsPrivate = false;
  #hasOpened = false;
  #knowsOthersValues = false;
  #last: EventId | null;

  constructor({ id, kind, app, model, depth = 0, tools = new Map(), begins }: NewContext) {
    this.id = id;
    this.kind = kind;
    this.app = app;
    this.model = model;
    this.depth = depth;
    this.tools = tools;
    this.#last = begins ?? null;
  }

  /** What the next event of this context carries on. */
  get causes(): readonly EventId[] {
    return this.#last === null ? [] : [this.#last];
  }

  /** The newest event of this context; null: it has none yet. */
  get last(): EventId | null {
    return this.#last;
  }

  /** Called where an event that rules see gets its place in the journal, or is found to have it. */
  advanceTo(event: EventId): void {
    this.#last = event;
  }

  /** The join of everything that this context has seen: what it says can be no better. */
  get label(): Label {
    return this.#label;
  }

  /** Apps whose private words this context has seen. */
  get origins(): ReadonlySet<AppId> {
    return this.#origins;
  }

  get isTainted(): boolean {
    return this.#label.integrity === 'untrusted';
  }

  /** Whether its history holds private words, of whatever apps: the history does not say of which. */
  get recallsPrivate(): boolean {
    return this.#recallsPrivate;
  }

  /** Whether it has read text of another app that it held as a reference: from then on no plan vouches for it. */
  get hasOpened(): boolean {
    return this.#hasOpened;
  }

  /**
   * Whether closed values stand in it that others may have chosen. They instruct nobody, and taint nothing; but one of
   * them may be the account that an attacker wants to be paid to.
   */
  get knowsOthersValues(): boolean {
    return this.#knowsOthersValues;
  }

  /** Closed values become visible, out of something with this label. */
  learns({ integrity, confidentiality }: Label, origins: readonly AppId[]): void {
    for (const origin of origins) this.sees({ integrity: 'trusted', confidentiality }, origin);
    if (integrity === 'untrusted') this.learnsOthersValues();
  }

  learnsOthersValues(): void {
    this.#knowsOthersValues = true;
  }

  /** An earlier turn of the same owner becomes visible again: what tainted it then taints it still. */
  recalls(label: Label, holdsOthersValues: boolean): void {
    this.sees(label, this.app);
    if (holdsOthersValues) this.learnsOthersValues();
    this.#recallsPrivate ||= label.confidentiality === 'private';
  }

  /** The text behind a reference becomes visible. */
  opens(label: Label, origin: AppId): void {
    this.sees(label, origin);
    this.#hasOpened = true;
  }

  /** Upholds INVARIANT (labels only rise): called for everything that becomes visible here. */
  sees(label: Label, origin: AppId | null): void {
    this.#label = joinLabels(this.#label, label);
    if (origin !== null && label.confidentiality === 'private') this.#origins.add(origin);
  }
}
