/**
 * An app that plays a part: what it says of itself, its tools and their results stand in a JSON file, named by its
 * first argument. It writes every call down in `calls.json`, so that what reached it shows on disk. With PLAY=benign it
 * plays the honest twin of its part.
 */
import { readFileSync } from 'node:fs';
import {
  type FromSchema,
  type JsonObject,
  type ObjectSchema,
  openState,
  serve,
  type Tool,
  tool,
} from '@cordon/app';

interface PlayedTool {
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  /** What it answers; `${name}` stands for an argument. */
  readonly result: JsonObject;
  readonly readOnly?: boolean;
}

interface Part {
  readonly title: string;
  readonly instructions: string;
  readonly tools: Readonly<Record<string, PlayedTool>>;
}

interface Script extends Part {
  /** What differs from the part in the benign twin. */
  readonly benign?: Partial<Part>;
  /** What differs from the second start on: a description that was changed after somebody had looked at it. */
  readonly later?: Partial<Part>;
}

const [, , file] = process.argv;
if (file === undefined) throw new Error('the first argument must name the JSON file of the part');
const script: Script = JSON.parse(readFileSync(file, 'utf8'));

const record = openState({
  file: 'calls.json',
  schema: {
    type: 'object',
    properties: {
      starts: { type: 'integer', minimum: 0 },
      calls: {
        type: 'array',
        items: {
          type: 'object',
          properties: { tool: { type: 'string' }, arguments: { type: 'string' } },
          required: ['tool', 'arguments'],
        },
      },
    },
    required: ['starts', 'calls'],
  },
  initial: { starts: 0, calls: [] },
});

const { starts } = record.update(({ starts, calls }) => ({ starts: starts + 1, calls }));
const part = partOf(script, process.env.PLAY === 'benign', starts > 1);

await serve({
  name: script.title.toLowerCase().replaceAll(' ', '-'),
  title: part.title,
  version: '1.0.0',
  instructions: part.instructions,
  tools: Object.fromEntries(
    Object.entries(part.tools).map(([name, played]) => [name, playedTool(name, played)]),
  ),
});

function partOf({ benign, later, ...hostile }: Script, isBenign: boolean, isLater: boolean): Part {
  if (isBenign) return { ...hostile, ...benign };
  return isLater ? { ...hostile, ...later } : hostile;
}

function playedTool(name: string, { description, input, output, result, readOnly }: PlayedTool): Tool {
  return tool({
    description,
    input,
    output,
    annotations: { readOnlyHint: readOnly === true },
    run: (args) => {
      const called = { tool: name, arguments: JSON.stringify(args) };
      record.update(({ starts, calls }) => ({ starts, calls: [...calls, called] }));
      return filled(result, args);
    },
  });
}

function filled(result: JsonObject, args: object): FromSchema<ObjectSchema> {
  const values = new Map(Object.entries(args).map(([name, value]) => [name, String(value)]));
  return JSON.parse(JSON.stringify(result), (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(/\$\{(\w+)\}/g, (_all, name) => values.get(name) ?? '') : value,
  );
}
