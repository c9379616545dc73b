/** Takes one member out of a JSON text that a person wrote. */
import { blankEnd, type JsonMember } from '@cordon/config/reading';

/**
 * The text without one member of an object. All that stands around it stays as it is, comments too; a line that held
 * nothing else goes with it.
 *
 * @param members of the object, as they were parsed from this text
 */
export function withoutMember(text: string, members: readonly JsonMember[], member: JsonMember): string {
  const { start } = member.keySpan;
  const { end } = member.value.span;
  const behind = blankEnd(text, end);
  const hasComma = text[behind] === ',';
  const head = text.slice(0, start);
  const tail = hasComma ? text.slice(end, behind) + text.slice(behind + 1) : text.slice(end);
  const before = members[members.indexOf(member) - 1];
  if (hasComma || before === undefined) return joined(head, tail);
  // The comma before the last member no longer separates anything.
  const comma = blankEnd(text, before.value.span.end);
  return joined(head.slice(0, comma) + head.slice(comma + 1), tail);
}

/** Closes a gap: where nothing else is in its line, the line goes. */
function joined(head: string, tail: string): string {
  const indent = /(?:^|\n)([ \t]*)$/.exec(head)?.[1];
  const rest = /^[ \t]*(\r?\n)?/.exec(tail) ?? [''];
  const isLine = indent !== undefined && rest[1] !== undefined;
  return isLine
    ? head.slice(0, head.length - indent.length) + tail.slice(rest[0].length)
    : head + tail.replace(/^[ \t]+/, '');
}
