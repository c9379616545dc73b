/**
 * What a program that measures one part prints for people: the tables, charts and aims of `cordon bench machine`. With `--json`
 * each program prints its record itself.
 */
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import { type Machine, thisMachine } from '../machine.ts';
import { machineReport } from './report.ts';

/** @param records by the keys of `measurements.ts`; the machine stands in each */
export async function printRecords(records: Readonly<Record<string, object>>): Promise<void> {
  // Loaded now, so that it is no part of what was measured.
  const { CommandContext } = await import('@cordon/cli/program');
  const { lookOf, renderReport } = await import('../evaluation/command/rendering.ts');
  const context = new CommandContext({});
  context.output.say('', machineText(thisMachine()));
  const read = Object.entries(records).map(([key, record]): [string, JsonObject] => [key, asRead(record)]);
  renderReport(lookOf(context), machineReport(new Map(read)));
  await context.close();
}

function machineText({ cpu, cores, memoryGiB, kernel, distribution, node, load }: Machine): string {
  const busy = load > cores ? '; other work keeps the cores busy, and the figures show it' : '';
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${kernel}, ${distribution}; Node ${node}; load ${load}${busy}`;
}

/** As another program reads it. */
function asRead(record: object): JsonObject {
  const parsed = parseJson(JSON.stringify(record));
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}
