/**
 * Cedar: one decision for each call, out of the call and what the program around it keeps of the history, which Cedar
 * itself does not see. Tools are resources with their labels; facts are the context. A `forbid` counts as a question:
 * Cedar knows none.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json } from '@cordon/core';
import type { ToolCallEvent, TraceEvent } from '@cordon/policy';
import { peerModule } from '../packages.ts';
import type { Judge, Peer, PeerEngine, PeerRule } from '../peer.ts';
import { History, identifyingValues, isWrite, scalarsOf } from './history.ts';

interface CedarWasm {
  preparsePolicySet(id: string, policies: { readonly staticPolicies: string }): { readonly type: string };
  statefulIsAuthorized(call: object): Answer;
}

type Answer =
  | { readonly type: 'success'; readonly response: { readonly decision: 'allow' | 'deny' } }
  | { readonly type: 'failure'; readonly errors: readonly { readonly message: string }[] };

const NO_DETECTOR = { kind: 'none', missing: 'no detector and no regular expressions' } as const;
const ANSWERED = { kind: 'host', keeps: 'which tools answered' } as const;

export const CEDAR: Peer = {
  id: 'cedar',
  name: 'Cedar 4.13.0 (`@cedar-policy/cedar-wasm`)',
  says: {
    'link-preview': ANSWERED,
    'leaked-secret': { kind: 'host', keeps: 'the texts of all arguments as one (sets cannot be walked)' },
    'pickled-model': { kind: 'host', keeps: 'the hosts that were visited' },
    'mail-after-pii': NO_DETECTOR,
    'write-after-output': { kind: 'host', keeps: 'how many outputs there were' },
    'unnamed-recipient': { kind: 'host', keeps: "the user's words and groups of words" },
    'kept-recipient': { kind: 'host', keeps: "the user's words, and the fields of all records" },
    instructions: NO_DETECTOR,
    contents: NO_DETECTOR,
  },
  load: loaded,
};

async function loaded(): Promise<PeerEngine | null> {
  const cedar = await peerModule<CedarWasm>('@cedar-policy/cedar-wasm/nodejs');
  if (cedar === null) return null;
  const parsed = new Set<PeerRule>();
  return {
    isAsDeployed: true,
    open: (rule) => {
      if (!parsed.has(rule)) {
        const staticPolicies = readFileSync(
          join(import.meta.dirname, '../rules/cedar', `${rule}.cedar`),
          'utf8',
        );
        const { type } = cedar.preparsePolicySet(rule, { staticPolicies });
        if (type !== 'success') throw new Error(`${rule}.cedar does not parse`);
        parsed.add(rule);
      }
      return new CedarJudge(cedar, rule);
    },
  };
}

class CedarJudge implements Judge {
  readonly #cedar: CedarWasm;
  readonly #rule: PeerRule;
  readonly #history = new History();

  constructor(cedar: CedarWasm, rule: PeerRule) {
    this.#cedar = cedar;
    this.#rule = rule;
  }

  hear(event: TraceEvent): void {
    this.#history.hear(event);
  }

  stops(call: ToolCallEvent): boolean {
    const facts = this.#facts(call);
    switch (this.#rule) {
      case 'unnamed-recipient':
      case 'kept-recipient':
        return identifyingValues(call).some((value) =>
          this.#denies(call, { ...facts, value: value.toLowerCase() }),
        );
      default:
        return this.#denies(call, facts);
    }
  }

  /** Only what the rule looks at: the context is copied into the engine for each decision. */
  #facts(call: ToolCallEvent): { readonly [name: string]: Json } {
    const { outputs, toolsThatAnswered, hostsVisited, userPhrases, recordFields } = this.#history;
    switch (this.#rule) {
      case 'write-after-output':
        return { outputs };
      case 'unnamed-recipient':
        return { userPhrases: [...userPhrases] };
      case 'kept-recipient':
        return { userPhrases: [...userPhrases], recordFields: [...recordFields] };
      case 'link-preview':
        return { arguments: decidable(call.arguments), answered: [...toolsThatAnswered] };
      case 'leaked-secret':
        return { text: scalarsOf(call.arguments).join('\n') };
      case 'pickled-model':
        return { arguments: decidable(call.arguments), hosts: [...hostsVisited] };
      default:
        throw new Error(`${this.#rule} cannot be said`);
    }
  }

  #denies(call: ToolCallEvent, context: { readonly [name: string]: Json }): boolean {
    const resource = { type: 'Tool', id: call.name };
    const answer = this.#cedar.statefulIsAuthorized({
      principal: { type: 'Agent', id: 'agent' },
      action: { type: 'Action', id: 'call' },
      resource,
      context,
      preparsedPolicySetId: this.#rule,
      entities: [{ uid: resource, attrs: { readOnly: !isWrite(call) }, parents: [] }],
    });
    if (answer.type === 'failure') throw new Error(answer.errors.map(({ message }) => message).join('; '));
    return answer.response.decision === 'deny';
  }
}

/** Cedar has neither null nor fractions. */
function decidable(value: Json): Json {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(decidable);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, decidable(item ?? null)]));
}
