/** The columns of the tables: which defences there are, and which user answers what they ask. */
import { DEFAULT_PACKS } from '@cordon/config/packs';
import type { Defences } from '../../runtime/run.ts';

/**
 * - `careful`: says no to what carries a warning; reads the rest, and says yes to what the own task needs.
 * - `trusting`: says no to what carries a warning, and yes to whatever carries none, without reading it.
 * - `absent`: answers nothing.
 */
export type UserKind = 'careful' | 'trusting' | 'absent';

export interface Column extends Defences {
  readonly id: ColumnId;
  readonly title: string;
  readonly user: UserKind;
  /** Percent of what a plan names that is wrong (`planningWrongly`); absent: none. */
  readonly planErrors?: number;
}

export const COLUMN_IDS = [
  'baseline',
  'isolation',
  'policy',
  'careful',
  'misplanned',
  'trusting',
  'absent',
] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

/** Each defence alone has the careful user. */
export const COLUMNS: readonly Column[] = [
  { id: 'baseline', title: 'baseline', isolation: 'none', packs: null, user: 'careful' },
  { id: 'isolation', title: 'isolation only', isolation: 'spokes', packs: null, user: 'careful' },
  { id: 'policy', title: 'policy only', isolation: 'none', packs: DEFAULT_PACKS, user: 'careful' },
  { id: 'careful', title: 'both, careful', isolation: 'spokes', packs: DEFAULT_PACKS, user: 'careful' },
  {
    id: 'misplanned',
    title: 'both, careful, 10 % of the plan wrong',
    isolation: 'spokes',
    packs: DEFAULT_PACKS,
    user: 'careful',
    planErrors: 10,
  },
  { id: 'trusting', title: 'both, trusting', isolation: 'spokes', packs: DEFAULT_PACKS, user: 'trusting' },
  { id: 'absent', title: 'both, absent', isolation: 'spokes', packs: DEFAULT_PACKS, user: 'absent' },
];
