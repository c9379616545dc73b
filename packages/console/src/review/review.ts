/**
 * Shows an app to the user, or the difference to what was agreed to, on one screen, with what is conspicuous in it, and
 * asks whether to agree; a key shows every text. Every word of the app stands behind a gutter, with what is hidden in it
 * made visible.
 *
 * What is agreed to here is what models read and grants are bound to. Silence declines.
 */

import { visibleLine, visibleLines } from '@cordon/core';
import { descriptionDigest, type Review, type Reviewed, type Reviewer } from '@cordon/hub';
import type { Reply, Takes, Terminal } from '../terminal/terminal.ts';
import { FRAME, type Screen, type Style } from '../text/screen.ts';
import type { DiffLine } from '../text/text-diff.ts';
import {
  type AppPart,
  appParts,
  instructionsPart,
  leftOutPart,
  type PartDifference,
  reviewDifferences,
  toolTitle,
} from './app-text.ts';
import type { DescriptionFinding } from './finding.ts';
import { overviewOf, sourceOf, toolChanges } from './overview.ts';
import { changeRows, type Row, toolRows } from './tool-rows.ts';

/** Lines of a review with its question, if there are no findings. */
const SHOWN_LINES = 40;
const SHOWN_FINDINGS = 8;
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
    const found = findings(review);
    drawReview(screen, review, found, 1);
    const question = `${FRAME}Agree to this? [y] yes  [v] view all  [v TOOL] one  [n] no (default) > `;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; ) {
      const reply = await this.#reply(question, 'answer', signal);
      if (reply.kind !== 'line') return false;
      const [word = '', tool = null] = reply.text.trim().split(/ +/);
      if (word.toLowerCase() === 'v') {
        const lines =
          tool === null ? wholeLines(screen, review, found) : oneTool(screen, review, found, tool);
        if (!(await this.#view(lines, signal))) return false;
        continue;
      }
      const answer = tool === null ? word.toLowerCase() : reply.text;
      if (answer === 'y' || answer === 'yes') return true;
      if (answer === '' || answer === 'n' || answer === 'no') return false;
      attempt++;
      screen.line(`${FRAME}Please answer with one of the letters in brackets.`);
    }
    return false;
  }

  /** Page by page; false: the input ended. */
  async #view(lines: Iterable<string>, signal: AbortSignal): Promise<boolean> {
    const { screen } = this.#parts;
    let onPage = 0;
    for (const line of lines) {
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
      screen.line(line);
      onPage++;
    }
    return true;
  }

  #reply(prompt: string, takes: Takes, signal: AbortSignal): Promise<Reply> {
    return this.#parts.terminal.ask({ prompt, takes }, signal);
  }
}

/**
 * What a person has to see before an answer, on one screen: rights, tools in one line each, findings. Every text and schema
 * is in `drawWhole`. `besides`: lines that follow, such as the question.
 */
export function drawReview(
  screen: Screen,
  review: Review,
  findings: readonly DescriptionFinding[],
  besides = 0,
): void {
  const head = headLines(screen, review);
  const closing = findingLines(screen, findings, SHOWN_FINDINGS);
  const room = SHOWN_LINES - besides - head.length - closing.length;
  const body =
    review.before === null
      ? newAppLines(screen, review, findings, room)
      : changeLines(screen, review, review.before, room);
  for (const line of [...head, ...body, ...closing]) screen.line(line);
}

/** Every text and schema, of a changed app every difference, and the pin of the description. */
export function drawWhole(screen: Screen, review: Review, findings: readonly DescriptionFinding[]): void {
  for (const line of wholeLines(screen, review, findings)) screen.line(line);
}

function headLines(screen: Screen, review: Review): readonly string[] {
  const { app, before, stopped, digest } = review;
  const what = before === null ? 'a new app' : 'an app has changed';
  const isSame = before !== null && before.digest === digest;
  const bad = (text: string) => screen.sentence(`${FRAME}!! `, text, 'bad');
  return [
    '',
    screen.style('bold', `${FRAME}REVIEW: ${what}`),
    ...(before === null
      ? labelled(screen, 'app', `${app.id}, which ${sourceOf(app)}`)
      : [
          ...labelled(screen, 'app', app.id),
          ...labelled(screen, 'since', `agreed to on ${dayOf(before.at)}`),
        ]),
    ...(stopped === null ? [] : bad(`it was stopped on ${dayOf(stopped.at)} for a different description`)),
    ...(isSame
      ? bad('its description is again the one that you agreed to, but was different in between')
      : []),
  ];
}

