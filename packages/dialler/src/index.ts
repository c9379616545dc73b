export type { Bait, Dial, DialFault, Dialler, Lookup } from './dialler.ts';
export { HERE } from './here.ts';
export { type HubNetwork, hubNetwork } from './hub-network.ts';
