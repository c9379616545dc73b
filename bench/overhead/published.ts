/**
 * What IsolateGPT published of its overhead, to stand beside ours. Wall times of GPT-4 (0613) in 2024, cold, with all
 * permissions granted.
 *
 * Source: IsolateGPT (NDSS 2025), table IV, section VII, figure 9.
 */

export interface PublishedRow {
  readonly what: string;
  readonly queries: number;
  /** Seconds. */
  readonly vanilla: number;
  readonly isolated: number;
}

export const TABLE_IV: readonly PublishedRow[] = [
  { what: 'single app', queries: 20, vanilla: 32.013, isolated: 39.21 },
  { what: 'multiple apps', queries: 20, vanilla: 30.292, isolated: 65.304 },
  { what: 'multiple apps that collaborate', queries: 21, vanilla: 24.728, isolated: 49.256 },
  { what: 'no apps', queries: 42, vanilla: 19.502, isolated: 21.422 },
];

/** Of the ratio of times, over all queries. */
export const PERCENTILES = { under30: 0.7573, p90: 1.24, p95: 1.8 } as const;
export const COST = 1.85;