function newAppLines(
  screen: Screen,
  review: Review,
  findings: readonly DescriptionFinding[],
  room: number,
): readonly string[] {
  const { rights, tools } = overviewOf(review);
  const begun = (part: AppPart) => blockLines(screen, textBlock(part), PART_LINES);
  const before = [
    ...rights.flatMap(({ name, value }) => labelled(screen, name, value)),
    ...instructionsPart(review.description).flatMap(begun),
  ];
  const after = leftOutPart(review.description).flatMap(begun);
  // Attack: a hidden character in each of a thousand tools would give each a line.
  const shown = eachToolFirst(findings).slice(0, SHOWN_FINDINGS);
  const found = new Set(shown.map(({ tool }) => tool ?? ''));
  const rows = toolRows(tools, found, room - before.length - after.length, screen.width);
  return [...before, ...rowLines(screen, rows), ...after];
}

/** Lines of one right, and of a text that is not a tool's. */
const RIGHT_LINES = 4;
const PART_LINES = 3;
const LONGEST_LABEL = 'secrets:'.length;

function labelled(screen: Screen, label: string, value: string): readonly string[] {
  return screen.sentence(`${FRAME}${`${label}:`.padEnd(LONGEST_LABEL)} `, value, 'plain', RIGHT_LINES);
}

function rowLines(screen: Screen, rows: readonly Row[]): readonly string[] {
  return rows.map(({ by, text }) =>
    by === 'app' ? screen.quoted(text) : screen.style('bold', `${FRAME}${text}`),
  );
}

/** What was agreed to, and what is compared with it. */
interface Comparison {
  readonly before: Reviewed;
  readonly after: Pick<Reviewed, 'configured' | 'description'>;
  /** `stopped`: what the app said when it was stopped. */
  readonly when: 'now' | 'stopped';
}

function comparisonsOf(review: Review, before: Reviewed): readonly Comparison[] {
  const { stopped } = review;
  const then: readonly Comparison[] = stopped === null ? [] : [{ before, after: stopped, when: 'stopped' }];
  // What it said in between says most about it, where it says the agreed text again.
  if (before.digest === review.digest && then.length > 0) return then;
  return [{ before, after: review, when: 'now' }, ...then];
}

/** Tools in one line each, and below them what differs in those that were there before. */
function changeLines(screen: Screen, review: Review, agreed: Reviewed, room: number): readonly string[] {
  const lines: string[] = [];
  for (const { before, after, when } of comparisonsOf(review, agreed)) {
    const changes = toolChanges(review.app, before.description, after.description);
    const listed = new Set(
      changes.flatMap(({ kind, tool }) => (kind === 'changed' ? [] : [toolTitle(tool.name)])),
    );
    const rows = changeRows(changes, WHEN[when], Math.trunc((room - lines.length) / 2), screen.width);
    lines.push(...rowLines(screen, rows));
    const blocks = reviewDifferences(before, after).filter(({ title }) => !listed.has(title));
    for (const [index, part] of blocks.entries()) {
      const left = room - lines.length - LEAST_BLOCK * (blocks.length - index - 1);
      if (left < LEAST_BLOCK && lines.length >= room) {
        lines.push(...screen.sentence(`${FRAME}more: `, `${blocks.length - index} other parts differ`));
        break;
      }
      lines.push(...blockLines(screen, differenceBlock(part, when), Math.max(LEAST_BLOCK, left) - 2));
    }
  }
  return lines;
}

const WHEN: Readonly<Record<Comparison['when'], string>> = { now: '', stopped: ', when it was stopped' };
/** A title, three lines, and how many more there are. */
const LEAST_BLOCK = 5;

/** A part of what is shown: its title, and its lines with the marks of a difference. */
interface Block {
  readonly title: string;
  readonly lines: readonly DiffLine[];
}

function blocksOf(review: Review): readonly Block[] {
  const { before } = review;
  if (before === null) return appParts(review.configured, review.description).map(textBlock);
  return comparisonsOf(review, before).flatMap((compared) =>
    reviewDifferences(compared.before, compared.after).map((part) => differenceBlock(part, compared.when)),
  );
}

