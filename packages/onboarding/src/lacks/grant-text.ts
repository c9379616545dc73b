/** `cordon.json` with one more right of one app. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: values name placeholders as the file writes them
import { parseJsonFile, plainJson } from '@cordon/config/reading';
import { failed, isJsonObject, type Json, ok, type Result } from '@cordon/core';
import { withMember, withoutPath } from '../writing/config-text.ts';
import type { MissingRight } from './missing-right.ts';

export interface GrantedText {
  readonly text: string;
  /** Tools whose label `outward: false` is taken back, because the app gets a network. */
  readonly noLongerStay: readonly string[];
  /** Keys of labels `outward: false` that speak of the tools of every app, so that they stay. */
  readonly stillStay: readonly string[];
}

/** `value`: of a variable, as `env` writes it. Fails where the file has no such app, or is broken. */
export function withRight(
  text: string,
  app: string,
  right: MissingRight,
  value: string,
): Result<GrantedText, string> {
  const tree = parseJsonFile('cordon.json', text);
  if (!tree.ok) return failed(tree.fault.message);
  const root = plainJson(tree.value);
  const section = ['apps', 'mcpServers'].find((name) => at(root, [name, app]) !== null);
  if (section === undefined) return failed(`the file has no entry for \`${app}\``);
  const entry = [section, app];
  if (right.kind === 'variable')
    return grantedAs(withMember(text, [...entry, 'env'], { key: right.value, value }));
  const path = right.kind === 'network' ? [...entry, 'manifest'] : [...entry, 'manifest', 'files'];
  const before = at(root, [...path, right.kind]);
  const items = Array.isArray(before) ? before : [];
  const added = withMember(text, path, { key: right.kind, value: [...items, right.value] });
  if (!added.ok || right.kind !== 'network') return grantedAs(added);
  const labelled = keysAsStaying(root);
  const own = `${app}/`;
  const tools = labelled.filter((key) => key.startsWith(own)).map((key) => key.slice(own.length));
  const stayed = tools.reduce<Result<string, string>>(
    (now, tool) => (now.ok ? withoutPath(now.value, ['labels', 'tools', `${app}/${tool}`, 'outward']) : now),
    added,
  );
  const isOfAll = (key: string) => !key.includes('/') || key.startsWith('*/');
  return grantedAs(stayed, tools, labelled.filter(isOfAll));
}

function grantedAs(
  text: Result<string, string>,
  noLongerStay: readonly string[] = [],
  stillStay: readonly string[] = [],
): Result<GrantedText, string> {
  return text.ok ? ok({ text: text.value, noLongerStay, stillStay }) : text;
}

function at(tree: Json, path: readonly string[]): Json {
  let value: Json = tree;
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return null;
    value = value[key] ?? null;
  }
  return value;
}

/** Keys of all labels `outward: false`. */
function keysAsStaying(root: Json): readonly string[] {
  const tools = at(root, ['labels', 'tools']);
  if (!isJsonObject(tools)) return [];
  return Object.entries(tools).flatMap(([key, says]) =>
    isJsonObject(says) && says.outward === false ? [key] : [],
  );
}
