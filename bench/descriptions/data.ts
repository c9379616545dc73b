/** Descriptions of apps: honest ones of public servers and data sets, and poisoned ones (bench/data/ORIGIN.md). */
import {
  type Fault,
  failed,
  fault,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { AppDescription } from '@cordon/hub';
import { readData } from '../data.ts';
import { listAt, objectAt, textAt } from '../evaluation/report-parts.ts';
import type { DataFile } from '../evaluation/suite.ts';

export interface DescribedApp {
  /** Where its description is from, as it stands in the table. */
  readonly set: string;
  readonly id: string;
  readonly description: AppDescription;
}

export interface Descriptions {
  readonly honest: readonly DescribedApp[];
  /** One tool each. */
  readonly poisoned: readonly DescribedApp[];
  readonly data: readonly DataFile[];
}

const LIMITS = { length: 64 * 1024 * 1024, depth: 64, elements: 2_000_000 };

/** `folder`: what `--data` names. Without InjecAgent, which only that folder can have, its tools are left out. */
export function readDescriptions(folder: string | null): Result<Descriptions, Fault> {
  const data: DataFile[] = [];
  const faults: Fault[] = [];
  const read = (name: string): Json => {
    const file = readData(name, folder);
    if (!file.ok) {
      faults.push(file.fault);
      return null;
    }
    data.push(file.value.file);
    const parsed = parseJson(file.value.text, LIMITS);
    if (!parsed.ok) faults.push(fault('usage', `\`${name}\` is not JSON`));
    return parsed.ok ? parsed.value : null;
  };
  const honest = [
    ...objectsIn(read('descriptions/servers.json')).map(serverOf),
    ...appsIn('BFCL', objectsIn(read('scripted/bfcl/tools.json'))),
    ...suitesIn(read('scripted/agentdojo/suites.json')),
    ...(folder === null
      ? []
      : appsIn('InjecAgent', objectsIn(read('scripted/injecagent/tools_jsonschema.json')))),
  ];
  const poisoned = objectsIn(read('descriptions/poisoned.json')).map(poisonedOf);
  const [first] = faults;
  return first === undefined ? ok({ honest, poisoned, data }) : failed(first);
}

function objectsIn(value: Json): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : [];
}

function serverOf(server: JsonObject): DescribedApp {
  const tools = listAt(server, 'tools').filter((tool) => isJsonObject(tool));
  return {
    set: `\`${textAt(server, 'package')}\` ${textAt(server, 'version')}`,
    id: textAt(server, 'id'),
    description: { instructions: textAt(server, 'instructions'), tools: tools.map(toolOf) },
  };
}

function appsIn(set: string, tools: readonly JsonObject[]): readonly DescribedApp[] {
  return [...Map.groupBy(tools, (tool) => textAt(tool, 'app'))].map(([id, ones]) => ({
    set,
    id,
    description: { instructions: '', tools: ones.map(toolOf) },
  }));
}

function suitesIn(value: Json): readonly DescribedApp[] {
  const suites = isJsonObject(value) ? objectAt(value, 'suites') : null;
  return Object.entries(suites ?? {}).map(([id, suite]) => ({
    set: 'AgentDojo',
    id,
    description: {
      instructions: '',
      tools: (isJsonObject(suite) ? listAt(suite, 'tools') : [])
        .filter((tool) => isJsonObject(tool))
        .map(toolOf),
    },
  }));
}

function poisonedOf(one: JsonObject): DescribedApp {
  const tool = objectAt(one, 'tool');
  return {
    set: textAt(one, 'from'),
    id: textAt(one, 'what'),
    description: { instructions: textAt(one, 'instructions'), tools: tool === null ? [] : [toolOf(tool)] },
  };
}

/** As MCP lists it, or as model providers do, who call the input schema `parameters`. */
function toolOf(tool: JsonObject): AppDescription['tools'][number] {
  const schema = (key: string): JsonSchema | null => objectAt(tool, key);
  const text = (key: string): string | null => (typeof tool[key] === 'string' ? textAt(tool, key) : null);
  return {
    name: textAt(tool, 'name'),
    title: text('title'),
    description: text('description'),
    input: schema('inputSchema') ?? schema('parameters') ?? { type: 'object' },
    output: schema('outputSchema'),
    annotations: objectAt(tool, 'annotations'),
  };
}
