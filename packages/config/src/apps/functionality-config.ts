/**
 * `functionalities` of the configuration: what apps may do for each other, by name, whoever serves it. Every spoke gets
 * these names and descriptions, so the list does not reveal which apps are installed (paper, IV-C1).
 *
 * Ring 0.
 */
import { NAME_PATTERN } from '@cordon/core';
import { type ConfigReader, type Located, quoted } from '../reading/config-reader.ts';
import {
  type KnownFunctionalities,
  type KnownFunctionality,
  readLine,
  readSchema,
} from './manifest-config.ts';

/** Each model of an app that may ask others reads the whole list. */
const MOST_FUNCTIONALITIES = 200;

/** What is wrong is reported and left out. `appNames`: what no line may name. */
export function readFunctionalityList(
  reader: ConfigReader,
  at: Located,
  appNames: readonly string[],
): KnownFunctionalities {
  const known = new Map<string, KnownFunctionality>();
  for (const { key, keySpan, at: entry } of reader.entries(at)) {
    const problem = nameProblem(key, known.size);
    if (problem !== null) {
      reader.report(entry.path, keySpan, problem);
      continue;
    }
    const functionality = readEntry(reader, entry, appNames);
    if (functionality !== null) known.set(key, functionality);
  }
  return known;
}

function readEntry(
  reader: ConfigReader,
  at: Located,
  appNames: readonly string[],
): KnownFunctionality | null {
  const object = reader.object(at);
  if (object === null) return null;
  const described = object.required('description', 'say in one line what is done, without naming an app');
  const [request, response] = [object.get('request'), object.get('response')];
  object.finish();
  const description = described === null ? null : readLine(reader, described, appNames);
  if (description === null) return null;
  return {
    description,
    request: request === null ? null : readSchema(reader, request, true),
    response: response === null ? null : readSchema(reader, response, false),
  };
}

function nameProblem(name: string, known: number) {
  if (!NAME_PATTERN.test(name))
    return {
      code: 'CFG008',
      message: `${quoted(name)} is no name for a functionality`,
      help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
    };
  if (known < MOST_FUNCTIONALITIES) return null;
  return {
    code: 'CFG008',
    message: `there are more than ${MOST_FUNCTIONALITIES} functionalities`,
    help: 'leave out those that no app of yours asks for',
  };
}
