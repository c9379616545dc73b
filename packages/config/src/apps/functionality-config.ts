/**
 * `functionalities` of the configuration: what apps may do for each other, by name, whoever serves it. Every spoke gets
 * these names and descriptions, so the list does not reveal which apps are installed (paper, IV-C1).
 */
import { type Located, nameProblem, type Problem } from '../reading/config-reader.ts';
import {
  type KnownFunctionalities,
  type KnownFunctionality,
  readLine,
  readSchema,
} from './manifest-config.ts';

/** Each model of an app that may ask others reads the whole list. */
const MOST_FUNCTIONALITIES = 200;

const TOO_MANY: Problem = {
  code: 'CFG008',
  message: `there are more than ${MOST_FUNCTIONALITIES} functionalities`,
  help: 'leave out those that no app of yours asks for',
};

/** What is wrong is reported and left out. `appNames`: what no line may name. */
export function readFunctionalityList(at: Located, appNames: readonly string[]): KnownFunctionalities {
  const known = new Map<string, KnownFunctionality>();
  for (const [name, entry] of at.entries()) {
    const problem =
      nameProblem(name, 'a functionality') ?? (known.size < MOST_FUNCTIONALITIES ? null : TOO_MANY);
    const functionality = problem === null ? readEntry(entry, appNames) : entry.reportKey(problem);
    if (functionality !== null) known.set(name, functionality);
  }
  return known;
}

function readEntry(at: Located, appNames: readonly string[]): KnownFunctionality | null {
  const object = at.object();
  if (object === null) return null;
  const described = object.required('description', 'say in one line what is done, without naming an app');
  const request = object.read('request', (schema) => readSchema(schema, true));
  const response = object.read('response', (schema) => readSchema(schema, false));
  object.finish();
  const description = described === null ? null : readLine(described, appNames);
  return description === null ? null : { description, request, response };
}
