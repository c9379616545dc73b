/** The paper's four rules, each by a peer in its own words, on what they stop and what they let pass. */
import type { JsonObject } from '@cordon/core';
import { readTrace } from '@cordon/policy-tools';
import { type Log, PAPER_CASES } from '../../examples/policy/paper/cases.ts';
import { verdicts } from './judged-trace.ts';
import { PAPER_RULES, type Peer, type PeerEngine } from './peer.ts';

/** For each rule that the peer can say: how many cases it gets right, of how many. */
export async function paperRecord(peer: Peer, engine: PeerEngine): Promise<JsonObject> {
  const rules: Record<string, JsonObject> = {};
  for (const rule of PAPER_RULES) {
    if (peer.says[rule].kind === 'none') continue;
    const { caught = [], clean = [] } = PAPER_CASES[rule] ?? {};
    const isStopped = async (log: Log): Promise<boolean> => {
      const read = readTrace(JSON.parse(JSON.stringify(log)), { format: 'openai-chat' });
      if (!read.ok) throw new Error(read.fault.message);
      const said = await verdicts(await engine.open(rule), read.value.events);
      return said.some(({ isStopped }) => isStopped);
    };
    const stopped = await Promise.all(caught.map(isStopped));
    const disturbed = await Promise.all(clean.map(isStopped));
    rules[rule] = {
      attacks: stopped.length,
      stopped: stopped.filter(Boolean).length,
      twins: disturbed.length,
      disturbed: disturbed.filter(Boolean).length,
    };
  }
  return rules;
}
