/** What only the user knows: secrets, and values for which the other client's file has an example. */
import { keepSecret, keptSecret, type SecretPlace } from '@cordon/config/keys';
import { ok, type Result, visibleLine } from '@cordon/core';
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

/** Asks for each once. Null: the user left, and nothing is to be written. Without a terminal nothing is asked. */
export async function askValues(
  context: CommandContext,
  proposals: readonly AppProposal[],
  missing: readonly string[],
): Promise<AskedValues | null> {
  const secrets = new Map<string, string>();
  const answers = new Map<string, Map<string, string>>();
  const open = new Map(missing.map((name) => [name, name]));
  for (const proposal of proposals)
    for (const { name, description, value } of proposal.secrets) {
      if (value === null) open.set(name, `${proposal.id}: ${description}`);
      else secrets.set(name, value);
    }
  if (!context.terminal.isInteractive) {
    const names = [
      ...open.values(),
      ...proposals.flatMap(({ questions }) => questions.map(({ key }) => key)),
    ];
    if (names.length > 0)
      context.notes.say('', `not asked for without a terminal: ${names.join('; ')}`, 'warn');
    return { secrets, answers };
  }
  for (const [name, description] of open) {
    const typed = await ask(context, { what: description, tells: ' (not shown)', takes: 'secret' });
    if (typed === null) return null;
    if (typed !== '') secrets.set(name, typed);
  }
  for (const { id, questions } of proposals)
    for (const { key, example } of questions) {
      const typed = await ask(context, { what: `${id}: ${key}, such as ${example}`, takes: 'text' });
      if (typed === null) return null;
      if (typed !== '') answers.set(id, (answers.get(id) ?? new Map()).set(key, typed));
    }
  return { secrets, answers };
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
