/** The rules of a configuration, and who answers what they ask. */

import type { AskingSettings, Configuration } from '@cordon/config';
import { CODE_ROOT } from '@cordon/config/reading';
import {
  type Diagnostic,
  type EndpointKind,
  ok,
  type Result,
  type Service,
  type ServiceName,
  type TextJudge,
} from '@cordon/core';
import { ConfinedDetectors, type LaunchFor } from '@cordon/detector-process';
import { type Asking, KeptAnswers } from '@cordon/detectors';
import { type Dialler, HERE } from '@cordon/dialler';
import type { Answering } from '@cordon/hub';
import { type Policy, TextQuestions } from '@cordon/policy';
import type { Sandbox } from '@cordon/sandbox';
import type { Providers } from '../machine/providers.ts';
import type { OwnPredicates } from '../own-detectors/start-modules.ts';
import { readPolicies } from './policies.ts';
export interface Rules {
  readonly policy: Policy;
  /** Null: rules that ask are undecided. */
  readonly answering: Answering | null;
  /** Looks at texts that are long, or need a third-party parser. */
  readonly texts: TextJudge;
  /** The user's own predicates, or null. Who gets these rules closes them. */
  readonly own: OwnPredicates | null;
}

/**
 * All that is in force, read and checked. A failure holds what is wrong in any of the files.
 * @param sandbox confines the processes that look at texts
 * @param providers who calls the services of the configuration
 * @param ending ends the processes that look at texts
 * @param own what `ownPredicates` gave; null: the configuration has no modules
 */
export function readRules(
  { asking, packs, policyFiles }: Pick<Configuration, 'asking' | 'packs' | 'policyFiles'>,
  sandbox: Sandbox,
  providers: Providers,
  ending: AbortSignal,
  own: OwnPredicates | null = null,
): Result<Rules, readonly Diagnostic[]> {
  const answering = answeringOf(asking, providers, own);
  const { textQuestions, texts } = textQuestionsOf(launchIn(sandbox));
  ending.addEventListener('abort', () => void texts.close(), { once: true });
  const policy = readPolicies({ packs, files: policyFiles, asking: askingOf(answering, own), textQuestions });
  return policy.ok ? ok({ policy: policy.value, answering, texts, own }) : policy;
}

/** Starts the modules of a configuration, in the sandbox; null where it has none. */
export async function ownPredicates(
  { asking, namedModules, apps }: Pick<Configuration, 'asking' | 'namedModules' | 'apps'>,
  sandbox: Sandbox,
  dialler: Dialler = HERE,
): Promise<Result<OwnPredicates | null, readonly Diagnostic[]>> {
  const modules = [...asking.modules, ...namedModules];
  if (modules.length === 0) return ok(null);
  // Loaded when there are some: it loads the sandbox.
  const { startModules } = await import('../own-detectors/start-modules.ts');
  const writable = apps.flatMap(({ manifest }) => manifest.files.write);
  return startModules(modules, sandbox, writable, dialler);
}

/** What looks at texts, which starts with the first of them, and where the policy finds what it has answered. */
export function textQuestionsOf(launch: LaunchFor): {
  readonly textQuestions: TextQuestions;
  readonly texts: ConfinedDetectors;
} {
  const book = new KeptAnswers(Date.now);
  return { textQuestions: new TextQuestions(book), texts: new ConfinedDetectors({ book, launch }) };
}

/** The launcher is loaded when a rule first asks: it loads the sandbox. */
function launchIn(sandbox: Sandbox): LaunchFor {
  return async (work, signal) => {
    const { detectorLauncher } = await import('@cordon/detector-process/launch');
    return detectorLauncher(sandbox, CODE_ROOT)(work, signal);
  };
}

/** Who answers questions of rules, with their known answers; null if the configuration names none. */
export function answeringOf(
  { model, endpoints, seconds }: AskingSettings,
  providers: Providers,
  own: OwnPredicates | null,
): Answering | null {
  if (model === null && endpoints.size === 0 && own === null) return null;
  const services = [
    ...[...endpoints].map(([kind, endpoint]): [EndpointKind, Service] => [
      kind,
      providers.service(kind, endpoint),
    ]),
    ...(own === null ? [] : [['predicate', own.service] as const]),
  ];
  return { book: new KeptAnswers(Date.now), model, services: new Map(services), seconds };
}

/** The same as detectors see it. */
export function askingOf(answering: Answering | null, own: OwnPredicates | null): Asking | undefined {
  if (answering === null) return undefined;
  const { book, model, services } = answering;
  const offers: ReadonlySet<ServiceName> = new Set([
    ...(model === null ? [] : ['llm' as const]),
    ...services.keys(),
  ]);
  return { book, offers, model, own: own?.modules ?? [] };
}
