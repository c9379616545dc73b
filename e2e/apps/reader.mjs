/** An app that reads the file it is told to, and answers as the official SDKs do where it cannot: an error with its words.
 * Its argument is a variable without which it does not start. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { send } from './lines.mjs';

const [, , needed] = process.argv;
if (needed !== undefined && process.env[needed] === undefined) {
  console.error(`Error: the environment variable ${needed} must be set`);
  process.exit(1);
}

const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const tools = [
  { name: 'look', description: 'Looks.', inputSchema, annotations: { readOnlyHint: true } },
  { name: 'post', description: 'Posts.', inputSchema: { type: 'object' } },
];

function look({ path }) {
  try {
    return { content: [{ type: 'text', text: readFileSync(path, 'utf8') }] };
  } catch (error) {
    return { content: [{ type: 'text', text: `Error: ${error.message}` }], isError: true };
  }
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'reader', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: given }) =>
    name === 'look' ? look(given) : { content: [{ type: 'text', text: 'posted' }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method];
  send(answer === undefined ? { id, error: { code: -32601, message: 'unknown method' } } : { id, result: answer(params) });
});
