/** What one decision costs a peer when the session has become long. Only where the peer runs as it would be deployed. */
import type { JsonObject } from '@cordon/core';
import type { ToolCallEvent } from '@cordon/policy';
import { eventAt } from '../policy/session.ts';
import { summary } from '../sample.ts';
import type { PeerEngine, PeerRule } from './peer.ts';

export const LENGTHS = [10, 100, 1_000, 10_000];
const ROUNDS = 5;
const ROUND_MS = 60;
const MOST_DECISIONS = 300;

const CALL: ToolCallEvent = {
  type: 'ToolCall',
  callId: 'next',
  kind: 'function',
  name: 'send_email',
  arguments: { recipients: ['somebody@bluesparrowtech.com'], body: 'The numbers of this week are attached.' },
  tool: { readOnly: false, outward: true, identifying: ['recipients'] },
};

/** Microseconds a decision, the best round of some, by the number of events before it. */
export async function costRecord(engine: PeerEngine, rule: PeerRule): Promise<JsonObject> {
  const costs: Record<string, JsonObject> = {};
  for (const length of LENGTHS) {
    const judge = await engine.open(rule);
    for (let position = 0; position < length; position++) judge.hear(eventAt(position));
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const begun = performance.now();
      let decisions = 0;
      while (decisions < MOST_DECISIONS && performance.now() - begun < ROUND_MS) {
        await judge.stops(CALL);
        decisions++;
      }
      // The first round is the host's, which compiles what it had not run before.
      if (round > 0) times.push(((performance.now() - begun) / decisions) * 1000);
    }
    costs[length] = { ...summary(times) };
  }
  return costs;
}
