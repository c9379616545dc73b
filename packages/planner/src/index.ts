import type { Planner } from '@cordon/hub';
import { rankApps } from './app-index.ts';
import { explicitPlan, likelyApp } from './explicit-plan.ts';
import { statedFacts } from './facts.ts';
import { fallbackApps } from './fallback-apps.ts';
import {
  DELEGATION_PROMPT,
  DELEGATION_SCHEMA,
  plannerPrompt,
  planSchema,
  TOOL_PROMPT,
  TOOL_SCHEMA,
} from './prompt.ts';

/** Cordon's planner, for the hub. */
export const PLANNER: Planner = {
  explicit: explicitPlan,
  likely: likelyApp,
  rank: rankApps,
  prompt: plannerPrompt,
  schema: planSchema,
  toolPrompt: TOOL_PROMPT,
  toolSchema: TOOL_SCHEMA,
  delegationPrompt: DELEGATION_PROMPT,
  delegationSchema: DELEGATION_SCHEMA,
  fallback: fallbackApps,
  stated: statedFacts,
};
