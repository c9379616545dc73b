export { type FoundFile, type FoundServer, type FoundSource, valuesOf } from './clients/found-server.ts';
export { readPasted } from './clients/pasted.ts';
export { findClients, serversIn } from './clients/read-client.ts';
export { droppable, EDIT_HELP, parseEdit } from './proposal/edits.ts';
export { labelMembers, manifestMember, sourceMembers } from './proposal/entry.ts';
export { type LabelProposal, type ProposedTool, proposeLabels } from './proposal/labels.ts';
export { type OutdatedLabel, outdatedLabels } from './proposal/outdated-labels.ts';
export {
  type AppProposal,
  appIdOf,
  grantKey,
  NO_EDITS,
  type ProposalEdits,
  type ProposalPlace,
  propose,
} from './proposal/propose.ts';
export { holdsPassword } from './proposal/secret-values.ts';
export { writtenLabels } from './proposal/undo.ts';
export { withMember, withoutPath } from './writing/config-text.ts';
export type { PrintedMember } from './writing/json-print.ts';
