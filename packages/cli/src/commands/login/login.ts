/**
 * `cordon apps login` and `logout`: the user lets Cordon act for them at an app that runs elsewhere, and takes that back. The
 * browser and the answer of the authorization server are on this machine; no token is shown anywhere.
 */
import type { Configuration } from '@cordon/config';
import {
  type AppId,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  type Result,
  SILENT_MANIFEST,
} from '@cordon/core';
import type { LoginPlace, LoginSteps, LoginWish, Session } from '@cordon/hub';
import { storedLogins } from '@cordon/runtime/compose';
import type { Store } from '@cordon/trace';
import type { CommandContext } from '../../context/command-context.ts';
import { confirmed } from '../../context/confirmation.ts';
import { consentOf } from '../../context/consent.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { withQuietSession } from '../../context/sessions/quiet-session.ts';
import { noSuchApp } from '../apps/no-such-app.ts';
import { openInBrowser } from './browser.ts';
import { openRedirect, pastedAnswer, type Redirect } from './redirect.ts';

export interface LoginOptions {
  readonly scope?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  readonly clientMetadata?: string;
  readonly port?: number;
  /** False: the address is shown, and nothing is opened. */
  readonly browser?: boolean;
  readonly yes?: boolean;
}

/** How long the user may take on the page of the authorization server. */
const ANSWER_MS = 600_000;

/** Exit code 1: the user did not agree to where they would log in. */
export function logInToApp(context: CommandContext, name: string, options: LoginOptions): Promise<ExitCode> {
  return withApp(context, name, async (session, configuration, app) => {
    const wish = wishOf(options, configuration);
    if (!wish.ok) return context.reportFault(wish.fault);
    const redirect = await openRedirect(options.port ?? 0);
    if (!redirect.ok) return context.reportFault(redirect.fault);
    try {
      const steps = stepsOf(context, options, redirect.value);
      const login = await session.logIn(app.id, wish.value, steps);
      if (!login.ok) return context.reportFault(login.fault);
      if (login.value === null) return EXIT.refused;
      const { issuer, tokens } = login.value;
      if (context.wantsJson) context.json({ kind: 'app.logged-in', id: app.id, issuer, scope: tokens.scope });
      else context.output.say('', `you are logged in to \`${app.id}\` through ${issuer}`);
      return EXIT.done;
    } finally {
      redirect.value.close();
    }
  });
}

/** Exit code 1: there was no login. 2: the authorization server may still know the tokens. */
export function logOutOfApp(context: CommandContext, name: string): Promise<ExitCode> {
  return withApp(context, name, async (session, _, app) => {
    const ended = await session.logOut(app.id);
    if (context.wantsJson) {
      const revoked = ended?.ok === true && ended.value === 'revoked';
      context.json({ kind: 'app.logged-out', id: app.id, removed: ended !== null, revoked });
    }
    if (ended === null) {
      if (!context.wantsJson) context.output.say('', `you were not logged in to \`${app.id}\``);
      return EXIT.refused;
    }
    const why = notRevoked(ended);
    if (why === null) {
      if (!context.wantsJson)
        context.output.say('', `you are logged out of \`${app.id}\`, and its tokens are revoked`);
      return EXIT.done;
    }
    return context.reportFault(unrevoked(app.id, why));
  });
}

/**
 * Has the authorization server forget the tokens of an app that is removed. Null: it has; else why it may not have. Failed: nothing
 * was tried, for a reason that is reported, and the login is still there.
 */
export async function endLogin(
  context: CommandContext,
  configuration: Configuration,
  store: Store,
  id: AppId,
): Promise<Result<Fault | null, Fault>> {
  const url = storedLogins(configuration, store).addressOf(id);
  if (url === null) return ok(unrevoked(id, 'what is stored of it cannot be read'));
  // The app may be out of the configuration by now, or have another address there.
  const app: InstalledApp = {
    id,
    source: { kind: 'url', url, headers: {} },
    manifest: SILENT_MANIFEST,
    model: null,
  };
  const known = { ...configuration, apps: [...configuration.apps.filter((other) => other.id !== id), app] };
  if (!(await context.agrees(configuration))) return failed(untried(id));
  const consent = consentOf(context, configuration);
  if (consent === null) return failed(untried(id));
  const quiet = { consent, notice: 'the end of a login to an app' };
  let result: Result<Fault | null, Fault> = failed(untried(id));
  await withQuietSession(context, known, quiet, async (session) => {
    const ended = await session.logOut(id);
    const why = ended === null ? null : notRevoked(ended);
    result = ok(why === null ? null : unrevoked(id, why));
    return EXIT.done;
  });
  return result;
}

/** Why the tokens may still be valid; null: they are not. */
function notRevoked(ended: Result<'revoked' | 'not-offered', Fault>): string | null {
  if (!ended.ok) return ended.fault.message;
  return ended.value === 'revoked' ? null : 'its authorization server offers no revocation';
}

function unrevoked(app: AppId, why: string): Fault {
  return fault(
    'app-unavailable',
    `the login to \`${app}\` is deleted here, but its tokens could not be revoked: ${why}`,
    'revoke the access of Cordon in the settings of your account there',
  );
}

/** Attack: what was not tried counts as done, and whoever has a copy of the tokens uses them for as long as they last. */
function untried(app: AppId): Fault {
  return fault(
    'app-unavailable',
    `nothing was deleted: the revocation of your login to \`${app}\` could not be tried`,
    'mend what is reported above, and repeat the command',
  );
}

