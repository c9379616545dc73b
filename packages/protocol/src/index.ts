export { decodeHubMessage, decodeSpokeMessage, encode, HUB_LINE_BYTES, SPOKE_LINE_BYTES } from './codec.ts';
export { misfitOfAnswer, readingsOf } from './exchange-format.ts';
export { type FramingLimits, LineDecoder } from './framing.ts';
export {
  type HubAnswer,
  type HubMessage,
  type Offer,
  PROTOCOL_VERSION,
  PROTOCOL_VERSIONS,
  type ServedRequest,
  type SpokeMessage,
  type SpokeRequest,
  type TurnContext,
} from './message.ts';
export { HUB_SCHEMAS, SPOKE_SCHEMAS } from './message-schema.ts';
export { DATA_KINDS_SCHEMA, type Given, offeredTools, toolsThatTakeData } from './offered-tools.ts';
export { CHECKED_KEYWORDS, type CheckOptions, misfit } from './schema-check.ts';
