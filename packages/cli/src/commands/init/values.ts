/** What only the user knows: secrets, and values for which the other client's file has an example. */
import { keepSecret, keptSecret, type SecretPlace } from '@cordon/config/keys';
import { isJsonObject, type Json, type JsonObject, ok, type Result, visibleLine } from '@cordon/core';
import type { AppProposal } from '@cordon/onboarding';
import type { CommandContext } from '../../context/command-context.ts';
import type { Answers } from './draft-text.ts';

export interface AskedValues {
  readonly secrets: ReadonlyMap<string, string>;
  readonly answers: Answers;
}

/** Names of `${secret:NAME}` in a file for which nothing is kept. */
export function missingSecrets(text: string | null, place: SecretPlace): readonly string[] {
  const named = [...(text ?? '').matchAll(/\$\{secret:([A-Za-z0-9._-]+)\}/g)].map(([, name = '']) => name);
  return [...new Set(named)].filter((name) => keptSecret(place, name) === null);
}

/** Who gets a secret that a file names: the places of registries, and apps. */
function receiversIn(tree: JsonObject, name: string): readonly string[] {
  const isNamedIn = (value: Json) => JSON.stringify(value).includes(`\${secret:${name}}`);
  const whoIn = (section: string, who: (key: string, value: Json) => string) =>
    Object.entries(isJsonObject(tree[section]) ? tree[section] : {})
      .filter(([, value]) => isNamedIn(value))
      .map(([key, value]) => who(key, value));
  const app = (key: string, value: Json) => {
    const url = isJsonObject(value) && typeof value.url === 'string' ? ` at ${value.url}` : '';
    return `the app \`${key}\`${url}`;
  };
  return [
    ...whoIn('packages', (key) => key.slice(0, key.lastIndexOf(':'))),
    ...['apps', 'mcpServers', 'installable'].flatMap((section) => whoIn(section, app)),
  ];
}

/** Asks for each once. Null: the user left, and nothing is to be written. Without a terminal nothing is asked. */
export async function askValues(
  context: CommandContext,
  proposals: readonly AppProposal[],
  missing: readonly string[],
  tree: JsonObject,
): Promise<AskedValues | null> {
  const secrets = new Map<string, string>();
  const answers = new Map<string, Map<string, string>>();
  const open = openSecrets(proposals, missing);
  for (const { name, value } of proposals.flatMap((proposal) => proposal.secrets))
    if (value !== null) secrets.set(name, value);
  if (!context.terminal.isInteractive) {
    const names = [
      ...open.map(({ what }) => what),
      ...proposals.flatMap(({ questions }) => questions.map(({ key }) => key)),
    ];
    if (names.length > 0)
      context.notes.say('', `not asked for without a terminal: ${names.join('; ')}`, 'warn');
    return { secrets, answers };
  }
  for (const { what, names } of open) {
    // Attack: the file of somebody else has a well-known secret typed, and sends it to a registry of theirs.
    for (const name of names.filter((one) => missing.includes(one)))
      for (const receiver of receiversIn(tree, name))
        context.notes.say('', `the secret \`${name}\` goes to ${receiver}`, 'warn');
    const typed = await ask(context, { what, tells: ' (not shown)', takes: 'secret' });
    if (typed === null) return null;
    if (typed !== '') for (const name of names) secrets.set(name, typed);
  }
  for (const { id, questions } of proposals)
    for (const { key, example } of questions) {
      const typed = await ask(context, { what: `${id}: ${key}, such as ${example}`, takes: 'text' });
      if (typed === null) return null;
      if (typed !== '') answers.set(id, (answers.get(id) ?? new Map()).set(key, typed));
    }
  return { secrets, answers };
}

interface OpenSecret {
  /** Says which apps get it. */
  readonly what: string;
  readonly names: readonly string[];
}

/** An input of one file is asked for once, for all apps of that file that name it. */
function openSecrets(proposals: readonly AppProposal[], missing: readonly string[]): readonly OpenSecret[] {
  const asked = proposals.flatMap(({ id, origin, secrets }) =>
    secrets
      .filter(({ value }) => value === null)
      .map((secret) => ({
        ...secret,
        id,
        by: secret.input === null ? secret.name : JSON.stringify([origin, secret.input]),
      })),
  );
  const groups = [...Map.groupBy(asked, ({ by }) => by).values()].map((group) => ({
    what: `${[...new Set(group.map(({ id }) => id))].join(', ')}: ${group[0]?.description}`,
    names: group.map(({ name }) => name),
  }));
  const named = new Set(groups.flatMap(({ names }) => names));
  const rest = missing.filter((name) => !named.has(name));
  return [...rest.map((name) => ({ what: name, names: [name] })), ...groups];
}

const MOST_NAMED = 200;

/** Attack: a description or an example in a stranger's file writes to the terminal, or draws another question. */
async function ask(
  { terminal, notes, ending }: CommandContext,
  { what, tells = '', takes }: { what: string; tells?: string; takes: 'secret' | 'text' },
): Promise<string | null> {
  const prompt = `${visibleLine(what.slice(0, MOST_NAMED))}${tells}> `;
  const reply = await terminal.ask({ prompt, takes }, ending);
  if (reply.kind === 'line') return reply.text.trim();
  notes.say('', 'nothing was written');
  return null;
}

/** Keeps all of them, or says which could not be. */
export function keepSecrets(place: SecretPlace, secrets: AskedValues['secrets']): Result<null, string> {
  for (const [name, value] of secrets) {
    const kept = keepSecret(place, name, value);
    if (!kept.ok) return kept;
  }
  return ok(null);
}
