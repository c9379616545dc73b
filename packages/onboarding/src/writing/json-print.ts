/** JSON as a person would write it: short lists on one line, and a comment above what needs a reason. */
import { isJsonObject, type Json } from '@cordon/core';

export interface PrintedMember {
  readonly key: string;
  readonly value: Json | readonly PrintedMember[];
  /** One line, printed above it. */
  readonly why?: string | undefined;
}

const WIDTH = 100;

/** The members, one below the other, without braces around them and without a comma behind the last. */
export function printMembers(members: readonly PrintedMember[], indent: string): string {
  return members
    .map((member, at) => {
      const { key, why } = member;
      const comment = why === undefined ? '' : `${indent}// ${oneLine(why)}\n`;
      const comma = at === members.length - 1 ? '' : ',';
      return `${comment}${indent}${JSON.stringify(key)}: ${printMemberValue(member, indent)}${comma}`;
    })
    .join('\n');
}

/** In one line, or null where it would be too long, or needs a line for a reason. */
export function printInline(member: PrintedMember): string | null {
  const value = member.why === undefined ? plainValue(member.value) : undefined;
  if (value === undefined) return null;
  const line = `${JSON.stringify(member.key)}: ${inOneLine(value)}`;
  return line.length > WIDTH ? null : line;
}

function plainValue(value: PrintedMember['value']): Json | undefined {
  if (!isMembers(value)) return value;
  const members = value.map(({ key, value: inner, why }) => [
    key,
    why === undefined ? plainValue(inner) : undefined,
  ]);
  return members.some(([, inner]) => inner === undefined) ? undefined : Object.fromEntries(members);
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** What stands behind the key and its colon. `indent`: of the member. */
export function printMemberValue({ key, value }: PrintedMember, indent: string): string {
  if (isMembers(value)) return `{\n${printMembers(value, `${indent}  `)}\n${indent}}`;
  return printJson(value, indent, key.length + 4);
}

/** An empty list is a value and not an object without members. */
function isMembers(value: PrintedMember['value']): value is readonly PrintedMember[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => isJsonObject(item) && 'key' in item)
  );
}

function printJson(value: Json, indent: string, before: number): string {
  const line = inOneLine(value);
  if (indent.length + before + line.length <= WIDTH) return line;
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
}

function inOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${inOneLine(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
