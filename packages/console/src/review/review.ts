/**
 * Shows an app to the user, as a whole or as the difference to what was agreed to, with what is conspicuous in it, and
 * asks whether to agree. Every word of the app stands behind a gutter, with what is hidden in it made visible.
 *
 * What is agreed to here is what models read and grants are bound to. Silence declines.
 */

import { visibleLine, visibleLines } from '@cordon/core';
import { descriptionDigest, type Review, type Reviewer } from '@cordon/hub';
import type { Reply, Takes, Terminal } from '../terminal/terminal.ts';
import { FRAME, type Screen, type Style } from '../text/screen.ts';
import type { DiffLine } from '../text/text-diff.ts';
import { type AppPart, appParts, type PartDifference, partDifferences } from './app-text.ts';
import type { DescriptionFinding } from './finding.ts';

/** Lines of one part that are shown at once. */
const SHOWN_LINES = 24;
const SHOWN_FINDINGS = 20;
const PAGE_LINES = 30;
const MOST_ATTEMPTS = 5;

export interface TerminalReviewerParts {
  readonly screen: Screen;
  readonly terminal: Terminal;
  /** What is suspicious in the description. */
  readonly findings: (review: Review) => readonly DescriptionFinding[];
}

export class TerminalReviewer implements Reviewer {
  readonly #parts: TerminalReviewerParts;

  constructor(parts: TerminalReviewerParts) {
    this.#parts = parts;
  }

  agrees(review: Review, signal: AbortSignal): Promise<boolean> {
    return this.#parts.terminal.alone(async () => !signal.aborted && (await this.#ask(review, signal)));
  }

  async #ask(review: Review, signal: AbortSignal): Promise<boolean> {
    const { screen, findings } = this.#parts;
    const isLong = drawReview(screen, review, findings(review), SHOWN_LINES);
    const question = `${FRAME}Agree to this? [y] yes${isLong ? '  [v] view all' : ''}  [n] no (default) > `;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; ) {
      const reply = await this.#reply(question, 'answer', signal);
      if (reply.kind !== 'line') return false;
      const word = reply.text.trim().toLowerCase();
      if (word === 'v' && isLong) {
        if (!(await this.#view(review, signal))) return false;
        continue;
      }
      if (word === 'y' || word === 'yes') return true;
      if (word === '' || word === 'n' || word === 'no') return false;
      attempt++;
      screen.line(`${FRAME}Please answer with one of the letters in brackets.`);
    }
    return false;
  }

  /** Page by page; false: the input ended. */
  async #view(review: Review, signal: AbortSignal): Promise<boolean> {
    const { screen } = this.#parts;
    let onPage = 0;
    for (const line of reviewLines(review, screen.width)) {
      if (onPage === PAGE_LINES) {
        const reply = await this.#reply(
          `${FRAME}[Enter] next page  [q] back to the question > `,
          'page',
          signal,
        );
        if (reply.kind !== 'line') return false;
        if (reply.text.trim().toLowerCase().startsWith('q')) return true;
        onPage = 0;
      }
      line(screen);
      onPage++;
    }
    return true;
  }

  #reply(prompt: string, takes: Takes, signal: AbortSignal): Promise<Reply> {
    return this.#parts.terminal.ask({ prompt, takes }, signal);
  }
}

/** Returns whether something was left out. `most`: lines of each part. */
export function drawReview(
  screen: Screen,
  review: Review,
  findings: readonly DescriptionFinding[],
  most: number,
): boolean {
  const { app, before, stopped } = review;
  screen.line();
  const what = before === null ? 'a new app' : 'an app has changed';
  screen.line(screen.style('bold', `${FRAME}REVIEW: ${what}`));
  screen.say(`${FRAME}app:  `, app.id);
  if (before !== null) screen.say(`${FRAME}since:`, ` agreed to on ${dayOf(before.at)}`);
  if (stopped !== null)
    screen.say(`${FRAME}!! `, `it was stopped on ${dayOf(stopped.at)} for a different description`, 'bad');
  const isSame = before !== null && before.digest === review.digest;
  if (isSame)
    screen.say(
      `${FRAME}!! `,
      'its description is again the one that you agreed to, but was different in between',
      'bad',
    );
  let isLong = false;
  for (const block of blocksOf(review)) isLong = drawBlock(screen, block, most) || isLong;
  drawFindings(screen, findings);
  screen.say(`${FRAME}pin: `, descriptionDigest(review.description));
  return isLong;
}

