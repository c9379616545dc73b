/**
 * The section `memory` of the configuration: how long and how much is kept, how what is old is summed up, and where the
 * key is that encrypts the store.
 *
 * Ring 0; see docs/memory.md.
 */
import type { FactsMode, HistoryReach, SummaryMode } from '@cordon/core';
import type { Retention } from '@cordon/trace';
import { readPath } from '../apps/manifest-config.ts';
import type { KeySource } from '../keys/store-key.ts';
import { type ConfigReader, type Located, type ObjectReader, readBounded } from '../reading/config-reader.ts';

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
  readonly home: string;
  readonly folder: string;
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

export function readMemorySettings(reader: ConfigReader, at: Located, place: MemoryPlace): MemorySettings {
  const object = reader.object(at);
  if (object === null) return SILENT_MEMORY;
  const summaries = object.get('summaries');
  const facts = object.get('facts');
  const history = object.get('history');
  const key = object.get('key');
  const settings: MemorySettings = {
    summaries:
      summaries === null ? null : readWord(reader, summaries, SUMMARY_MODES, 'there are no such summaries'),
    facts: facts === null ? null : readWord(reader, facts, FACTS_MODES, 'there are no such facts'),
    history:
      (history === null ? null : readWord(reader, history, REACHES, 'no history reaches there')) ??
      SILENT_MEMORY.history,
    retention: {
      age: kept(reader, object, 'keepDays', MOST_DAYS, DAY_MS),
      bytes: kept(reader, object, 'keepMiB', MOST_MIB, MIB),
    },
    key: key === null ? null : readKeySource(reader, key, place),
  };
  object.finish();
  return settings;
}

function readWord<T extends string>(
  reader: ConfigReader,
  at: Located,
  words: readonly T[],
  message: string,
): T | null {
  const text = reader.string(at);
  const word = words.find((candidate) => candidate === text) ?? null;
  if (text !== null && word === null) {
    const help = `write one of ${words.map((one) => `\`${one}\``).join(', ')}`;
    reader.reportAt(at, { code: 'CFG042', message, help });
  }
  return word;
}

function kept(
  reader: ConfigReader,
  object: ObjectReader,
  name: string,
  most: number,
  unit: number,
): number | null {
  const wanted = readBounded(reader, object, name, [1, most], 0);
  return wanted === 0 ? null : wanted * unit;
}

/** `{"env": "NAME"}`, `{"file": "path"}` or `{"command": ["program", "argument"]}` */
function readKeySource(reader: ConfigReader, at: Located, place: MemoryPlace): KeySource | null {
  const object = reader.object(at);
  if (object === null) return null;
  if (place.isFound) {
    // Attack: a `cordon.json` in a cloned repository names a program as the one that knows the key, and it is run.
    reader.reportAt(at, {
      code: 'CFG043',
      message: 'a file that was found in the current folder does not say where your key is',
      help: 'put it into your own configuration, or set `CORDON_KEY` or `CORDON_KEY_FILE`',
    });
    return null;
  }
  const variable = object.get('env');
  const file = object.get('file');
  const command = object.get('command');
  object.finish();
  const named = [variable, file, command].filter((one) => one !== null);
  if (named.length !== 1) {
    const help = 'give `env`, the name of a variable, `file`, a path, or `command`, an array of words';
    reader.reportAt(at, { code: 'CFG043', message: 'a key is kept in one place', help });
    return null;
  }
  if (variable !== null) return readVariable(reader, variable);
  if (file !== null) {
    const values = { state: '', config: place.folder, environment: null };
    const path = readPath(reader, file, place.home, values);
    return path === null ? null : { kind: 'file', path };
  }
  return command === null ? null : readCommand(reader, command);
}

function readVariable(reader: ConfigReader, at: Located): KeySource | null {
  const name = reader.string(at);
  if (name === null) return null;
  if (/^[A-Za-z_]\w{0,127}$/.test(name)) return { kind: 'variable', name };
  const help = 'write the name of the variable, not the key';
  reader.reportAt(at, { code: 'CFG043', message: 'this is no name of a variable', help });
  return null;
}

function readCommand(reader: ConfigReader, at: Located): KeySource | null {
  const words = reader.items(at, 'an array of words').map((item) => reader.string(item));
  const command = words.flatMap((word) => word ?? []);
  if (command.length !== words.length) return null;
  if (command.length > 0 && !command.some((word) => word.includes('\0'))) return { kind: 'command', command };
  const help = 'write the program and its arguments, like `["secret-tool", "lookup", "app", "cordon"]`';
  reader.reportAt(at, { code: 'CFG043', message: 'this is no command', help });
  return null;
}
