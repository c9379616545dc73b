export { checkedDial, isThisMachine, shownHost, usableUrl } from './addresses.ts';
export {
  type Authorization,
  beginAuthorization,
  type ClientWish,
  finishAuthorization,
} from './authorization.ts';
export {
  type AuthorizationServer,
  authorizationServer,
  type Challenge,
  challengeIn,
  type Directions,
  directionsOf,
  isSameIssuer,
} from './discovery.ts';
export { type Login, loginText, readLogin } from './login.ts';
export { hasEnded, renewed, revoked } from './renewal.ts';
export type { OAuthRequest, Send } from './requests.ts';
export { scopeOf, unionOf } from './scope.ts';