/** A part of what is shown: its title, and its lines with the marks of a difference. */
interface Block {
  readonly title: string;
  readonly lines: readonly DiffLine[];
}

function blocksOf(review: Review): readonly Block[] {
  const now = appParts(review.configured, review.description);
  const { before, stopped } = review;
  if (before === null) return now.map(asBlock);
  const then = appParts(before.configured, before.description);
  const found = stopped === null ? null : appParts(stopped.configured, stopped.description);
  // What it said in between says most about it, where it says the agreed text again.
  const isBack = before.digest === review.digest && found !== null;
  return [
    ...partDifferences(then, isBack ? found : now).map((part) =>
      differenceBlock(part, isBack ? 'then' : 'now'),
    ),
    ...(found === null || isBack
      ? []
      : partDifferences(then, found).map((part) => differenceBlock(part, 'then'))),
  ];
}

function asBlock({ title, text }: AppPart): Block {
  return { title, lines: text.split('\n').map((line) => ({ kind: 'same', text: line })) };
}

function differenceBlock({ title, kind, lines }: PartDifference, when: 'now' | 'then'): Block {
  const what = kind === 'changed' ? 'changed' : kind === 'new' ? 'new' : 'no longer there';
  return { title: `${title} (${what}${when === 'then' ? ', when it was stopped' : ''})`, lines };
}

const MARKS: Readonly<Record<DiffLine['kind'], { mark: string; style: Style }>> = {
  place: { mark: '@@ ', style: 'dim' },
  same: { mark: '  ', style: 'plain' },
  removed: { mark: '- ', style: 'bad' },
  added: { mark: '+ ', style: 'good' },
};

function drawBlock(screen: Screen, block: Block, most: number): boolean {
  let left = 0;
  let count = 0;
  screen.say(FRAME, visibleLine(block.title), 'bold');
  for (const line of blockLines(block, screen.width)) {
    if (count++ < most) line(screen);
    else left++;
  }
  if (left > 0) screen.say(`${FRAME}more: `, `${left} lines`);
  return left > 0;
}

type Draw = (screen: Screen) => void;

/** Cordon's mark begins every line that the terminal shows, also the continuation of a long one. */
function* blockLines({ lines }: Block, width: number): Generator<Draw> {
  for (const { kind, text } of lines) {
    const { mark, style } = MARKS[kind];
    for (const shown of visibleLines(text, width - 4 - mark.length))
      yield (screen) => screen.quotedLine(screen.style(style, mark + shown));
  }
}

function* reviewLines(review: Review, width: number): Generator<Draw> {
  for (const block of blocksOf(review)) {
    yield (screen) => screen.say(FRAME, visibleLine(block.title), 'bold');
    yield* blockLines(block, width);
  }
}

/** What the scan says, in our words, with the place and a piece of the text. */
export function drawFindings(screen: Screen, findings: readonly DescriptionFinding[]): void {
  if (findings.length === 0) {
    screen.say(FRAME, 'the scan found nothing suspicious, which does not prove that the app is safe', 'dim');
    return;
  }
  for (const finding of findings.slice(0, SHOWN_FINDINGS))
    screen.say(`${FRAME}look: `, findingText(finding), 'warn', 4);
  const more = findings.length - SHOWN_FINDINGS;
  if (more > 0) screen.say(`${FRAME}look: `, `and at ${more} more places`, 'warn');
}

export function findingText({ kind, where, range, excerpt }: DescriptionFinding): string {
  return `${FINDING_WORDS[kind]} (${visibleLine(where, 100)}, ${range.start}–${range.end}): ${visibleLine(excerpt, 140)}`;
}

const FINDING_WORDS: Readonly<Record<DescriptionFinding['kind'], string>> = {
  'hidden-text': 'invisible characters',
  'text-direction': 'characters that reorder what is shown',
  'look-alike': 'letters of two scripts in one word',
  'pushed-away': 'a long blank area that may hide text',
  instruction: 'an instruction to the model',
  secrecy: 'asks the model to hide something from you',
  'wide-request': 'asks for more than a tool needs',
  'other-app': 'names another app or its tool',
  encoded: 'encoded text',
  address: 'an address',
  'very-long': 'longer than a tool needs',
};

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
