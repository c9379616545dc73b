/**
 * Label files: what a user says of tools, by name or pattern, in JSON with comments. The same object stands under
 * `labels` in `cordon.json`. What is not said is read strictly, so a slip must be an error and never a silence.
 *
 * What it accepts may loosen what rules ask. docs/policy/labels.md.
 */
import {
  type Diagnostic,
  failed,
  ok,
  type Result,
  type ToolLabelEntry,
  type ToolLabels,
  type ToolUndo,
  type UndoValue,
} from '@cordon/core';
import {
  ConfigReader,
  type Located,
  type ObjectReader,
  type Problem,
  quoted,
} from '../reading/config-reader.ts';
import { parseJsonFile, readTextFile } from '../reading/text-file.ts';

/** The labels that are yes or no. */
const FLAGS = ['readOnly', 'irreversible', 'outward', 'untrusted', 'private'] as const;
/** The labels that name arguments. */
const LISTS = ['identifying', 'tells'] as const;

const MOST_ENTRIES = 10_000;
const MOST_PATTERN = 1000;

/** Reads a file of labels. Fails with everything that is wrong in it. */
export function readLabelFile(file: string): Result<readonly ToolLabelEntry[], readonly Diagnostic[]> {
  const text = readTextFile(file);
  if (!text.ok) return failed([text.fault]);
  const tree = parseJsonFile(file, text.value);
  if (!tree.ok) return failed([tree.fault]);
  const reader = new ConfigReader(file, text.value);
  const entries = readLabels(reader.root(tree.value));
  return reader.hasErrors ? failed(reader.diagnostics) : ok(entries);
}

/** `{"tools": {"send_*": {"outward": true, "identifying": ["to"]}}}`; what is wrong is reported and left out. */
export function readLabels(at: Located): readonly ToolLabelEntry[] {
  const object = at.object();
  const tools = object?.required('tools', 'write `"tools": {"name or pattern": {"readOnly": true}}`') ?? null;
  object?.finish();
  if (tools === null) return [];
  if (tools.entries().length > MOST_ENTRIES) {
    tools.report({ code: 'LAB001', message: `more than ${MOST_ENTRIES} entries`, help: 'use patterns' });
    return [];
  }
  return tools.entries().flatMap(([key, inner]) => {
    const named = namedTools(key);
    const entry = named === null ? inner.reportKey(nameless(key)) : inner.object();
    return named === null || entry === null ? [] : [{ ...named, says: readSaid(entry) }];
  });
}

function nameless(key: string): Problem {
  const help = 'write a name, a pattern with `*`, or `app/name`';
  return { code: 'LAB001', message: `${quoted(key)} names no tools`, help };
}

/** `mail/send_*`. Names of tools may hold a slash, names of apps may not: what stands before the first is the app. */
function namedTools(key: string): Pick<ToolLabelEntry, 'app' | 'tool'> | null {
  const slash = key.indexOf('/');
  const app = slash < 0 ? null : key.slice(0, slash);
  const tool = key.slice(slash + 1);
  if (tool === '' || app === '' || key.length > MOST_PATTERN) return null;
  return { app: app === '*' ? null : app, tool };
}

function readSaid(object: ObjectReader): Partial<ToolLabels> {
  const said: { -readonly [Label in keyof ToolLabels]?: ToolLabels[Label] } = {};
  const undo = object.read('undo', readUndo);
  if (undo !== null) said.undo = undo;
  for (const flag of FLAGS) {
    const value = object.boolean(flag);
    if (value !== null) said[flag] = value;
  }
  for (const list of LISTS) {
    const names = object.read(list, (at) => at.list('a list of names of arguments', (item) => item.string()));
    if (names !== null) said[list] = names;
  }
  object.finish();
  if (said.readOnly === true && said.undo !== undefined) {
    object.at.report({
      code: 'LAB002',
      message: 'a tool that changes nothing leaves nothing to undo',
      help: 'leave out `readOnly` or `undo`',
    });
  }
  if (said.readOnly === true && said.irreversible === true) {
    object.at.report({
      code: 'LAB002',
      message: 'a tool that changes nothing does nothing that cannot be undone',
      help: 'leave out `readOnly` or `irreversible`',
    });
  }
  if (said.tells !== undefined && (said.readOnly === true || said.irreversible !== undefined)) {
    object.at.report({
      code: 'LAB002',
      message: '`tells` already says what can be undone',
      help: 'leave out `tells`, or `readOnly` and `irreversible`',
    });
  }
  return said;
}

/** `{"tool": "delete_note", "with": {"id": "output.id"}}`; null after a report. */
function readUndo(at: Located): ToolUndo | null {
  const object = at.object();
  const tool = object?.required('tool', 'name the tool of the same app that undoes a call')?.string() ?? null;
  const values =
    object?.required('with', `say what it is called with: \`"with": {"id": "output.id"}\``) ?? null;
  object?.finish();
  if (tool === null || values === null) return null;
  const named = values.entries().map(([name, value]) => [name, readUndoValue(value)] as const);
  const read = named.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return read.length === named.length ? { tool, with: Object.fromEntries(read) } : null;
}

/** `arguments.path`, `output.note.id`. */
function readUndoValue(at: Located): UndoValue | null {
  const path = at.string();
  if (path === null) return null;
  const [of, ...keys] = path.split('.');
  if ((of === 'arguments' || of === 'output') && keys.length > 0 && keys.every((key) => key !== ''))
    return { of, at: keys };
  const help =
    'write `arguments.NAME` for an argument of the call, or `output.NAME` for a value that it returned';
  return at.report({ code: 'LAB004', message: `${quoted(path)} names no value of a call`, help });
}
