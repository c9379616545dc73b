export type { ConfinedProcess, ExceededLimit, Exit, LayerReport, ProbeReport, Sandbox } from './backend.ts';
export { CheckedPath, checkPath, type PathKind } from './checked-path.ts';
export { type AppCommand, type CommandContext, commandSpec } from './command.ts';
export { findInstalled, PACKAGE_INSIDE, packagesFolder, recordFile, treeFolder } from './installed.ts';
export { LAYER_NAMES, LAYERS, type Layer, type LayerName, parseWeaker } from './layers.ts';
export { makeFolder } from './make-folder.ts';
export {
  type Ecosystem,
  type PackageCall,
  parsePackageLauncher,
  requestOf,
  type WantedPackage,
} from './package-launcher.ts';
export type { Profile } from './seccomp.ts';
export { APP_USER, openSandbox, type SandboxOptions } from './spawn.ts';
export {
  checkSpec,
  LIMIT_MAXIMA,
  type Mount,
  type MountAccess,
  type Network,
  NODE_INSIDE,
  type SandboxSpec,
  STATE_INSIDE,
  type Stdio,
} from './spec.ts';
export { digestTree, TREE_LIMITS, type TreeDigest } from './tree-digest.ts';