function textBlock({ title, text }: AppPart): Block {
  return { title, lines: text.split('\n').map((line) => ({ kind: 'same', text: line })) };
}

function differenceBlock({ title, kind, lines }: PartDifference, when: Comparison['when']): Block {
  const what = kind === 'changed' ? 'changed' : kind === 'new' ? 'new' : 'no longer there';
  return { title: `${title} (${what}${WHEN[when]})`, lines };
}

const MARKS: Readonly<Record<DiffLine['kind'], { mark: string; style: Style }>> = {
  place: { mark: '@@ ', style: 'dim' },
  same: { mark: '  ', style: 'plain' },
  removed: { mark: '- ', style: 'bad' },
  added: { mark: '+ ', style: 'good' },
};

/** At most `most` of its lines, and how many more there are. */
function blockLines(screen: Screen, block: Block, most: number): readonly string[] {
  const shown: string[] = [];
  let left = 0;
  for (const line of quotedLines(screen, block)) {
    if (shown.length < most) shown.push(line);
    else left++;
  }
  return [
    ...titleLines(screen, block),
    ...shown,
    ...(left > 0 ? screen.sentence(`${FRAME}more: `, `${left} lines`) : []),
  ];
}

function titleLines(screen: Screen, { title }: Block): readonly string[] {
  return screen.sentence(FRAME, visibleLine(title), 'bold');
}

/** Cordon's mark begins every line that the terminal shows, also the continuation of a long one. */
function* quotedLines(screen: Screen, { lines }: Block): Generator<string> {
  for (const { kind, text } of lines) {
    const { mark, style } = MARKS[kind];
    for (const shown of visibleLines(text, screen.width - 4 - mark.length))
      yield screen.quoted(screen.style(style, mark + shown));
  }
}

function* wholeBlock(screen: Screen, block: Block): Generator<string> {
  yield* titleLines(screen, block);
  yield* quotedLines(screen, block);
}

function* wholeLines(
  screen: Screen,
  review: Review,
  findings: readonly DescriptionFinding[],
): Generator<string> {
  for (const block of blocksOf(review)) yield* wholeBlock(screen, block);
  yield* findingLines(screen, findings, Number.POSITIVE_INFINITY);
  yield* screen.sentence(`${FRAME}pin: `, descriptionDigest(review.description));
}

/** Every text of one tool as it is now. */
function* oneTool(
  screen: Screen,
  { configured, description }: Review,
  findings: readonly DescriptionFinding[],
  tool: string,
): Generator<string> {
  const part = appParts(configured, description).find(({ title }) => title === toolTitle(tool));
  if (part === undefined) {
    yield* screen.sentence(FRAME, `the app has no tool \`${visibleLine(tool, 60)}\``);
    return;
  }
  yield* wholeBlock(screen, textBlock(part));
  const own = findings.filter((finding) => finding.tool === tool);
  if (own.length > 0) yield* findingLines(screen, own, Number.POSITIVE_INFINITY);
}

/** What the scan says, in our words, with the place and a piece of the text. */
export function drawFindings(screen: Screen, findings: readonly DescriptionFinding[]): void {
  for (const line of findingLines(screen, findings, Number.POSITIVE_INFINITY)) screen.line(line);
}

function findingLines(
  screen: Screen,
  findings: readonly DescriptionFinding[],
  most: number,
): readonly string[] {
  if (findings.length === 0)
    return screen.sentence(
      FRAME,
      'the scan found nothing suspicious, which does not prove that the app is safe',
      'dim',
    );
  const shown = eachToolFirst(findings).slice(0, most);
  const more = findings.length - shown.length;
  return [
    ...shown.flatMap((finding) => screen.sentence(`${FRAME}look: `, findingText(finding), 'warn', 4)),
    ...(more > 0 ? screen.sentence(`${FRAME}look: `, `and at ${more} more places`, 'warn') : []),
  ];
}

/** Attack: eight harmless-looking findings in one tool push the one that matters out of what is shown. */
function eachToolFirst(findings: readonly DescriptionFinding[]): readonly DescriptionFinding[] {
  const seen = new Set<string | null>();
  const [first, later]: [DescriptionFinding[], DescriptionFinding[]] = [[], []];
  for (const finding of findings) {
    (seen.has(finding.tool) ? later : first).push(finding);
    seen.add(finding.tool);
  }
  return [...first, ...later];
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
