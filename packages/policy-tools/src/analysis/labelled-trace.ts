/**
 * Recorded traces with what a user says of their tools: calls and outputs get the labels that they would have had in a
 * session of the hub.
 *
 * It looks at recordings.
 */
import { type Label, saidOfTool, type ToolLabelEntry, type ToolLabels, toolLabels } from '@cordon/core';
import type { ToolCallEvent, TraceEvent } from '@cordon/policy';

/** Names of tools of untrusted traces are kept up to here. */
const MOST_NAMES = 10_000;

/** Gives traces the labels of a file. Labels that an event already has, from a journal, stay. */
export class TraceLabels {
  readonly #entries: readonly ToolLabelEntry[];
  readonly #known = new Map<string, ToolLabels>();

  constructor(entries: readonly ToolLabelEntry[]) {
    this.#entries = entries;
  }

  /** The same events, in the same order. */
  label(events: readonly TraceEvent[]): readonly TraceEvent[] {
    /** By id of the call, null for those without one; a later call takes over the id. */
    const calls = new Map<string | null, ToolLabels>();
    const labelledCall = (call: ToolCallEvent): ToolCallEvent => {
      const labels = this.#of(call.name, call.app ?? null);
      calls.set(call.callId, labels);
      const { readOnly, outward, identifying } = labels;
      return {
        ...call,
        irreversible: call.irreversible ?? labels.irreversible,
        tool: call.tool ?? { readOnly, outward, identifying },
      };
    };
    return events.map((event) => {
      if (event.type === 'ToolCall') return labelledCall(event);
      if (event.type === 'Message' && event.toolCalls.length > 0)
        return { ...event, toolCalls: event.toolCalls.map(labelledCall) };
      if (event.type !== 'ToolOutput' || event.label !== undefined) return event;
      const labels = calls.get(event.callId);
      return labels === undefined ? event : { ...event, label: outputLabel(labels) };
    });
  }

  #of(tool: string, app: string | null): ToolLabels {
    const key = `${app ?? ''}\n${tool}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const labels = toolLabels(saidOfTool(this.#entries, tool, app));
    if (this.#known.size >= MOST_NAMES) this.#known.clear();
    this.#known.set(key, labels);
    return labels;
  }
}

function outputLabel(labels: ToolLabels): Label {
  return {
    integrity: labels.untrusted ? 'untrusted' : 'trusted',
    confidentiality: labels.private ? 'private' : 'public',
  };
}
