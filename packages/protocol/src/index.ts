export { decodeHubMessage, decodeSpokeMessage, encode } from './codec.ts';
export { type FramingLimits, LineDecoder } from './framing.ts';
export {
  type HubMessage,
  type Offer,
  PROTOCOL_VERSION,
  type SpokeMessage,
  type SpokeRequest,
  type TurnContext,
} from './message.ts';
export { offeredTools } from './offered-tools.ts';
