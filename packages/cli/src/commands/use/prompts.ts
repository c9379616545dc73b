/** `cordon prompts`: questions that wait for an answer, and answering them from here. */

import { minuteOf, termChoices } from '@cordon/config';
import { type AnswerOptions, fieldWords, typedAnswer, whyAlone } from '@cordon/console';
import type { Style } from '@cordon/console/text';
import { failed, type GrantDuration, id, ok, type Result, visibleLine } from '@cordon/core';
import type { Store, StoredAnswer, StoredPrompt } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { withStore } from '../../context/opened-store.ts';

/** Of a question or a warning, as in the question itself. */
const MOST_WORDS = 1000;

export function listPrompts(context: CommandContext): Promise<ExitCode> {
  return withStore(context, (store) => {
    const broken = new BrokenRows('the question');
    const pending = store.prompts.pending(null, broken.collect);
    if (context.wantsJson) {
      for (const { question, ...prompt } of pending)
        context.json({ kind: 'prompt', ...prompt, asks: question.kind, prompt: question.prompt });
    } else if (pending.length === 0) {
      if (broken.isEmpty) context.output.say('', 'no questions are waiting');
    } else {
      for (const prompt of pending) showWaiting(context, prompt, store.sessions.find(prompt.session)?.status);
      context.notes.say('', '`cordon prompts answer ID` shows the full question and asks you', 'dim');
    }
    return broken.report(context);
  });
}

/** What it takes to answer, in a few lines: columns would break the questions into pieces. */
function showWaiting({ output }: CommandContext, prompt: StoredPrompt, session: string | undefined): void {
  const { question } = prompt;
  output.line(
    output.style('bold', `${prompt.id}  asked ${minuteOf(prompt.askedAt)}, session ${session ?? 'gone'}`),
  );
  // Attack: an argument whose name has its own lines, which would stand between ours.
  const say = (label: string, text: string, style?: Style) =>
    output.say(label, visibleLine(text, MOST_WORDS), style);
  say('  ask: ', question.prompt.question);
  if (question.kind === 'permission') {
    for (const datum of question.prompt.data)
      if (datum.field !== undefined) say('  field: ', fieldWords(datum));
    for (const asks of question.prompt.asks ?? []) say('  a rule asks: ', asks);
    for (const warning of question.prompt.warnings) say('  WARNING: ', warning, 'warn');
    for (const recipient of question.prompt.newRecipients) say('  NEW: ', recipient, 'warn');
  }
  say('  answers: ', offersOf(prompt));
  output.line();
}

/** Without a word the question is shown and asked here; with one, shown and answered. `which`: an id, or `all`. */
export function answerPrompt(
  context: CommandContext,
  which: string,
  word: string | undefined,
  options: AnswerOptions,
): Promise<ExitCode> {
  return withStore(context, async (store) => {
    const prompts = which === 'all' ? store.prompts.pending() : [store.prompts.find(id(which))];
    if (prompts.length === 0) {
      context.output.say('', 'no questions are waiting');
      return EXIT.done;
    }
    let exit: ExitCode = EXIT.done;
    for (const prompt of prompts) {
      const answered =
        prompt === null
          ? refuse(context, which, UNKNOWN)
          : await answerOne(context, store, prompt, word, options, which === 'all');
      if (answered !== EXIT.done) exit = answered;
    }
    return exit;
  });
}

const UNKNOWN = 'unknown question; `cordon prompts` lists those that wait';

async function answerOne(
  context: CommandContext,
  store: Store,
  prompt: StoredPrompt,
  word: string | undefined,
  options: AnswerOptions,
  isOneOfAll: boolean,
): Promise<ExitCode> {
  const alone = isOneOfAll && word !== undefined ? whyAlone(prompt.question, word, context.notes) : null;
  if (alone !== null) return refuse(context, prompt.id, `${alone}: answer it by its id`);
  const answer =
    word === undefined
      ? await asked(context, prompt)
      : typedAnswer(prompt.question, word, options, { screen: context.notes, now: context.now() });
  if (!answer.ok) return refuse(context, prompt.id, answer.fault);
  const taken = store.prompts.answer(prompt.id, answer.value);
  if (!taken.ok) return refuse(context, prompt.id, `${taken.fault.message}; ${taken.fault.help}`);
  if (context.wantsJson) context.json({ kind: 'prompt.answered', prompt: prompt.id, answered: true });
  else context.output.say('', `${prompt.id} is answered`);
  return EXIT.done;
}

function refuse(context: CommandContext, prompt: string, reason: string): ExitCode {
  if (context.wantsJson) context.json({ kind: 'prompt.answered', prompt, answered: false, reason });
  else context.notes.say(`${prompt}: `, reason, 'bad');
  return EXIT.failed;
}

/** Asks here as it would be asked there. */
async function asked(
  context: CommandContext,
  { question }: StoredPrompt,
): Promise<Result<StoredAnswer, string>> {
  const consent = context.terminalConsent();
  const signal = context.ending;
  if (question.kind === 'choice') {
    return ok({ kind: 'choice', choice: await consent.choose(question.prompt, signal) });
  }
  const answer = await consent.permission(question.prompt, signal);
  return answer.allow || answer.reason === 'user'
    ? ok({ kind: 'permission', answer })
    : failed('no answer was given; the question is still waiting');
}

const OPTIONS: Readonly<Record<GrantDuration, string>> = {
  once: '--once',
  session: '--session',
  until: '--until TIME',
  permanent: '--always',
};

function offersOf({ question }: StoredPrompt): string {
  if (question.kind === 'choice') return [...question.prompt.choices, 'deny'].join(', ');
  const offered = new Set(termChoices(question.prompt.durations).map(({ duration }) => OPTIONS[duration]));
  return `allow ${[...offered].join(', ')}; deny`;
}
