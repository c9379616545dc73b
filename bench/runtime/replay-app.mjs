/**
 * An app that answers from a table: an MCP server with no library and no types to strip, so that it is there at once.
 * Its tools and answers stand in `part.json` of its own folder; each call that reaches it is a line of `calls.jsonl`
 * there, written before it answers: that log, and nothing that a model says, shows what was done.
 */
import { appendFileSync, readFileSync } from 'node:fs';

const { name, instructions, tools, answers, otherwise } = JSON.parse(readFileSync('/state/part.json', 'utf8'));
const given = new Map();
let rest = '';

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

const keyOf = (tool, args) => JSON.stringify([tool, sorted(args)]);
const recorded = Map.groupBy(answers, ({ tool, arguments: args }) => keyOf(tool, args));

/** The recorded answers to this very call in their order, the last one again and again; `otherwise` to any other. */
function answerTo(tool, args) {
  const key = [keyOf(tool, args), JSON.stringify([tool, null])].find((one) => recorded.has(one));
  if (key === undefined) return { content: [{ type: 'text', text: otherwise }] };
  const times = given.get(key) ?? 0;
  given.set(key, times + 1);
  const list = recorded.get(key);
  const { output, structured } = list[Math.min(times, list.length - 1)];
  return {
    content: [{ type: 'text', text: output }],
    ...(structured === undefined ? {} : { structuredContent: structured }),
  };
}

function resultOf(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name, version: '1' },
        ...(instructions === undefined ? {} : { instructions }),
      };
    case 'tools/list':
      return { tools };
    case 'tools/call': {
      const { name: tool, arguments: args = {} } = params;
      const at = String(process.hrtime.bigint());
      appendFileSync('/state/calls.jsonl', `${JSON.stringify({ tool, arguments: args, at })}\n`);
      return answerTo(tool, args);
    }
    default:
      return {};
  }
}

process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\n`);
  }
});