async function withApp(
  context: CommandContext,
  name: string,
  use: (session: Session, configuration: Configuration, app: InstalledApp) => Promise<ExitCode>,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  const app = configuration.apps.find((installed) => installed.id === name);
  if (app === undefined) return context.reportFault(noSuchApp(name, configuration));
  if (!(await context.agrees(configuration))) return EXIT.refused;
  const consent = consentOf(context, configuration);
  if (consent === null) return EXIT.failed;
  const quiet = { consent, notice: 'a login to an app' };
  return withQuietSession(context, configuration, quiet, (session) => use(session, configuration, app));
}

const IN_FULL = 'write it in full, like `https://login.example.com`';

function wishOf(options: LoginOptions, { readSecret }: Configuration): Result<LoginWish, Fault> {
  const { scope = null, issuer = null, clientId = null, clientSecretFile, clientMetadata = null } = options;
  const isAddress = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (issuer !== null && !isAddress(issuer))
    return failed(fault('usage', `\`${issuer}\` is no web address`, IN_FULL));
  if (
    clientMetadata !== null &&
    !(isAddress(clientMetadata) && new URL(clientMetadata).protocol === 'https:')
  )
    return failed(fault('usage', `\`${clientMetadata}\` is no https address`, IN_FULL));
  if (clientSecretFile !== undefined && clientId === null)
    return failed(fault('usage', '`--client-secret-file` goes with `--client-id`'));
  const secret =
    clientSecretFile === undefined ? null : readSecret?.({ kind: 'file', path: clientSecretFile });
  if (secret?.ok === false) return failed(fault('usage', `\`${clientSecretFile}\` cannot be read`));
  const client = { id: clientId, secret: secret?.value ?? null, document: clientMetadata };
  return ok({ issuer, scope, client });
}

function stepsOf(context: CommandContext, options: LoginOptions, redirect: Redirect): LoginSteps {
  return {
    redirectUrl: redirect.url,
    agrees: (place) => agrees(context, place, options.yes === true),
    answerTo: async (url, state) => {
      const isOpened = options.browser !== false && (await openInBrowser(url, context.environment));
      showPage(context, url, isOpened);
      return answer(context, redirect, state);
    },
  };
}

/** Shows where the user is about to log in, and asks. */
async function agrees(context: CommandContext, place: LoginPlace, saidYes: boolean): Promise<boolean> {
  const { app, issuer, resource, scope, before } = place;
  if (context.wantsJson) context.json({ kind: 'app.login', id: app.id, issuer, resource, scope, before });
  else describePlace(context, place);
  return confirmed(
    context,
    'Log in there, and let Cordon act for you with this app?',
    saidYes,
    'you are not logged in',
  );
}

function describePlace(
  { notes }: CommandContext,
  { app, issuer, resource, scope, before }: LoginPlace,
): void {
  notes.say('', `\`${app.id}\` wants you to log in.`, 'bold');
  notes.say('  where:    ', shownAddress(issuer));
  notes.say('  for:      ', shownAddress(resource));
  notes.say('  grants:   ', scope ?? 'what that server gives without being asked');
  if (before !== null && before !== issuer)
    notes.say(
      '!! ',
      `You are logged in through another server, ${shownAddress(before)}. The app has changed who issues its tokens.`,
      'bad',
    );
}

/** Longer than any host, with which it begins: what follows may push nothing off the screen. */
const LONGEST_ADDRESS = 320;

function shownAddress(address: string): string {
  return address.length > LONGEST_ADDRESS ? `${address.slice(0, LONGEST_ADDRESS)}…` : address;
}

function showPage(context: CommandContext, url: URL, isOpened: boolean): void {
  if (context.wantsJson) return context.json({ kind: 'app.login.page', url: url.href, opened: isOpened });
  const { notes } = context;
  notes.say(
    '',
    isOpened
      ? 'Your browser shows this page. Log in there:'
      : 'Open this page in a browser, and log in there:',
  );
  // Not wrapped: what is copied must stay one line.
  notes.line(url.href);
}

const PASTE = 'If the browser is on another machine, paste the address that it ends at, and press Enter.';

/** What the browser brings back, or what the user pastes. */
async function answer(
  context: CommandContext,
  redirect: Redirect,
  state: string,
): Promise<Result<URLSearchParams, Fault>> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, context.ending, AbortSignal.timeout(ANSWER_MS)]);
  const stopped = Promise.withResolvers<Result<URLSearchParams, Fault>>();
  const stop = () => stopped.resolve(failed(fault('cancelled', 'nobody logged in in time')));
  signal.addEventListener('abort', stop, { once: true });
  const came = redirect.answerTo(state).then((query) => ok(query));
  try {
    return await Promise.race([came, stopped.promise, pasted(context, redirect, state, signal)]);
  } finally {
    over.abort();
  }
}

/** Never resolves without a terminal, where the user cannot paste. */
async function pasted(
  context: CommandContext,
  { url }: Redirect,
  state: string,
  signal: AbortSignal,
): Promise<Result<URLSearchParams, Fault>> {
  const { terminal, notes } = context;
  if (!terminal.isInteractive) return new Promise(() => undefined);
  notes.say('', PASTE, 'dim');
  for (;;) {
    const reply = await terminal.ask({ prompt: '> ', takes: 'text' }, signal);
    if (reply.kind === 'interrupted') return failed(fault('cancelled', 'you stopped the login'));
    if (reply.kind === 'ended' || reply.kind === 'aborted') return new Promise(() => undefined);
    const found = reply.kind === 'line' ? pastedAnswer(reply.text, url, state) : null;
    if (found !== null) return ok(found);
    notes.say('', `That is not the address of this login: it begins with ${url}?`, 'warn');
  }
}
