/**
 * Predicates of the user's own, as a module declares them: what rules may call, and with which parameters.
 *
 * The types and `defineDetectors` are what authors of modules use; docs/detectors.md shows it.
 */
import { failed, isJsonObject, type Json, type JsonObject, ok, type Result } from '@cordon/core';
import type { DeclaredModule } from '../asking/asking.ts';

/** One function that rules may call. */
export interface OwnPredicate {
  /** The names of its arguments, in order. A rule may leave out the last ones, which are then absent from `values`. */
  readonly parameters: readonly string[];
  /**
   * `values`: by parameter, frozen copies of what the rule gives: events with all their fields, texts, numbers, lists, objects.
   * Answers with JSON. Throwing, rejecting or being late leaves the rule undecided, which denies. The same values have to have
   * the same answer: it is kept.
   */
  readonly evaluate: (values: JsonObject) => Json | Promise<Json>;
}

/** By the name under which rules import it from `cordon.detectors`. */
export type DetectorModule = Readonly<Record<string, OwnPredicate>>;

/** What a module exports by default. Changes nothing: it is there for the types. */
export function defineDetectors<Module extends DetectorModule>(module: Module): Module {
  return module;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const MOST_FUNCTIONS = 64;
const MOST_PARAMETERS = 16;

/** What a module says of itself, by the name of each function the list of its parameters; what cannot be one is refused. */
export function readDeclared(declared: Json): Result<DeclaredModule['functions'], string> {
  const entries = isJsonObject(declared) ? Object.entries(declared) : [];
  if (entries.length === 0) return failed('it declares no function');
  if (entries.length > MOST_FUNCTIONS) return failed(`it declares more than ${MOST_FUNCTIONS} functions`);
  const functions = new Map<string, readonly [string, ...string[]]>();
  for (const [name, parameters] of entries) {
    if (!NAME.test(name)) return failed('the name of one of its functions cannot be one of a rule');
    const [first, ...rest] = Array.isArray(parameters) ? parameters.filter(isName) : [];
    const all = first === undefined ? [] : [first, ...rest];
    const isWhole = Array.isArray(parameters) && all.length === parameters.length;
    if (first === undefined || !isWhole || new Set(all).size < all.length || all.length > MOST_PARAMETERS)
      return failed(`\`${name}\` needs 1 to ${MOST_PARAMETERS} parameters with different names`);
    functions.set(name, [first, ...rest]);
  }
  return ok(functions);
}

function isName(value: Json): value is string {
  return typeof value === 'string' && NAME.test(value);
}
