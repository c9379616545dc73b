/**
 * Orders between calls of tools of different apps. Each app's calls are made in separate contexts, which know of each other
 * what a message carried on and nothing else, so `->` says less there than in a log of one list.
 *
 * No decision depends on it.
 */

import { type Expression, variableName } from '@cordon/policy';
import { conjuncts, isOrder, type LintBody, type LintContext } from './context.ts';
import type { ToolSchema } from './tool-schema.ts';
import { toolMatches } from './truth.ts';

/** Says nothing of tools of which it is not known whose they are. */
export function lintApart(context: LintContext, tools: readonly ToolSchema[]): void {
  for (const body of context.bodies) {
    const lines = conjuncts(body.lines);
    for (const line of lines) {
      if (!isOrder(line) || line.operator === 'before' || !isCall(context, line.left)) continue;
      const [from, to] = [line.left, line.right].map((side) => appsOf(context, tools, body, lines, side));
      if (from == null || to == null || from.some((app) => to.includes(app))) continue;
      const [a, b] = [variableName(line.left), variableName(line.right)];
      const apps = `\`${a}\` is a call of ${listed(from)} and \`${b}\` belongs to ${listed(to)}`;
      context.diagnostics.warning(
        'POL072',
        line,
        line.operator === '~>'
          ? `${apps}, which have no context in common, so this never holds where apps are isolated`
          : `${apps}, so this holds only where a message told the one context of the other`,
        `write \`${a} before ${b}\` where the order in the whole session is meant`,
      );
    }
  }
}

function isCall(context: LintContext, side: Expression): boolean {
  const { kinds } = context.type(side);
  return kinds?.size === 1 && kinds.has('ToolCall');
}

/** The apps whose tools the lines about a variable let it be; null: not known. */
function appsOf(
  context: LintContext,
  tools: readonly ToolSchema[],
  body: LintBody,
  lines: readonly Expression[],
  side: Expression,
): readonly string[] | null {
  const name = variableName(side);
  for (const line of lines) {
    if (line.kind !== 'binary' || line.operator !== 'is' || variableName(line.left) !== name) continue;
    const pattern = context.value(line.right, body);
    if (pattern.kind !== 'tool-pattern') continue;
    const matching = tools.filter((tool) => toolMatches(pattern.tool.name, tool.name));
    const apps = matching.map((tool) => tool.apps ?? null);
    if (apps.length > 0 && !apps.includes(null)) return [...new Set(apps.flatMap((some) => some ?? []))];
  }
  return null;
}

function listed(apps: readonly string[]): string {
  return apps.map((app) => `\`${app}\``).join(' or ');
}
