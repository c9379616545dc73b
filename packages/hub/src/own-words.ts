/**
 * Which part of a message counts as the user's own words. Attack: a mail or a web page that the user pastes into a query says
 * "my name is Mallory", and that becomes a fact about the user.
 *
 * Ring 0.
 */

/** Longer texts are pasted, not stated. */
const MOST_CHARACTERS = 4_000;

/** From such a line on, the text is somebody else's. */
const FORWARDED =
  /^\s*(?:-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht)|(?:from|von):.{0,200}@|on .{1,200} wrote:\s*$|am .{1,200} schrieb .{1,200}:\s*$)/iu;
/** Quotation marks, in pairs. */
const QUOTED = /“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)|"[^"]*"/gu;
const FENCE = '```';

/**
 * A message without what it quotes: fenced blocks, lines that begin with `>`, what follows the head of a forwarded mail, and
 * what stands in quotation marks. A short value in quotation marks stays: `my city is "Turin"`.
 */
export function ownWords(message: string): string {
  const lines = withoutFences(message.slice(0, MOST_CHARACTERS)).split('\n');
  const forwarded = lines.findIndex((line) => FORWARDED.test(line));
  const written = forwarded === -1 ? lines : lines.slice(0, forwarded);
  const text = written.filter((line) => !/^\s*>/.test(line)).join('\n');
  return text.replace(QUOTED, (quoted: string, at: number) =>
    isValue(quoted.slice(1, -1), text.slice(0, at)) ? quoted : '\n',
  );
}

/** The even pieces are outside of fences; an unclosed fence reaches to the end. */
function withoutFences(text: string): string {
  return text
    .split(FENCE)
    .filter((_, index) => index % 2 === 0)
    .join('\n');
}

/** Whether the quotation can only be the value of a statement, and is no statement itself. */
function isValue(quoted: string, before: string): boolean {
  const isShort = quoted.length <= 60 && !/[=:\n]|\b(?:is|are|am|ist|sind|bin)\b/iu.test(quoted);
  return isShort && /(?:=|\b(?:is|are|ist|lautet|sind))\s*$/iu.test(before.slice(-12));
}
