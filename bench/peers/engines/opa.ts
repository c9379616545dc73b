/**
 * `@ai-sdk/policy-opa`: rules in Rego, asked before each call with the call and all messages before it, as the library
 * hands them over. What is known of tools comes as `runtimeContext`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolCallEvent, TraceEvent } from '@cordon/policy';
import { peerModule } from '../packages.ts';
import type { Judge, Peer, PeerEngine, PeerRule } from '../peer.ts';
import { identifyingNames, textOf } from './history.ts';
import { type PolicyClient, regoEngine } from './rego-engine.ts';

interface PolicyOpa {
  readonly opaPolicy: (options: { readonly client: PolicyClient; readonly path: string }) => Approval;
}

type Approval = (asked: {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown };
  readonly messages: readonly Message[];
  readonly runtimeContext: unknown;
}) => Promise<{ readonly type: 'approved' | 'denied' | 'user-approval' | 'not-applicable' } | undefined>;

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const POLICY = { kind: 'policy' } as const;
const NO_DETECTOR = { kind: 'none', missing: 'no detector comes with it' } as const;

export const OPA: Peer = {
  id: 'policy-opa',
  name: '`@ai-sdk/policy-opa` 1.0.112',
  says: {
    'link-preview': POLICY,
    'leaked-secret': POLICY,
    'pickled-model': POLICY,
    'mail-after-pii': POLICY,
    'write-after-output': POLICY,
    'unnamed-recipient': POLICY,
    'kept-recipient': POLICY,
    instructions: NO_DETECTOR,
    contents: NO_DETECTOR,
  },
  load: loaded,
};

async function loaded(): Promise<PeerEngine | null> {
  const adapter = await peerModule<PolicyOpa>('@ai-sdk/policy-opa');
  const engine = adapter === null ? null : await regoEngine();
  if (adapter === null || engine === null) return null;
  const clients = new Map<PeerRule, Promise<PolicyClient>>();
  const clientFor = (rule: PeerRule): Promise<PolicyClient> => {
    const known = clients.get(rule) ?? engine.client(policyText(rule));
    clients.set(rule, known);
    return known;
  };
  return {
    isAsDeployed: engine.isAsDeployed,
    open: async (rule) =>
      new OpaJudge(adapter.opaPolicy({ client: await clientFor(rule), path: 'agent/call/decision' })),
  };
}

function policyText(rule: PeerRule): string {
  return readFileSync(join(import.meta.dirname, '../rules/opa', `${rule}.rego`), 'utf8');
}

class OpaJudge implements Judge {
  readonly #approval: Approval;
  readonly #messages: Message[] = [];
  readonly #names = new Map<string, string>();

  constructor(approval: Approval) {
    this.#approval = approval;
  }

  hear(event: TraceEvent): void {
    if (event.type === 'Message' && event.role !== 'assistant')
      this.#messages.push(spoken(event.role, [{ type: 'text', text: textOf(event) }]));
    else if (event.type === 'ToolCall') this.#hearCall(event);
    else if (event.type === 'ToolOutput') {
      const toolCallId = event.callId ?? '';
      const output = { type: 'text', value: textOf(event) };
      const part = { type: 'tool-result', toolCallId, toolName: this.#names.get(toolCallId) ?? '', output };
      this.#messages.push(spoken('tool', [part]));
    }
  }

  #hearCall(call: ToolCallEvent): void {
    const toolCallId = call.callId ?? '';
    this.#names.set(toolCallId, call.name);
    const part = { type: 'tool-call', toolCallId, toolName: call.name, input: call.arguments };
    this.#messages.push(spoken('assistant', [part]));
  }

  async stops(call: ToolCallEvent): Promise<boolean> {
    const known = { readOnly: call.tool?.readOnly === true, identifying: identifyingNames(call) };
    const status = await this.#approval({
      toolCall: { toolName: call.name, toolCallId: call.callId ?? '', input: call.arguments },
      messages: [...this.#messages],
      runtimeContext: { tools: { [call.name]: known } },
    });
    return status?.type === 'denied' || status?.type === 'user-approval';
  }
}

function spoken(role: string, content: unknown): Message {
  return { role, content };
}
