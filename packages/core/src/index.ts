/**
 * All of the package but `json/quoted`: other packages import from here.
 *
 * Ring 0.
 */
export type * from './event/decision.ts';
export type * from './event/event.ts';
export * from './event/permission.ts';
export * from './event/plan.ts';
export type * from './event/proposal.ts';
export * from './json/canonical-json.ts';
export * from './json/closed-schema.ts';
export * from './json/json.ts';
export * from './json/named-argument.ts';
export * from './json/schema.ts';
export * from './json/settled-json.ts';
export * from './manifest/limits.ts';
export * from './manifest/manifest.ts';
export * from './manifest/tool-label.ts';
export * from './model/agent.ts';
export type * from './model/model.ts';
export type * from './model/provider-config.ts';
export * from './model/question.ts';
export type * from './values/clock.ts';
export * from './values/data-kind.ts';
export type * from './values/diagnostic.ts';
export * from './values/fault.ts';
export * from './values/id.ts';
export * from './values/label.ts';
export * from './values/result.ts';
export * from './values/visible-text.ts';
