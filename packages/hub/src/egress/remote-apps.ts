/** Apps that run elsewhere: how each is reached, with its login if there is one, and how the user logs in and out. */
import {
  type AppId,
  type Clock,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  type Result,
} from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import type { Challenge, Login, Send } from '@cordon/oauth';
import type { Transport } from '@modelcontextprotocol/client';
import type { OnChallenge } from '../apps/app-start.ts';
import type { Context } from '../context/context.ts';
import type { Gate } from '../mediation/gate.ts';
import { type AppLogins, hasOwnCredentials } from './app-logins.ts';
import { AppTokens } from './app-tokens.ts';
import { authorizationSend } from './authorization-requests.ts';
import { type LoginSteps, type LoginWish, logIn, logOut } from './log-in.ts';
import { connectRemote } from './remote-app.ts';

export interface RemoteAppsParts {
  readonly gate: Gate;
  readonly dialler: Dialler;
  /** Null: nobody can log in. */
  readonly logins: AppLogins | null;
  /** The app's requests are its own, whichever context's call led to them. */
  readonly newContext: (app: AppId) => Context;
  /** Greets an app anew and ends it. */
  readonly reach: (app: InstalledApp, onChallenge: OnChallenge) => Promise<Result<void, Fault>>;
  readonly random: () => string;
  readonly now: Clock;
  readonly pause: (milliseconds: number) => Promise<void>;
}

export class RemoteApps {
  readonly #parts: RemoteAppsParts;
  readonly #tokens = new Map<AppId, AppTokens>();

  constructor(parts: RemoteAppsParts) {
    this.#parts = parts;
  }

  /** @param onChallenge the app is reached without a login, and this hears what its server asks for */
  connect(app: InstalledApp, onChallenge?: OnChallenge): Promise<Result<Transport, Fault>> {
    const { gate, dialler, newContext } = this.#parts;
    return connectRemote({
      app,
      gate,
      context: newContext(app.id),
      dial: dialler.dial,
      tokens: onChallenge === undefined ? this.#tokensOf(app) : null,
      onChallenge,
    });
  }

  /** Null: the user did not agree to where they would log in. */
  async logIn(app: InstalledApp, wish: LoginWish, steps: LoginSteps): Promise<Result<Login | null, Fault>> {
    const { logins, random, now } = this.#parts;
    if (logins === null) return failed(NO_LOGINS);
    const challengeOf = () => this.#challengeOf(app);
    return logIn({ logins, challengeOf, send: this.#send, random, now }, app, wish, steps);
  }

  /** Null: there was no login. */
  async logOut(app: InstalledApp): Promise<Result<'revoked' | 'not-offered', Fault> | null> {
    const { logins } = this.#parts;
    return logins === null ? failed(NO_LOGINS) : logOut({ logins, send: this.#send }, app);
  }

  async #challengeOf(app: InstalledApp): Promise<Result<Challenge | null, Fault>> {
    const heard: Challenge[] = [];
    const reached = await this.#parts.reach(app, (challenge) => heard.push(challenge));
    const challenge = heard.at(-1) ?? null;
    return challenge === null && !reached.ok ? reached : ok(challenge);
  }

  #tokensOf(app: InstalledApp): AppTokens | null {
    const { logins, now, pause } = this.#parts;
    if (logins === null || hasOwnCredentials(app)) return null;
    const known = this.#tokens.get(app.id);
    if (known !== undefined) return known;
    const send = ({ isNamed, issuer }: Login) => this.#send(app, isNamed ? issuer : null);
    const tokens = new AppTokens({ app, logins, send, now, pause });
    this.#tokens.set(app.id, tokens);
    return tokens;
  }

  readonly #send = (app: InstalledApp, issuer: string | null): Send => {
    const { gate, dialler, newContext } = this.#parts;
    return authorizationSend({ app, gate, context: newContext(app.id), dialler, issuer });
  };
}

const NO_LOGINS = fault('usage', 'this program keeps no logins');
