export {
  type Fetched,
  fetchPackages,
  forgetPackage,
  type Installer,
  installedRecord,
  registryFor,
} from './install.ts';
export { findNpm } from './npm-program.ts';
export type { InstallProgress } from './progress.ts';
export type { Difference, InstallRecord } from './record.ts';
export { DEFAULT_STEP_LIMITS, type StepLimits } from './step.ts';
