export { type Broker, type BrokerParts, openBroker, type ProviderAccess } from './broker.ts';
