/**
 * Draws the consent question on the terminal and reads the answer. What the user sees here is the ground of every
 * grant, so whatever an app wrote is escaped, framed and shortened before it is shown, and silence denies.
 *
 * Ring 0: this is the trusted path between the hub and the user (with screen.ts, terminal.ts, visible-text.ts).
 */
import type {
  AppId,
  ChoicePrompt,
  Consent,
  GrantDuration,
  PermissionAnswer,
  PermissionPrompt,
  PermissionScope,
  PromptDatum,
} from '@cordon/core';
import type { Screen, Style } from './screen.ts';
import type { Reply, Terminal } from './terminal.ts';
import { visibleLine, visibleLines, wrap } from './visible-text.ts';

/** Lines of one datum that are shown at once, and data of one prompt. */
const SHOWN_LINES = 12;
const SHOWN_DATA = 20;
const PAGE_LINES = 30;
/** Begins every line of ours; nothing that others wrote ever stands at column 0. */
const FRAME = '▐ ';
const INDENT = '      ';
/** Characters of a question, a name, a warning. */
const MOST_WORDS = 600;
/** Answers that are none before the question counts as denied: a pipe of noise must end. */
const MOST_ATTEMPTS = 5;

const DENIED: PermissionAnswer = Object.freeze({ allow: false, reason: 'user' });
const UNANSWERED: PermissionAnswer = Object.freeze({ allow: false, reason: 'no-answer' });

/** Asks on a terminal. Prompts that arrive together are asked one after the other. */
export class TerminalConsent implements Consent {
  readonly #screen: Screen;
  readonly #terminal: Terminal;
  readonly #weaker: readonly string[];
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #shown = 0;

  /** `weaker`: layers of the sandbox that this session goes without; a question is answered otherwise then. */
  constructor(screen: Screen, terminal: Terminal, weaker: readonly string[] = []) {
    this.#screen = screen;
    this.#terminal = terminal;
    this.#weaker = weaker;
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    return this.#enqueue(signal, UNANSWERED, (position) => this.#askPermission(prompt, position, signal));
  }

  choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<AppId | null> {
    return this.#enqueue(signal, null, (position) => this.#askChoice(prompt, position, signal));
  }

  #enqueue<T>(signal: AbortSignal, absent: T, ask: (position: string) => Promise<T>): Promise<T> {
    this.#waiting++;
    const turn = this.#last.then(async () => {
      if (signal.aborted) return absent;
      this.#shown++;
      return ask(this.#position());
    });
    this.#last = turn.then(
      () => this.#left(),
      () => this.#left(),
    );
    return untilAborted(turn, absent, signal);
  }

  #left(): void {
    this.#waiting--;
    if (this.#waiting === 0) this.#shown = 0;
  }

  /** ` 2 of 3`, counted since questions last ran out; nothing for a single one. */
  #position(): string {
    const total = this.#shown + this.#waiting - 1;
    return total > 1 ? ` ${this.#shown} of ${total}` : '';
  }

  async #askPermission(
    prompt: PermissionPrompt,
    position: string,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    const isLong = this.#drawPermission(prompt, position);
    const question = permissionChoices(prompt.durations, isLong);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; ) {
      const reply = await this.#ask(question, signal);
      if (reply.kind !== 'line') return denialOf(reply);
      const word = reply.text.trim().toLowerCase();
      if ((word === 'v' || word === 'view') && isLong) {
        const left = await this.#view(prompt.data, signal);
        if (left !== null) return denialOf(left);
        continue;
      }
      const answer = permissionAnswer(word, prompt.durations);
      if (answer !== null) return this.#confirmed(answer);
      attempt++;
      this.#screen.line(`${FRAME}Please answer with one of the letters in brackets.`);
    }
    return UNANSWERED;
  }

  #confirmed(answer: PermissionAnswer): PermissionAnswer {
    const words = answer.allow ? `allowed, ${DURATION_WORDS[answer.duration]}` : 'not allowed';
    this.#screen.line(this.#screen.style(answer.allow ? 'good' : 'bad', `${FRAME}${words}`));
    return answer;
  }

  /** Returns whether something was left out that `v` shows. */
  #drawPermission(prompt: PermissionPrompt, position: string): boolean {
    const { from, to, what, scope } = prompt.subject;
    const screen = this.#screen;
    screen.line();
    screen.line(screen.style('bold', `${FRAME}PERMISSION${position}: ${SCOPE_WORDS[scope]}`));
    this.#say('ask: ', prompt.question);
    this.#say('from:', from ?? 'Cordon itself, or a context without app');
    this.#say('to:  ', to ?? 'you, or nobody');
    this.#say('what:', what);
    if (this.#weaker.length > 0)
      this.#say('!!', `the sandbox is weaker: without ${this.#weaker.join(', ')}`, 'bad');
    this.#say(
      'plan:',
      prompt.expected ? 'expected for your request' : 'NOT part of the plan for your request',
    );
    for (const rule of prompt.rules) this.#say('rule:', rule);
    for (const warning of prompt.warnings) this.#say('WARNING:', warning, 'warn');
    return this.#drawData(prompt.data);
  }

  #drawData(data: readonly PromptDatum[]): boolean {
    let isLong = false;
    for (const datum of data.slice(0, SHOWN_DATA)) {
      this.#say(
        'data:',
        `${visibleLine(datum.name, 80)}, ${datum.value.length} characters, perhaps written by others`,
      );
      const more = this.#screen.quote(datum.value, SHOWN_LINES);
      if (more === 0) continue;
      isLong = true;
      this.#say('more:', `${more} lines, answer v to view them`);
    }
    if (data.length <= SHOWN_DATA) return isLong;
    this.#say('more:', `${data.length - SHOWN_DATA} data, answer v to view them`);
    return true;
  }

  /**
   * A line of the prompt, led by a label of ours. Names and rules may come from a manifest, a policy or a tool list:
   * they are escaped like everything else. Attack: a name so long that its second line reads `▐ Allow?`; lines that
   * go on are indented, so that no line of the frame begins with words of others.
   */
  #say(label: string, text: string, style: Style = 'plain'): void {
    const [first = '', ...others] = wrap(
      `${label} ${visibleLine(text, MOST_WORDS)}`,
      this.#screen.width - FRAME.length - INDENT.length,
    );
    this.#screen.line(this.#screen.style(style, FRAME + first));
    for (const line of others) this.#screen.line(this.#screen.style(style, FRAME + INDENT + line));
  }

  /** All data page by page; null when the user came back from it, else how the input ended. */
  async #view(data: readonly PromptDatum[], signal: AbortSignal): Promise<Reply | null> {
    for (const datum of data) {
      this.#say('data:', visibleLine(datum.name, 80));
      let onPage = 0;
      for (const line of visibleLines(datum.value, this.#screen.width - 4)) {
        if (onPage === PAGE_LINES) {
          const reply = await this.#ask(`${FRAME}[Enter] next page  [q] back to the question > `, signal);
          if (reply.kind !== 'line') return reply;
          if (reply.text.trim().toLowerCase().startsWith('q')) return null;
          onPage = 0;
        }
        this.#screen.quotedLine(line);
        onPage++;
      }
    }
    return null;
  }

  async #askChoice(prompt: ChoicePrompt, position: string, signal: AbortSignal): Promise<AppId | null> {
    const { choices } = prompt;
    this.#screen.line();
    this.#screen.line(this.#screen.style('bold', `${FRAME}CHOICE${position}: which app`));
    this.#say('ask: ', prompt.question);
    for (const [index, choice] of choices.entries()) this.#say(`[${index + 1}]`, choice);
    this.#say('[n]', 'none of them (default)');
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const reply = await this.#ask(`${FRAME}Which one? > `, signal);
      if (reply.kind !== 'line') return null;
      const word = reply.text.trim();
      if (DENIALS.has(word.toLowerCase())) return null;
      const chosen = choices.find((choice, index) => word === String(index + 1) || word === choice);
      if (chosen !== undefined) return chosen;
      this.#screen.line(`${FRAME}Please answer with a number from 1 to ${choices.length}, or n.`);
    }
    return null;
  }

  #ask(prompt: string, signal: AbortSignal): Promise<Reply> {
    return this.#terminal.ask({ prompt, acceptsEarlier: false }, signal);
  }
}

