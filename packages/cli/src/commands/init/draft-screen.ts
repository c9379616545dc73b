/** One screen of `cordon init`: every app with what it would get and why. What loosens is marked with `+`. */
import type { Screen } from '@cordon/console/text';
import { type AppProposal, droppable, grantKey, valuesOf } from '@cordon/onboarding';
import { counted } from '@cordon/print';
import { oneForAll } from './proposed-labels.ts';

/** Draws the apps, numbered from 1. `home` is written as `~`. */
export function drawProposals(screen: Screen, proposals: readonly AppProposal[], home: string): void {
  const origins = new Set(proposals.map(({ origin }) => origin));
  const from = origins.size === 1 ? ` from ${[...origins][0]}` : '';
  screen.line();
  screen.say('', `${counted(proposals.length, 'app')}${from}. Each + is a right that it would get.`, 'bold');
  for (const [at, proposal] of proposals.entries()) {
    if (origins.size > 1 && proposal.origin !== proposals[at - 1]?.origin)
      screen.say('', `from ${proposal.origin}`, 'dim', 2);
    drawProposal(screen, proposal, {
      number: `${proposal.isTaken ? ' ' : '-'}${String(at + 1).padEnd(2)} `,
      short: (text) => text.replaceAll(home, '~'),
    });
  }
}

const INDENT = '    ';

interface Line {
  readonly number: string;
  readonly short: (text: string) => string;
}

function drawProposal(screen: Screen, proposal: AppProposal, { number, short }: Line): void {
  const { id, source, isTaken, description, notes } = proposal;
  screen.say(number, isTaken ? `${id}: ${description}` : id, isTaken ? 'bold' : 'dim', 1);
  if (source !== null) {
    const started = source.kind === 'url' ? source.url : [source.command, ...source.args].join(' ');
    screen.say(INDENT, short(started), 'dim');
  }
  if (isTaken) for (const right of rightsOf(proposal)) drawRight(screen, right, short);
  for (const { text, isUrgent } of notes)
    screen.say(`${INDENT}! `, short(text), isUrgent ? 'bad' : 'warn', 3);
}

/** What can be left out has a letter, and a `+`. */
interface Right {
  readonly letter: string | null;
  readonly what: string;
  readonly reason: string;
}

/** Attack: a path so long that its end, or a further argument, is not on the screen. What a right is about is never cut. */
function drawRight(screen: Screen, { letter, what, reason }: Right, short: Line['short']): void {
  const mark = letter === null ? `${INDENT}    ` : `${INDENT}${letter} + `;
  screen.say(mark, short(`${what} (${reason})`), letter === null ? 'dim' : 'warn');
}

function rightsOf(proposal: AppProposal): readonly Right[] {
  const letters = new Map(droppable(proposal).map((key, at) => [key, String.fromCharCode(97 + at)]));
  const { grants, state, secrets, questions, labels, source } = proposal;
  const lettered = (key: string, what: string, reason: string): Right => ({
    letter: letters.get(key) ?? null,
    what,
    reason,
  });
  const told = (what: string, reason: string): Right => ({ letter: null, what, reason });
  return [
    ...grants.map((grant) => lettered(grantKey(grant), `${VERBS[grant.kind]} ${grant.value}`, grant.reason)),
    ...(state === null ? [] : [lettered('state', 'a private folder', state)]),
    ...labels
      .filter(({ isListed }) => isListed !== true)
      .map((one) => lettered('labels', labelWords(one), 'known package')),
    ...listedReasons(labels).map(({ reason, tools, isLooser }) =>
      isLooser ? lettered('labels', reason, tools) : told(reason, tools),
    ),
    ...secrets.map(({ key, value }) =>
      told(`the secret ${key}`, value === null ? 'you are asked for it' : KEPT),
    ),
    ...questions.map(({ key, example }) => told(`you are asked for ${key}`, `${example} is an example`)),
    ...variablesOf(source).map(([key, variable]) => told(`your variable ${variable}`, `as ${key}`)),
    ...fixedValues(proposal).map(([key, value]) => told(`${key} = ${value}`, 'stands there')),
    ...(source?.kind === 'command' && source.cwd !== null
      ? [told(`runs in ${source.cwd}`, 'stands there')]
      : []),
  ];
}

const KEPT = 'kept beside cordon.json, not in it';

const VERBS = { read: 'reads', write: 'reads and writes', network: 'connects to' } as const;

/** What it gets of the user's environment. */
function variablesOf(source: AppProposal['source']): readonly (readonly [key: string, variable: string])[] {
  return Object.entries(valuesOf(source)).flatMap(([key, value]) =>
    [...value.matchAll(/\$\{env:(\w+)\}/g)].map(([, variable = '']): [string, string] => [key, variable]),
  );
}

/** Told as a variable or a secret. */
const ONE_PLACEHOLDER = /^(?:Bearer |Basic |token )?\$\{(?:env|secret):[^}]*\}$/i;

/**
 * Attack: an entry starts a known package with `NODE_OPTIONS=--import=…`. A yes to the screen is a yes to the file, so all that an
 * app is started with stands on it.
 */
function fixedValues({ source, questions }: AppProposal): readonly (readonly [key: string, value: string])[] {
  const asked = new Set(questions.map(({ key }) => key));
  return Object.entries(valuesOf(source)).filter(
    ([key, value]) => !asked.has(key) && !ONE_PLACEHOLDER.test(value),
  );
}

/**
 * One for each reason, with all its tools. Attack: an app with so many tools that the one that matters is not on the screen: none is
 * left out.
 */
function listedReasons(labels: AppProposal['labels']) {
  const said = labels
    .filter(({ isListed }) => isListed === true)
    .flatMap(({ tools, reasons }) =>
      reasons.map((reason) => ({ tool: tools.join(', '), reason: oneForAll(reason) })),
    );
  return [...Map.groupBy(said, ({ reason }) => reason)].map(([reason, named]) => ({
    reason: reason.replace(/^looser: /, 'less is asked: '),
    tools: named.map(({ tool }) => tool).join(', '),
    isLooser: reason.startsWith('looser'),
  }));
}

function labelWords({ says, tools }: AppProposal['labels'][number]): string {
  const stays = says.outward === false ? ', nothing sent out' : '';
  return `less is asked: ${counted(tools.length, 'tool')} for reading${stays}`;
}
