/** The rules of a configuration, and who answers what they ask. Ring 1. */
import {
  type Diagnostic,
  ok,
  type Result,
  type Service,
  type ServiceName,
  type TextThread,
} from '@cordon/core';
import { type Asking, KeptAnswers, WorkerTextThread } from '@cordon/detectors';
import type { Answering } from '@cordon/hub';
import { createService, type EndpointKind } from '@cordon/llm';
import { LongTexts, type Policy } from '@cordon/policy/rules';
import type { AskingSettings } from './asking-config.ts';
import type { Configuration } from './config.ts';
import { readPolicies } from './policy-in-force.ts';

export interface Rules {
  readonly policy: Policy;
  /** Null: nobody, and rules that ask are undecided. */
  readonly answering: Answering | null;
  /** Looks at the texts that are too long for the thread that decides. */
  readonly texts: TextThread;
}

/** All that is in force, read and checked. A failure holds what is wrong in any of the files. */
export function readRules({
  asking,
  packs,
  policyFiles,
}: Pick<Configuration, 'asking' | 'packs' | 'policyFiles'>): Result<Rules, readonly Diagnostic[]> {
  const answering = answeringOf(asking);
  const { longTexts, texts } = longTextsOf();
  const policy = readPolicies({ packs, files: policyFiles, asking: askingOf(answering), longTexts });
  return policy.ok ? ok({ policy: policy.value, answering, texts }) : policy;
}

/** A thread for long texts, which starts with the first of them, and where the policy finds what it has answered. */
export function longTextsOf(): { readonly longTexts: LongTexts; readonly texts: TextThread } {
  const book = new KeptAnswers(Date.now);
  return { longTexts: new LongTexts(book), texts: new WorkerTextThread({ book }) };
}

/** Who answers questions of rules, with what is known of their answers; null: the configuration gives nobody. */
export function answeringOf({ model, endpoints, seconds }: AskingSettings): Answering | null {
  if (model === null && endpoints.size === 0) return null;
  const services = [...endpoints].map(([kind, endpoint]): [EndpointKind, Service] => [
    kind,
    createService(kind, endpoint, (input, init) => fetch(input, init)),
  ]);
  return { book: new KeptAnswers(Date.now), model, services: new Map(services), seconds };
}

/** The same as detectors see it. */
export function askingOf(answering: Answering | null): Asking | undefined {
  if (answering === null) return undefined;
  const { book, model, services } = answering;
  const offers: ReadonlySet<ServiceName> = new Set([
    ...(model === null ? [] : ['llm' as const]),
    ...services.keys(),
  ]);
  return { book, offers, model };
}
