/**
 * Policy engines and guards of others beside Cordon: the same rules, in the words of each, on the same traces. Which can
 * say them, who has to keep what they need to know, what comes of it, and what a decision costs.
 */
import { type Fault, type JsonObject, ok, type Result } from '@cordon/core';
import { dataFile } from '../data.ts';
import type { BenchRequest, DataFile, PreparedSuite, Unit } from '../evaluation/suite.ts';
import { linesOf } from '../protection/line-file.ts';
import { LabelSource, TRACES, type TraceFile, traceFiles } from '../protection/recorded.ts';
import { type RecordedTrace, recordedTrace } from '../protection/recorded-trace.ts';
import { costRecord } from './decision-cost.ts';
import { AGENT_GOVERNANCE } from './engines/agent-governance.ts';
import { CEDAR } from './engines/cedar.ts';
import { CORDON } from './engines/cordon.ts';
import { OPA } from './engines/opa.ts';
import { OPENAI_GUARDRAILS } from './engines/openai-guardrails.ts';
import { paperRecord } from './paper.ts';
import { IDEAS, type Peer, type PeerEngine, type PeerRule } from './peer.ts';
import { recordedRecord } from './recorded.ts';
import { peersReport } from './report.ts';
import { sandboxUnits } from './sandboxes.ts';

const PEERS: readonly Peer[] = [CORDON, OPA, CEDAR, AGENT_GOVERNANCE, OPENAI_GUARDRAILS];

/** Of so many traces one is in the sample. */
const SAMPLE = 25;

/** The rule whose cost is told: one that the peer can say, the more it has to know the better. */
const COSTED: readonly PeerRule[] = ['unnamed-recipient', 'write-after-output', 'contents'];

/** The traces are those of the repository unless `--traces` names others; the paper's rules have cases of their own. */
export async function preparedComparison(request: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const files = traceFiles(request.traces ?? TRACES);
  if (!files.ok) return files;
  const labels = LabelSource.of(request);
  if (!labels.ok) return labels;
  const engines = new Engines();
  const missing: Peer[] = [];
  for (const peer of PEERS) if ((await engines.of(peer)) === null) missing.push(peer);
  const present = PEERS.filter((peer) => !missing.includes(peer));
  const traces = new CountedTraces(files.value, request.isQuick ? SAMPLE : 1);
  const sandboxes = sandboxUnits(request);
  const data: DataFile[] = [];
  for (const { path, name } of files.value) data.push(await dataFile(path, `traces/${name}`));
  return ok({
    data,
    units: [...present.flatMap((peer) => unitsOf(peer, engines, traces, labels.value)), ...sandboxes.units],
    notices: [
      ...missing.map(({ name }) => `${name} is not installed (bench/peers/packages.ts says how)`),
      ...labels.value.notices,
      ...sandboxes.notices,
    ],
    close: async () => {},
    report: (records) => peersReport(PEERS, records),
  });
}

/** Loaded once; what peers hold on to lives as long as the process. */
class Engines {
  readonly #loaded = new Map<string, Promise<PeerEngine | null>>();

  of(peer: Peer): Promise<PeerEngine | null> {
    const engine = this.#loaded.get(peer.id) ?? peer.load();
    this.#loaded.set(peer.id, engine);
    return engine;
  }
}

function unitsOf(peer: Peer, engines: Engines, traces: CountedTraces, labels: LabelSource): readonly Unit[] {
  const engineOf = async (): Promise<PeerEngine> => {
    const engine = await engines.of(peer);
    if (engine === null) throw new Error(`${peer.name} went away`);
    return engine;
  };
  const costed = COSTED.find((rule) => peer.says[rule].kind !== 'none');
  return [
    { key: `paper/${peer.id}`, weight: 1, run: async () => paperRecord(peer, await engineOf()) },
    ...IDEAS.filter((idea) => peer.says[idea].kind !== 'none').map(
      (idea): Unit => ({
        key: `recorded/${idea}/${peer.id}`,
        weight: peer.id === 'policy-opa' ? 30 : 10,
        run: async (signal) => recordedRecord(idea, await engineOf(), await traces.read(), labels, signal),
      }),
    ),
    ...(costed === undefined
      ? []
      : [
          {
            key: `cost/${costed}/${peer.id}`,
            weight: 3,
            run: async (): Promise<JsonObject> => {
              const engine = await engineOf();
              return engine.isAsDeployed ? costRecord(engine, costed) : {};
            },
          },
        ]),
  ];
}

/** The traces that count, read when the first unit asks. */
class CountedTraces {
  readonly #files: readonly TraceFile[];
  readonly #every: number;
  #read: Promise<readonly RecordedTrace[]> | null = null;

  constructor(files: readonly TraceFile[], every: number) {
    this.#files = files;
    this.#every = every;
  }

  read(): Promise<readonly RecordedTrace[]> {
    this.#read ??= this.#readAll();
    return this.#read;
  }

  async #readAll(): Promise<readonly RecordedTrace[]> {
    const traces: RecordedTrace[] = [];
    let counted = 0;
    for (const { path } of this.#files)
      for await (const { text } of linesOf(path)) {
        const trace = text === null ? null : recordedTrace(text);
        // Broken lines are told where the packs are measured, on the same files.
        if (trace === null || !trace.ok || trace.value.truth.kind === 'uncounted') continue;
        if (counted++ % this.#every === 0) traces.push(trace.value);
      }
    return traces;
  }
}
