/** What the parts of a store are made with. */
import type { Clock } from '@cordon/core';
import type { Database } from './database.ts';
import type { RowTags } from './row-tag.ts';

export interface StoreParts {
  readonly database: Database;
  readonly tags: RowTags;
  readonly now: Clock;
  readonly randomId: () => string;
}
