/** The rules of a configuration, and who answers what they ask. Ring 0. */

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
import type { Answering } from '@cordon/hub';
import { type Policy, TextQuestions } from '@cordon/policy';
import type { Providers } from '../machine/providers.ts';
import { readWeaker } from '../machine/weaker.ts';
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
 * @param providers who calls the services of the configuration
 * @param ending ends the processes that look at texts
 * @param own what `ownPredicates` gave; null: the configuration has no modules
 */
export function readRules(
  configuration: Configuration,
  providers: Providers,
  ending: AbortSignal,
  own: OwnPredicates | null = null,
): Result<Rules, readonly Diagnostic[]> {
  const { asking, packs, policyFiles } = configuration;
  const answering = answeringOf(asking, providers, own);
  const { textQuestions, texts } = textQuestionsOf(launchOn(configuration));
  ending.addEventListener('abort', () => void texts.close(), { once: true });
  const policy = readPolicies({ packs, files: policyFiles, asking: askingOf(answering, own), textQuestions });
  return policy.ok ? ok({ policy: policy.value, answering, texts, own }) : policy;
}

/** Starts the modules of a configuration, in a sandbox; null where it has none. */
export async function ownPredicates(
  configuration: Configuration,
): Promise<Result<OwnPredicates | null, readonly Diagnostic[]>> {
  const { asking, namedModules, apps, dataFolder } = configuration;
  const weaker = readWeaker(configuration.weaker);
  if (!weaker.ok) return weaker;
  const modules = [...asking.modules, ...namedModules];
  if (modules.length === 0) return ok(null);
  // Loaded when there are some: it loads the sandbox.
  const [{ startModules }, { machineSandbox }] = await Promise.all([
    import('../own-detectors/start-modules.ts'),
    import('../machine/machine-sandbox.ts'),
  ]);
  const writable = apps.flatMap(({ manifest }) => manifest.files.write);
  return startModules(modules, machineSandbox({ dataFolder }, weaker.value), writable);
}

/** What looks at texts, which starts with the first of them, and where the policy finds what it has answered. */
export function textQuestionsOf(launch: LaunchFor): {
  readonly textQuestions: TextQuestions;
  readonly texts: ConfinedDetectors;
} {
  const book = new KeptAnswers(Date.now);
  return { textQuestions: new TextQuestions(book), texts: new ConfinedDetectors({ book, launch }) };
}

/** In a sandbox like an app's, with the layers that the user left out for all. Loaded when a rule first asks. */
function launchOn({ dataFolder, weaker }: Configuration): LaunchFor {
  let launcher: Promise<LaunchFor> | null = null;
  const opened = async (): Promise<LaunchFor> => {
    const [{ detectorLauncher }, { machineSandbox }] = await Promise.all([
      import('@cordon/detector-process/launch'),
      import('../machine/machine-sandbox.ts'),
    ]);
    const layers = readWeaker(weaker);
    return detectorLauncher(machineSandbox({ dataFolder }, layers.ok ? layers.value : []), CODE_ROOT);
  };
  return async (work, signal) => {
    launcher ??= opened();
    return (await launcher)(work, signal);
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
