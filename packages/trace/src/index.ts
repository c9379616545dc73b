export type { Breach, BreachKind, JournalHead, Signed, Verification } from './chain-check.ts';
export { LEAST_KEY_BYTES } from './chain-key.ts';
export type { BrokenRow, TellBroken } from './database.ts';
export { StoreFailure, type StoreFault, type StoreFaultKind } from './fault.ts';
export type { GrantFault, GrantFilter, GrantRecord, GrantRequest, Grants } from './grant.ts';
export type { EventDraft, EventListener, Journal, SessionJournal } from './journal.ts';
export type {
  FactKind,
  ItemId,
  Memory,
  MemoryFact,
  MemoryOwner,
  NewSummary,
  OpenTurn,
  Provenance,
  Summary,
  Turn,
  TurnRole,
} from './memory.ts';
export type {
  Deleted,
  ItemFault,
  ItemFilter,
  MemoryArchive,
  MemoryItem,
  OwnerOverview,
  Retention,
} from './memory-archive.ts';
export type { Pin, PinnedBy, PinRequest, Pins, PinText } from './pin.ts';
export type {
  PromptFault,
  Prompts,
  StoredAnswer,
  StoredPrompt,
  StoredQuestion,
} from './prompt.ts';
export { parseStoreKey, type StoreKey } from './seal.ts';
export {
  damagedSession,
  type Loss,
  type SessionFault,
  type SessionRecord,
  type SessionStatus,
  type Sessions,
} from './session.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
