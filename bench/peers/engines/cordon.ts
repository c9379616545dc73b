/** Cordon itself, with the rules of the paper's page, packs, and three rules of the size of what the others are given. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardDetectors } from '@cordon/detectors';
import { joinPolicies, loadPolicy, type Policy, type ToolCallEvent, type TraceEvent } from '@cordon/policy';
import { ExplainingMonitor } from '@cordon/policy-tools';
import { packFile } from '@cordon/runtime/policies';
import type { Judge, Peer, PeerRule } from '../peer.ts';

const POLICY = { kind: 'policy' } as const;

export const CORDON: Peer = {
  id: 'cordon',
  name: '**Cordon**',
  says: {
    'link-preview': POLICY,
    'leaked-secret': POLICY,
    'pickled-model': POLICY,
    'mail-after-pii': POLICY,
    'write-after-output': POLICY,
    'unnamed-recipient': POLICY,
    'kept-recipient': POLICY,
    instructions: POLICY,
    contents: POLICY,
  },
  load: async () => {
    const policies = new Map<PeerRule, Policy>();
    return {
      isAsDeployed: true,
      open: (rule) => {
        const policy = policies.get(rule) ?? policyOf(rule);
        policies.set(rule, policy);
        return new CordonJudge(policy);
      },
    };
  },
};

function policyOf(rule: PeerRule): Policy {
  return joinPolicies(
    filesOf(rule).map((file) => {
      const policy = loadPolicy(readFileSync(file, 'utf8'), { detectors: standardDetectors() });
      if (!policy.ok) throw new Error(`${file}: ${policy.fault[0]?.message}`);
      return policy.value;
    }),
  );
}

function filesOf(rule: PeerRule): readonly string[] {
  switch (rule) {
    case 'link-preview':
    case 'leaked-secret':
    case 'pickled-model':
    case 'mail-after-pii':
      return [join(import.meta.dirname, '../../../examples/policy/paper', `${rule}.gr`)];
    case 'write-after-output':
    case 'unnamed-recipient':
    case 'kept-recipient':
      return [join(import.meta.dirname, '../rules/cordon', `${rule}.gr`)];
    case 'instructions':
      return [packFile('injection-asks')];
    case 'contents':
      return [packFile('secrets'), packFile('personal-data')];
    default:
      return rule satisfies never;
  }
}

class CordonJudge implements Judge {
  readonly #monitor: ExplainingMonitor;

  constructor(policy: Policy) {
    this.#monitor = new ExplainingMonitor(policy);
  }

  hear(event: TraceEvent): void {
    this.#monitor.append([event]);
  }

  stops(call: ToolCallEvent): boolean {
    return this.#monitor.decide([call]).verdict !== 'allow';
  }
}