/** A question that waits behind others ends with its signal, not with theirs. */
function untilAborted<T>(turn: Promise<T>, absent: T, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.resolve(absent);
  return new Promise((resolve, reject) => {
    const abort = () => resolve(absent);
    signal.addEventListener('abort', abort, { once: true });
    turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const DENIALS: ReadonlySet<string> = new Set(['', 'n', 'no', 'none']);

const DURATION_WORDS: Readonly<Record<GrantDuration, string>> = {
  once: 'this once',
  session: 'for this session',
  permanent: 'permanently; `cordon grants` lists and revokes it',
};

const DURATION_CHOICES: Readonly<Record<GrantDuration, { words: readonly string[]; label: string }>> = {
  once: { words: ['o', 'once', 'y', 'yes'], label: '[o] once' },
  session: { words: ['s', 'session'], label: '[s] this session' },
  permanent: { words: ['p', 'permanent', 'permanently'], label: '[p] permanently' },
};

const DURATION_ORDER = ['once', 'session', 'permanent'] as const;

const SCOPE_WORDS: Readonly<Record<PermissionScope, string>> = {
  'app-selection': 'an app serves your request',
  exchange: 'an app asks another app',
  response: 'an answer goes to another app',
  'data-release': 'an app gets to read data',
  'irreversible-action': 'an action that cannot be undone',
  egress: 'an app talks to a site',
  policy: 'a rule of your policy asks',
};

function permissionChoices(durations: readonly GrantDuration[], isLong: boolean): string {
  const offered = DURATION_ORDER.filter((duration) => durations.includes(duration));
  const labels = offered.map((duration) => DURATION_CHOICES[duration].label);
  return `${FRAME}Allow? ${[...labels, ...(isLong ? ['[v] view all'] : []), '[n] no (default)'].join('  ')} > `;
}

/** Null: the word means nothing here, e.g. `p` where permanent is not offered. */
function permissionAnswer(word: string, durations: readonly GrantDuration[]): PermissionAnswer | null {
  if (DENIALS.has(word)) return DENIED;
  const duration = durations.find((candidate) => DURATION_CHOICES[candidate].words.includes(word));
  return duration === undefined ? null : { allow: true, duration };
}

function denialOf(reply: Reply): PermissionAnswer {
  return reply.kind === 'interrupted' ? DENIED : UNANSWERED;
}
