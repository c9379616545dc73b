export type { GrantFault, GrantFilter, GrantRecord, GrantRequest, Grants } from './consent/grant.ts';
export type { Logins, StoredLogin } from './consent/login.ts';
export type { Pin, PinnedBy, PinRequest, Pins, PinText } from './consent/pin.ts';
export type {
  PromptFault,
  Prompts,
  StoredAnswer,
  StoredPrompt,
  StoredQuestion,
} from './consent/prompt.ts';
export { LEAST_KEY_BYTES } from './database/chain-key.ts';
export type { BrokenRow, TellBroken } from './database/database.ts';
export { StoreFailure, type StoreFault, type StoreFaultKind } from './database/fault.ts';
export { parseStoreKey, type StoreKey } from './database/seal.ts';
export type { Breach, BreachKind, JournalHead, Signed, Verification } from './journal/chain-check.ts';
export type { EventDraft, EventListener, Journal, SessionJournal } from './journal/journal.ts';
export {
  damagedSession,
  type Loss,
  type SessionFault,
  type SessionRecord,
  type SessionStatus,
  type Sessions,
} from './journal/session.ts';
export type { Memory } from './memory/memory.ts';
export type {
  Deleted,
  ItemFault,
  ItemFilter,
  MemoryArchive,
  MemoryItem,
  OwnerOverview,
  Retention,
} from './memory/memory-archive.ts';
export type {
  FactKind,
  ItemId,
  MemoryFact,
  MemoryOwner,
  NewSummary,
  OpenTurn,
  Provenance,
  Summary,
  Turn,
  TurnRole,
} from './memory/memory-item.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
