/**
 * Python text to a tree, or the place where it is no Python. The grammar is laxer than Python's own, so what Python 3 refuses and
 * the grammar takes is looked for afterwards.
 */
import { inKnownForms } from './python-forms.ts';
import { refusedAt } from './python-refusals.ts';
import { nodesOf, type PythonNode } from './python-tree.ts';

export const INVALID = 'invalid syntax';

export type ParsedPython =
  | {
      readonly kind: 'tree';
      readonly nodes: readonly PythonNode[];
      /** Where Python refuses what the grammar takes; null: nowhere. What stands there can be read all the same. */
      readonly refused: number | null;
    }
  | { readonly kind: 'error'; readonly at: number; readonly message: string };

/** Never throws. */
export function parsePython(text: string): ParsedPython {
  const zero = text.indexOf('\0');
  if (zero >= 0) return { kind: 'error', at: zero, message: 'source code cannot contain null bytes' };
  // A byte order mark is no part of the code; its own line keeps the places of what follows.
  const code = text.startsWith('\uFEFF') ? `\n${text.slice(1)}` : text;
  const whole = parsedAs(code, code);
  if (isPython(whole)) return whole;
  const known = inKnownForms(code);
  const again = known === code ? whole : parsedAs(known, code);
  return isPython(again) || whole.kind === 'error' ? again : whole;
}

function isPython(parsed: ParsedPython): boolean {
  return parsed.kind === 'tree' && parsed.refused === null;
}

/** `original` has what `code` writes in other forms, at the same places. */
function parsedAs(code: string, original: string): ParsedPython {
  try {
    const nodes = nodesOf(code);
    return { kind: 'tree', nodes, refused: refusedAt(nodes, code, original) };
  } catch (error) {
    const place = error instanceof Error ? / at (\d+)$/.exec(error.message) : null;
    return { kind: 'error', at: Math.min(Number(place?.[1] ?? 0), code.length), message: INVALID };
  }
}
