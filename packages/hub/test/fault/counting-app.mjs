// `counting-app FILE SPEC`: an MCP server whose tools write a line into FILE for each effect, before they answer.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file, spec] = process.argv.slice(2);
// The same words as those of the app that stands in for it where a session goes on: another app would be asked anew.
const { name, tools } = JSON.parse(spec);
const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

function answer({ method, params }) {
  if (method === 'initialize') {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name, version: '1' },
      instructions: `You work for <${name}>.`,
    };
  }
  if (method === 'tools/list') {
    return { tools: tools.map((tool) => ({ name: tool.name, description: `the words of ${name} about ${tool.name}`, inputSchema })) };
  }
  if (method !== 'tools/call') return {};
  const before = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  const token = before + 1;
  appendFileSync(file, `${params.name} ${params.arguments.n} ${token}\n`);
  return { content: [], structuredContent: { token } };
}

// Its hub may be gone when it answers.
process.stdout.on('error', () => process.exit());
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) })}\n`);
});
