/**
 * Label files: what a user says of tools, by name or pattern, in JSON with comments. The same object stands under
 * `labels` in `cordon.json`. What is not said is read strictly, so a slip must be an error and never a silence.
 *
 * Ring 0; what it accepts may loosen what rules ask. docs/policy/labels.md.
 */
import { type Diagnostic, failed, ok, type Result, type ToolLabelEntry, type ToolLabels } from '@cordon/core';
import { ConfigReader, type Located, type ObjectReader, quoted } from '../reading/config-reader.ts';
import { parseJsonFile, readTextFile } from '../reading/text-file.ts';

/** The labels that are yes or no. */
const FLAGS = ['readOnly', 'irreversible', 'outward', 'untrusted', 'private'] as const;

const MOST_ENTRIES = 10_000;
const MOST_PATTERN = 1000;

/** Reads a file of labels. Fails with everything that is wrong in it. */
export function readLabelFile(file: string): Result<readonly ToolLabelEntry[], readonly Diagnostic[]> {
  const text = readTextFile(file);
  if (!text.ok) return failed([text.fault]);
  const tree = parseJsonFile(file, text.value);
  if (!tree.ok) return failed([tree.fault]);
  const reader = new ConfigReader(file, text.value);
  const entries = readLabels(reader, { node: tree.value, path: '' });
  return reader.hasErrors ? failed(reader.diagnostics) : ok(entries);
}

/** `{"tools": {"send_*": {"outward": true, "identifying": ["to"]}}}`; what is wrong is reported and left out. */
export function readLabels(reader: ConfigReader, at: Located): readonly ToolLabelEntry[] {
  const object = reader.object(at);
  if (object === null) return [];
  const tools = object.required('tools', 'write `"tools": {"name or pattern": {"readOnly": true}}`');
  object.finish();
  if (tools === null) return [];
  const entries = reader.entries(tools);
  if (entries.length > MOST_ENTRIES) {
    reader.reportAt(tools, {
      code: 'LAB001',
      message: `more than ${MOST_ENTRIES} entries`,
      help: 'use patterns',
    });
    return [];
  }
  return entries.flatMap(({ key, keySpan, at: inner }) => {
    const named = namedTools(key);
    if (named === null) {
      reader.report(inner.path, keySpan, {
        code: 'LAB001',
        message: `${quoted(key)} names no tools`,
        help: 'write a name, a pattern with `*`, or `app/name`',
      });
      return [];
    }
    const entry = reader.object(inner);
    return entry === null ? [] : [{ ...named, says: readSaid(reader, entry) }];
  });
}

/** `mail/send_*`. Names of tools may hold a slash, names of apps may not: what stands before the first is the app. */
function namedTools(key: string): Pick<ToolLabelEntry, 'app' | 'tool'> | null {
  const slash = key.indexOf('/');
  const app = slash < 0 ? null : key.slice(0, slash);
  const tool = key.slice(slash + 1);
  if (tool === '' || app === '' || key.length > MOST_PATTERN) return null;
  return { app: app === '*' ? null : app, tool };
}

function readSaid(reader: ConfigReader, object: ObjectReader): Partial<ToolLabels> {
  const said: { -readonly [Label in keyof ToolLabels]?: ToolLabels[Label] } = {};
  for (const flag of FLAGS) {
    const at = object.get(flag);
    const value = at === null ? null : reader.boolean(at);
    if (value !== null) said[flag] = value;
  }
  const at = object.get('identifying');
  if (at !== null) {
    said.identifying = reader.items(at, 'a list of names of arguments').flatMap((item) => {
      const name = reader.string(item);
      return name === null ? [] : [name];
    });
  }
  object.finish();
  if (said.readOnly === true && said.irreversible === true) {
    reader.reportAt(object.at, {
      code: 'LAB002',
      message: 'a tool that changes nothing does nothing that cannot be undone',
      help: 'leave out `readOnly` or `irreversible`',
    });
  }
  return said;
}
