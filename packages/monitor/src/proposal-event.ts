/**
 * How the hub's proposals and facts look to rules. The mapping is the policy package's, because recorded sessions
 * are read with it too: what an analysis of one finds is what the live monitor saw.
 *
 * Ring 0.
 */
export { factEvent, type HubFact as MonitorFact, proposalEvent } from '@cordon/policy';
