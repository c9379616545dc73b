/**
 * The section `memory` of the configuration: how long and how much is kept, how what is old is summed up, and where the
 * key is that encrypts the store.
 *
 * See docs/memory.md.
 */
import type { FactsMode, HistoryReach, SummaryMode } from '@cordon/core';
import type { Retention } from '@cordon/trace';
import type { KeySource } from '../keys/store-key.ts';
import { isVariableName, type Located, type ObjectReader, type Problem } from '../reading/config-reader.ts';
import { type Folders, readPath } from '../reading/placeholders.ts';

export interface MemorySettings {
  /** Null: as the model in use allows. */
  readonly summaries: SummaryMode | null;
  /** Null: as the model in use allows. */
  readonly facts: FactsMode | null;
  /** How far the history of an app reaches. */
  readonly history: HistoryReach;
  readonly retention: Retention;
  /** Null: the file names none. */
  readonly key: KeySource | null;
}

export const SILENT_MEMORY: MemorySettings = Object.freeze({
  summaries: null,
  facts: null,
  history: 'session',
  retention: { age: null, bytes: null },
  key: null,
});

export interface MemoryPlace {
  readonly folders: Folders;
  /** Whether the file lay in the current folder, where someone else may have put it. */
  readonly isFound: boolean;
}

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;
const MOST_DAYS = 36_500;
const MOST_MIB = 1_048_576;
const SUMMARY_MODES: readonly SummaryMode[] = ['model', 'extract', 'off'];
const FACTS_MODES: readonly FactsMode[] = ['model', 'patterns', 'off'];
const REACHES: readonly HistoryReach[] = ['session', 'app'];

export function readMemorySettings(at: Located, place: MemoryPlace): MemorySettings {
  const object = at.object();
  if (object === null) return SILENT_MEMORY;
  const word = <W extends string>(key: string, words: readonly W[], message: string) =>
    object.read(key, (inner) => inner.word(words, () => otherWord(words, message)));
  const settings: MemorySettings = {
    summaries: word('summaries', SUMMARY_MODES, 'there are no such summaries'),
    facts: word('facts', FACTS_MODES, 'there are no such facts'),
    history: word('history', REACHES, 'no history reaches there') ?? SILENT_MEMORY.history,
    retention: {
      age: kept(object, 'keepDays', MOST_DAYS, DAY_MS),
      bytes: kept(object, 'keepMiB', MOST_MIB, MIB),
    },
    key: object.read('key', (inner) => readKeySource(inner, place)),
  };
  object.finish();
  return settings;
}

function otherWord(words: readonly string[], message: string): Problem {
  const help = `write one of ${words.map((one) => `\`${one}\``).join(', ')}`;
  return { code: 'CFG042', message, help };
}

function kept(object: ObjectReader, name: string, most: number, unit: number): number | null {
  const wanted = object.whole(name, [1, most], 0);
  return wanted === 0 ? null : wanted * unit;
}

/** `{"env": "NAME"}`, `{"file": "path"}` or `{"command": ["program", "argument"]}` */
function readKeySource(at: Located, { isFound, folders }: MemoryPlace): KeySource | null {
  const object = at.object();
  if (object === null) return null;
  if (isFound) {
    // Attack: a `cordon.json` in a cloned repository names a program as the one that knows the key, and it is run.
    return at.report({
      code: 'CFG043',
      message: 'a file that was found in the current folder does not say where your key is',
      help: 'put it into your own configuration, or set `CORDON_KEY` or `CORDON_KEY_FILE`',
    });
  }
  const variable = object.get('env');
  const file = object.get('file');
  const command = object.get('command');
  object.finish();
  if ([variable, file, command].filter((one) => one !== null).length !== 1) {
    const help = 'give `env`, the name of a variable, `file`, a path, or `command`, an array of words';
    return at.report({ code: 'CFG043', message: 'a key is kept in one place', help });
  }
  if (variable !== null) return readVariable(variable);
  if (command !== null) return readCommand(command);
  const path = file === null ? null : readPath(file, folders);
  return path === null ? null : { kind: 'file', path };
}

function readVariable(at: Located): KeySource | null {
  const help = 'write the name of the variable, not the key';
  const name = at.checked((text) =>
    isVariableName(text) ? null : { code: 'CFG043', message: 'this is no name of a variable', help },
  );
  return name === null ? null : { kind: 'variable', name };
}

function readCommand(at: Located): KeySource | null {
  const items = at.items('an array of words');
  const command = items.flatMap((item) => item.string() ?? []);
  if (command.length !== items.length) return null;
  if (command.length > 0 && !command.some((word) => word.includes('\0'))) return { kind: 'command', command };
  const help = 'write the program and its arguments, like `["secret-tool", "lookup", "app", "cordon"]`';
  return at.report({ code: 'CFG043', message: 'this is no command', help });
}
