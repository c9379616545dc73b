export { checkedDial, shownHost, usableUrl } from './addresses.ts';
export {
  beginAuthorization,
  type ClientWish,
  finishAuthorization,
} from './authorization.ts';
export {
  authorizationServer,
  type Challenge,
  challengeIn,
  type Directions,
  directionsOf,
  isSameIssuer,
} from './discovery.ts';
export { type Login, loginText, readLogin } from './login.ts';
export { hasEnded, renewed, revoked } from './renewal.ts';
export type { Send } from './requests.ts';
export { scopeOf, unionOf } from './scope.ts';
