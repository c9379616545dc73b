/**
 * Which part of a message counts as the user's own words. Attack: a mail or a web page that the user pastes into a query says
 * "my name is Mallory", and that becomes a fact about the user.
 */

/** Longer texts are pasted, not stated. */
const MOST_CHARACTERS = 4_000;

/** From such a line on, the text is somebody else's. */
const FORWARDED =
  /^\s*(?:-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht)|begin forwarded message:|anfang der weitergeleiteten nachricht:|(?:from|von):.{0,200}@)|(?:^|\s)wrote:\s*$|\sschrieb(?:\s.{1,200})?:\s*$/iu;
/** The head of an answer may take two lines. */
const ANSWERED = /^\s*(?:on\s.{1,300}\swrote|am\s.{1,300}\sschrieb(?:\s.{1,200})?):\s*$/iu;
/** The first line of a mail's head, where another one of these follows: a journey is from somewhere, too. */
const SENDER = /^\s*(?:from|von):/iu;
const OF_A_HEAD = /^\s*(?:sent|subject|gesendet|betreff):/iu;
const LINES_OF_A_HEAD = 6;
/** Longer lines are no head of a mail. */
const MOST_OF_A_HEAD = 400;

/** Fenced blocks, from the first sign of a fence to the last. */
const FENCE = /```|~~~/g;
/** Straight signs open a quotation where no letter or digit stands before them: `27" wide`. */
const OPENING = /[“„”‚‘«»‹›「＂]|(?<![\p{L}\p{N}])["'`]/gu;
/** By the sign that opens a quotation: the signs that close it. */
const CLOSING: ReadonlyMap<string, string> = new Map([
  ['“', '”'],
  ['”', '”'],
  ['„', '“”'],
  ['‚', '‘’'],
  ['‘', '’'],
  ['«', '»'],
  ['»', '«'],
  ['‹', '›'],
  ['›', '‹'],
  ['「', '」'],
  ['＂', '＂'],
]);

/**
 * A message without what it quotes: fenced blocks, lines that begin with `>`, what follows the head of a forwarded mail, and
 * what stands in quotation marks. A short value in quotation marks stays: `my city is "Turin"`.
 *
 * Attack: a quoted text that holds a sign which closes the quotation, and another that opens one. So a quotation ends with the
 * last sign of its kind, and with the message where there is none.
 */
export function unquotedText(message: string): string {
  return withoutQuotations(unquotedLines(message)).slice(0, MOST_CHARACTERS);
}

/**
 * A message without the blocks in it that somebody else wrote: fenced ones, lines that begin with `>`, and forwarded mails. What
 * stands in quotation marks may be what the user wants to be sent, and stays.
 */
export function unquotedLines(message: string): string {
  const lines = withoutFences(message).split('\n');
  const forwarded = lines.findIndex((_, at) => isForwarded(lines, at));
  const written = forwarded === -1 ? lines : lines.slice(0, forwarded);
  return written.filter((line) => !/^[\s|]*[>＞]/u.test(line)).join('\n');
}

function isForwarded(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (line.length > MOST_OF_A_HEAD) return false;
  const next = lines.slice(at + 1, at + LINES_OF_A_HEAD).map((other) => other.slice(0, MOST_OF_A_HEAD));
  return (
    FORWARDED.test(line) ||
    ANSWERED.test(`${line} ${next[0] ?? ''}`) ||
    (SENDER.test(line) && next.some((other) => OF_A_HEAD.test(other)))
  );
}

function withoutFences(text: string): string {
  const fences = [...text.matchAll(FENCE)].map(({ index }) => index);
  const first = fences[0];
  if (first === undefined) return text;
  // A fence that nobody closes reaches to the end.
  const last = fences.length % 2 === 0 ? (fences.at(-1) ?? first) + 3 : text.length;
  return `${text.slice(0, first)}\n${text.slice(last)}`;
}

function withoutQuotations(text: string): string {
  let kept = 0;
  for (const { 0: opening, index } of text.matchAll(OPENING)) {
    if (index < kept) continue;
    const closes = (at: number) => isClosing(text, at, opening);
    const first = nextPlace(text, index + 1, closes);
    if (first !== null && isValue(text.slice(index + 1, first), text.slice(0, index))) {
      kept = first + 1;
      continue;
    }
    const last = first === null ? null : lastPlace(text, first, closes);
    return `${text.slice(0, index)}\n${last === null ? '' : withoutQuotations(text.slice(last + 1))}`;
  }
  return text;
}

/** `It’s` closes nothing. */
function isClosing(text: string, at: number, opening: string): boolean {
  const closing = CLOSING.get(opening) ?? opening;
  return closing.includes(text.charAt(at)) && !/[\p{L}\p{N}]/u.test(text.charAt(at + 1));
}

function nextPlace(text: string, from: number, is: (at: number) => boolean): number | null {
  for (let at = from; at < text.length; at++) if (is(at)) return at;
  return null;
}

function lastPlace(text: string, first: number, is: (at: number) => boolean): number {
  for (let at = text.length - 1; at > first; at--) if (is(at)) return at;
  return first;
}

/** Whether the quotation can only be the value of a statement, and is no statement itself. */
function isValue(quoted: string, before: string): boolean {
  const isShort = quoted.length <= 60 && !/[=:\n]|\b(?:is|are|am|ist|sind|bin)\b/iu.test(quoted);
  return isShort && /(?:=|\b(?:is|are|ist|lautet|sind))\s*$/iu.test(before.slice(-12));
}
