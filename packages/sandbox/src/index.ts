export { type AppCommand, type CommandContext, commandSpec, scriptAt } from './command/command.ts';
export {
  findInstalled,
  PACKAGE_INSIDE,
  packagesFolder,
  recordFile,
  treeFolder,
} from './command/installed.ts';
export { makeFolder } from './command/make-folder.ts';
export {
  type Ecosystem,
  type PackageCall,
  parsePackageLauncher,
  requestOf,
  type WantedPackage,
} from './command/package-launcher.ts';
export { digestTree, TREE_LIMITS, type TreeDigest } from './command/tree-digest.ts';
export { withCompiledCode } from './compiled-code.ts';
export type { Profile } from './kernel/seccomp.ts';
export { APP_USER, openSandbox, RefusingSandbox, type SandboxOptions } from './spawn.ts';
export type {
  ConfinedProcess,
  DirectListeners,
  ExceededLimit,
  Excess,
  Exit,
  LayerReport,
  ProbeReport,
  Sandbox,
} from './spec/backend.ts';
export { CheckedPath, checkPath, type PathKind } from './spec/checked-path.ts';
export type { Diagnosis, ExplainHost, HostProblem } from './spec/host-problem.ts';
export { LAYER_NAMES, LAYERS, type Layer, type LayerName, parseWeaker } from './spec/layers.ts';
export { nodePermissionFlags } from './spec/node-permission.ts';
export { ownCodeSpec } from './spec/own-code.ts';
export {
  type CheckedSpec,
  checkSpec,
  isWithin,
  LIMIT_MAXIMA,
  type Mount,
  type MountAccess,
  NAME_SERVER,
  type Network,
  NODE_INSIDE,
  type SandboxSpec,
  STATE_INSIDE,
  type Stdio,
} from './spec/spec.ts';
export { OwnFolders } from './watch/own-folder.ts';
export { type Ending, exitOf } from './watch/status.ts';
