/** From modules of the user's predicates to what rules can call, and to who answers. */
import { basename, dirname } from 'node:path';
import type { ModuleSettings } from '@cordon/config';
import { covers } from '@cordon/config/reading';
import {
  type Diagnostic,
  failed,
  fault,
  isJsonObject,
  ok,
  type Question,
  type Result,
  type Service,
  visibleLine,
} from '@cordon/core';
import { type DeclaredModule, readDeclared, STANDARD_NAMES } from '@cordon/detectors';
import type { Dialler } from '@cordon/dialler';
import type { Sandbox } from '@cordon/sandbox';
import { ModuleProcess } from './module-process.ts';

export interface OwnPredicates {
  readonly modules: readonly DeclaredModule[];
  /** Answers questions for `predicate`. */
  readonly service: Service;
  /** Ends all processes. */
  readonly close: () => Promise<void>;
}

/**
 * Starts each module once, to read its declaration. Refuses a module that cannot be loaded, a name that the standard library or
 * another module has, and a folder in which an app may write.
 *
 * @param writable absolute paths that apps may write
 */
export async function startModules(
  settings: readonly ModuleSettings[],
  sandbox: Sandbox,
  writable: readonly string[],
  dialler: Dialler,
): Promise<Result<OwnPredicates, readonly Diagnostic[]>> {
  const processes = new Map<string, ModuleProcess>();
  const close = async () => {
    await Promise.all([...processes.values()].map((process) => process.close()));
  };
  const started = await Promise.all(
    settings.map(async (one) => {
      if (writable.some((path) => covers(path, one.file) || covers(dirname(one.file), path)))
        return failed(problem(one, 'an app may write in its folder'));
      const process = new ModuleProcess(one, sandbox, dialler);
      const digest = `${one.digest}/${basename(one.file)}`;
      processes.set(digest, process);
      const said = await process.declared();
      const functions = said.ok ? readDeclared(said.value) : said;
      return functions.ok
        ? ok({ settings: one, declared: { digest, functions: functions.value } })
        : failed(problem(one, functions.fault));
    }),
  );
  const modules = started.flatMap((one) => (one.ok ? [one.value] : []));
  const problems = [...started.flatMap((one) => (one.ok ? [] : [one.fault])), ...clashes(modules)];
  if (problems.length > 0) {
    await close();
    return failed(problems);
  }
  const service = { name: 'predicate/modules', answer: answerFrom(processes) };
  return ok({ modules: modules.map(({ declared }) => declared), service, close });
}

interface Declared {
  readonly settings: ModuleSettings;
  readonly declared: DeclaredModule;
}

/** Two functions of one name: an order that no user sees would decide which of them a rule gets. */
function clashes(modules: readonly Declared[]): readonly Diagnostic[] {
  const taken = new Set(STANDARD_NAMES);
  return modules.flatMap(({ settings, declared }) =>
    [...declared.functions.keys()].flatMap((name) => {
      if (!taken.has(name)) {
        taken.add(name);
        return [];
      }
      return [problem(settings, `there is a function \`${name}\` already`)];
    }),
  );
}

function problem({ file }: ModuleSettings, why: string): Diagnostic {
  const message = `the module of detectors cannot be used: ${visibleLine(why, 500)}`;
  return { code: 'CFG050', severity: 'error', file, message };
}

function answerFrom(processes: ReadonlyMap<string, ModuleProcess>): Service['answer'] {
  return async ({ input: { module, name, values } }: Question, signal) => {
    const process = typeof module === 'string' ? processes.get(module) : undefined;
    if (process === undefined || typeof name !== 'string' || !isJsonObject(values))
      return failed(fault('model-failure', 'there is no such function'));
    const answer = await process.answer(name, values, signal);
    return answer.ok ? answer : failed(fault('model-failure', answer.fault));
  };
}
