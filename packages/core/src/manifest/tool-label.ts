/**
 * What is known of tools: whether their output may steer or must not spread, whether they change anything, whether what
 * goes in reaches others, and which of their arguments say where to. A person writes it, in a few lines with patterns.
 *
 * See docs/policy/labels.md.
 */

export interface ToolLabels {
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** What it does cannot be undone. */
  readonly irreversible: boolean;
  /** How another tool of the same app undoes a call. It removes no question. Absent: nobody says. */
  readonly undo?: ToolUndo;
  /** What goes into it reaches others than the user: a public sink. */
  readonly outward: boolean;
  /** Its output may have been written by an attacker. */
  readonly untrusted: boolean;
  /** Its output is the user's own and must not spread. */
  readonly private: boolean;
  /** The arguments that name what a call acts on: recipient, account, path, address. Null: all of them. */
  readonly identifying: readonly string[] | null;
  /**
   * What it does can be undone, but for what the people hear whom these arguments name. Absent: nobody has said so. A tool of which
   * somebody has counts as one that cannot be undone.
   */
  readonly tells?: readonly string[];
}

/** The labels of a tool that speak of its calls. */
export interface CalledLabels extends Pick<ToolLabels, 'readOnly' | 'outward' | 'identifying'> {
  /** The user's own files do not say that what goes in stays here, whatever the app says; absent: as `outward`. */
  readonly mayLeave?: boolean;
}

/** INVARIANT (silence is strict): a tool that nobody has spoken of. */
export const UNKNOWN_TOOL: ToolLabels = Object.freeze({
  readOnly: false,
  irreversible: true,
  outward: true,
  untrusted: true,
  private: true,
  identifying: null,
});

/** The call that undoes a call of another tool. */
export interface ToolUndo {
  /** Of the same app. */
  readonly tool: string;
  /** The arguments of that call, by name. */
  readonly with: Readonly<Record<string, UndoValue>>;
}

/** A value of the call that is undone: a path into its arguments, or into what it returned. */
export interface UndoValue {
  readonly of: 'arguments' | 'output';
  /** Keys that lead to the value, from the outermost on. */
  readonly at: readonly string[];
}

/** What one entry of a label file says, and of which tools. */
export interface ToolLabelEntry {
  /** Null: of tools of any app. */
  readonly app: string | null;
  /** The name of a tool; `*` stands for any characters. */
  readonly tool: string;
  readonly says: Partial<ToolLabels>;
}

/** What is said of a tool: of each label, by the entry that names the tool most closely. Silent where none does. */
export function saidOfTool(
  entries: readonly ToolLabelEntry[],
  tool: string,
  app: string | null,
): Partial<ToolLabels> {
  const speaking = entries.filter(
    (entry) => (entry.app === null || entry.app === app) && matchesPattern(entry.tool, tool),
  );
  // The closest comes last and so overrides; the sort is stable, so of equally close ones the later counts.
  const sorted = [...speaking].sort((a, b) => closeness(a) - closeness(b));
  return Object.assign({}, ...sorted.map(({ says }) => says));
}

/** All labels of a tool: what is said, and the strict reading of what is not. What changes nothing can be undone. */
export function toolLabels(said: Partial<ToolLabels>): ToolLabels {
  const readOnly = said.readOnly ?? UNKNOWN_TOOL.readOnly;
  return { ...UNKNOWN_TOOL, irreversible: !readOnly, ...said };
}

/** A name is closer than a pattern, a pattern with more letters than one with fewer, an app's entry than any app's. */
function closeness({ app, tool }: ToolLabelEntry): number {
  const letters = tool.replaceAll('*', '').length;
  const isName = letters === tool.length;
  return 2 * (letters + (isName ? MOST_LETTERS : 0)) + (app === null ? 0 : 1);
}

/** More than any pattern has. */
const MOST_LETTERS = 100_000;

/** Each piece between two stars is looked for behind the one before, so no name takes more than one pass. */
function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let from = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  return from <= name.length - last.length;
}
