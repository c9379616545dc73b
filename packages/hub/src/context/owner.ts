/** Whose conversation a context continues: nothing of one owner's turns is shown to another's contexts. */
import type { AppId } from '@cordon/core';
import type { MemoryOwner } from '@cordon/trace';

/** Whose turns these are: an app's context, the contexts without app, or the baseline's one shared context. */
export type ContextOwner = Exclude<MemoryOwner, { kind: 'system' }>;

/** The owner of what an app hears; null: of what no app does. */
export function ownerOf(app: AppId | null): ContextOwner {
  return app === null ? { kind: 'vanilla' } : { kind: 'spoke', app };
}

/** The app whose owner this is; null: it is no app's. */
export function appOf(owner: MemoryOwner): AppId | null {
  return owner.kind === 'spoke' ? owner.app : null;
}
