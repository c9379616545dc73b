/** What a user can type in a chat besides queries: `/apps`, `/undo` and the like. */

import { modelInUse } from '@cordon/config';
import type { LastChange, Session } from '@cordon/hub';
import type { CommandContext } from '../../context/command-context.ts';
import type { Opening } from '../../context/sessions/with-session.ts';

/** What a command asks of the chat when it has printed what it has to say. */
export type ChatStep =
  | { readonly kind: 'stay' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'undo' }
  | { readonly kind: 'switch-private' }
  | { readonly kind: 'ask'; readonly text: string; readonly isPrivate: boolean };

interface ChatParts {
  readonly context: CommandContext;
  readonly opening: Opening;
  readonly session: Session;
}

interface ChatCommand {
  readonly name: string;
  /** What may stand behind it; absent: nothing. */
  readonly takes?: string;
  readonly help: string;
  readonly run: (parts: ChatParts, words: string) => ChatStep | Promise<ChatStep>;
}

const STAY: ChatStep = { kind: 'stay' };

const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'apps',
    takes: '[APP]',
    help: 'lists the apps, or shows what one may do',
    run: async ({ context }, app) => {
      const { listApps, showApp } = await import('../apps/apps.ts');
      await (app === '' ? listApps(context) : showApp(context, app));
      return STAY;
    },
  },
  {
    name: 'grants',
    help: 'lists what you have permitted',
    run: async ({ context }) => {
      await (await import('../records/grants.ts')).listGrants(context, {});
      return STAY;
    },
  },
  {
    name: 'memory',
    takes: '[OWNER]',
    help: 'shows what Cordon remembers, or what it remembers for an app',
    run: async ({ context }, owner) => {
      const { listMemory, showMemory } = await import('../records/memory.ts');
      await (owner === '' ? listMemory(context) : showMemory(context, owner, {}));
      return STAY;
    },
  },
  {
    name: 'model',
    takes: '[MODEL]',
    help: 'says which model answers, or switches to another one',
    run: async (parts, name) => {
      if (name !== '' && !(await switchModel(parts, name))) return STAY;
      return sayModel(parts);
    },
  },
  {
    name: 'policy',
    help: 'says what the rules in force stop',
    run: async ({ context }) => {
      (await import('../policies/policy.ts')).showPolicy(context, { isBrief: true });
      return STAY;
    },
  },
  { name: 'undo', help: 'undoes the last change, after a question', run: undo },
  {
    name: 'private',
    takes: '[QUERY]',
    help: 'asks without earlier context and remembers nothing (the journal still records it); alone it turns this on or off',
    run: (_, text) => (text === '' ? { kind: 'switch-private' } : { kind: 'ask', text, isPrivate: true }),
  },
  {
    name: 'continue',
    help: 'resumes an interrupted query where it stopped',
    run: () => ({ kind: 'resume' }),
  },
  { name: 'help', help: 'lists these commands', run: ({ context }) => sayHelp(context) },
  { name: 'exit', help: 'ends the session', run: () => ({ kind: 'leave' }) },
];

const ALIASES: ReadonlyMap<string, string> = new Map([['quit', 'exit']]);

/** What a line asks for; null: it is a query. A slip of the finger (`/Private …`) must not be sent to a provider. */
export async function chatCommand(line: string, parts: ChatParts): Promise<ChatStep | null> {
  const [, typed, words = ''] = /^\/(\p{L}+)(?:\s+([\s\S]*))?$/u.exec(line) ?? [];
  if (typed === undefined) return null;
  const command = COMMANDS.find(({ name }) => name === (ALIASES.get(typed) ?? typed));
  if (command !== undefined && (words === '' || command.takes !== undefined))
    return command.run(parts, words);
  const why = command === undefined ? 'Unknown command' : `/${command.name} takes nothing behind it`;
  parts.context.notes.say('', `${why}; nothing was sent. /help lists the commands.`, 'bad');
  return STAY;
}

/** Lines that Tab completes to. */
export function chatCompletions({ models, configuration }: Opening): readonly string[] {
  const commands = COMMANDS.map(({ name, takes }) => (takes === undefined ? `/${name}` : `/${name} `));
  return [
    ...commands,
    ...models.map((model) => `/model ${model}`),
    ...configuration.apps.flatMap(({ id }) => [`/apps ${id}`, `@${id} `]),
  ];
}

function sayHelp({ notes }: CommandContext): ChatStep {
  notes.say(
    '',
    'Type a query. `@APP …` is for that app alone. Tab completes, the arrow keys bring earlier queries back.',
  );
  for (const { name, takes, help } of COMMANDS)
    notes.say(`  ${`/${name}${takes === undefined ? '' : ` ${takes}`}`.padEnd(17)} `, help);
  notes.say(
    '',
    'Ctrl-C stops a running query; at the prompt it leaves the session, which you can resume later.',
  );
  return STAY;
}

/** From the next query on. False: why not is reported. */
async function switchModel({ context, opening }: ChatParts, name: string): Promise<boolean> {
  const switched = await opening.switchModel(name);
  if (!switched.ok) context.reportSetupError(switched.fault);
  return switched.ok;
}

function sayModel({ context, opening: { configuration, models } }: ChatParts): ChatStep {
  const { limits, prices } = configuration;
  const model = modelInUse(configuration);
  const { output } = context;
  output.say('model: ', model, 'bold');
  for (const app of configuration.apps) if (app.model !== null) output.say(`  for ${app.id}: `, app.model);
  const price = prices.get(model);
  if (price !== undefined)
    output.say('  ', `a million tokens cost ${price.input} in and ${price.output} out`);
  const most = limits.cost === null ? '' : `, a cost of ${limits.cost}`;
  output.say(
    '  ',
    `a query may use ${limits.tokens} tokens, ${limits.seconds} s, ${limits.steps} model calls per turn${most}`,
  );
  const others = models.filter((one) => one !== model).join(', ');
  const hint = others === '' ? ' once a provider has a key' : `, for example to ${others}`;
  context.notes.say('', `/model MODEL switches${hint}`, 'dim');
  return STAY;
}

/**
 * Where no label says how a change is undone, the app is asked like in any other query, so rules and questions hold. Its name stands
 * in that query, and no word that an app or a model wrote: what the user says is trusted.
 */
function undo({ context, session }: ChatParts): ChatStep {
  const change = session.lastChange();
  const { notes } = context;
  if (change === null) {
    notes.say('', 'Nothing to undo: no app has changed anything in this session that you have not undone.');
    return STAY;
  }
  const what = `\`${change.tool}\` of \`${change.app}\``;
  if (!change.isCertain) notes.say('', `Nobody knows whether ${what} took effect: look there first.`, 'warn');
  if (change.by !== null) return { kind: 'undo' };
  // The app would undo another change than the one that it does not remember.
  if (change.irreversible || !change.isCertain || !change.isRemembered) {
    const why = change.irreversible ? 'which cannot be undone' : whyNotAsked(change);
    notes.say('', `The last change was ${what}, ${why}.`, 'warn');
    notes.say('', 'A label `undo` can name the tool of the app that does it: docs/policy/labels.md', 'dim');
    return STAY;
  }
  notes.say('', `Asks \`${change.app}\` to undo its last change, ${what}.`, 'dim');
  return { kind: 'ask', text: `@${change.app} Undo the last change that you made for me.`, isPrivate: false };
}

function whyNotAsked({ isRemembered }: LastChange): string {
  return isRemembered
    ? 'and no label says how to undo it'
    : 'which the app does not remember: it was made for a private query or another app, and no label says how to undo it';
}
