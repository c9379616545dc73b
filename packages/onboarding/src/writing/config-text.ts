/**
 * Changes of a `cordon.json` that a person wrote: what is added gets its place, comments and all other text stay as they
 * are, and so do keys of other programs.
 */
import { blankEnd, type JsonMember, parseJsonFile } from '@cordon/config/reading';
import { failed, ok, type Result } from '@cordon/core';
import { type PrintedMember, printInline, printMembers, printMemberValue } from './json-print.ts';

type Node = JsonMember['value'];
type ObjectNode = Extract<Node, { kind: 'object' }>;

/**
 * Puts a member below `path`, whose objects are made where they are absent. A member of this key that is there already is
 * replaced.
 */
export function withMember(
  text: string,
  path: readonly string[],
  member: PrintedMember,
): Result<string, string> {
  const root = objectIn(text);
  if (!root.ok) return root;
  return inserted(text, root.value, path, member, '');
}

/** Takes a member out, with the line that held nothing else. */
export function withoutPath(text: string, path: readonly string[]): Result<string, string> {
  const root = objectIn(text);
  if (!root.ok) return root;
  let object = root.value;
  for (const key of path.slice(0, -1)) {
    const next = memberOf(object, key)?.value;
    if (next?.kind !== 'object') return ok(text);
    object = next;
  }
  const member = memberOf(object, path.at(-1) ?? '');
  return ok(member === null ? text : withoutMember(text, object.members, member));
}

function objectIn(text: string): Result<ObjectNode, string> {
  const tree = parseJsonFile('cordon.json', text);
  if (!tree.ok) return failed(tree.fault.message);
  return tree.value.kind === 'object' ? ok(tree.value) : failed('the file is not an object');
}

function memberOf(object: ObjectNode, key: string): JsonMember | null {
  return object.members.find((member) => member.key === key) ?? null;
}

function inserted(
  text: string,
  object: ObjectNode,
  path: readonly string[],
  member: PrintedMember,
  outer: string,
): Result<string, string> {
  const indent = indentOf(text, object, outer);
  const [next, ...rest] = path;
  if (next === undefined) return ok(placed(text, object, member, indent));
  const found = memberOf(object, next);
  if (found === null) return ok(placed(text, object, nested(path, member), indent));
  if (found.value.kind !== 'object') return failed(`\`${next}\` is not an object`);
  return inserted(text, found.value, rest, member, indent);
}

function nested([key = '', ...rest]: readonly string[], member: PrintedMember): PrintedMember {
  return { key, value: [rest.length === 0 ? member : nested(rest, member)] };
}

/** Of the members of an object: that of its first one, where it begins a line. */
function indentOf(text: string, object: ObjectNode, outer: string): string {
  const [first] = object.members;
  const before = first === undefined ? null : /(?:^|\n)([ \t]*)$/.exec(text.slice(0, first.keySpan.start));
  return before?.[1] ?? `${outer}  `;
}

function isInOneLine(text: string, { span }: ObjectNode): boolean {
  return !text.slice(span.start, span.end).includes('\n');
}

function placed(text: string, object: ObjectNode, member: PrintedMember, indent: string): string {
  const old = memberOf(object, member.key);
  if (old !== null) {
    const value = printMemberValue(member, indent);
    return text.slice(0, old.value.span.start) + value + text.slice(old.value.span.end);
  }
  const printed = printMembers([member], indent);
  const last = object.members.at(-1);
  if (last === undefined) {
    const { start } = object.span;
    return `${text.slice(0, start)}{\n${printed}\n${indent.slice(2)}}${text.slice(object.span.end)}`;
  }
  const inline = isInOneLine(text, object) ? printInline(member) : null;
  if (inline !== null) {
    const { end } = last.value.span;
    return `${text.slice(0, end)}, ${inline}${text.slice(end)}`;
  }
  const behind = blankEnd(text, last.value.span.end);
  const hasComma = text[behind] === ',';
  const end = hasComma ? behind + 1 : last.value.span.end;
  // A comment behind the last member stays with it.
  const rest = /^[ \t]*(?:\/\/[^\n]*)?(?=\n)/.exec(text.slice(end))?.[0] ?? '';
  return `${text.slice(0, end)}${hasComma ? '' : ','}${rest}\n${printed}${text.slice(end + rest.length)}`;
}

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
