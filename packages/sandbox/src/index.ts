export type { ConfinedProcess, Exit, LayerReport, ProbeReport, Sandbox } from './backend.ts';
export { CheckedPath, checkPath, type PathKind } from './checked-path.ts';
export { type AppCommand, type CommandContext, commandSpec } from './command.ts';
export type { Profile } from './seccomp.ts';
export { APP_USER, openSandbox, type SandboxOptions } from './spawn.ts';
export {
  checkSpec,
  EGRESS_SOCKET_INSIDE,
  LIMIT_MAXIMA,
  type Mount,
  type MountAccess,
  type Network,
  NODE_INSIDE,
  type SandboxSpec,
  STATE_INSIDE,
  type Stdio,
} from './spec.ts';
