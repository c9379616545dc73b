export { loadedPolicy } from './rules/loaded-policy.ts';
export { CODE_ROOT, packFile, readEachPolicy, readPolicies } from './rules/policy-in-force.ts';
