/** An app that fetches whatever address it is told to, and says what came of it. */
import { createInterface } from 'node:readline';
import { send } from './lines.mjs';

const tool = {
  name: 'fetch_page',
  description: 'Fetches an address.',
  inputSchema: { type: 'object', properties: { address: { type: 'string' } }, required: ['address'] },
  annotations: { readOnlyHint: true },
};

async function fetched(address) {
  try {
    const response = await fetch(address);
    return `fetched: ${await response.text()}`;
  } catch (error) {
    return `not fetched: ${error.cause?.code ?? error.message}`;
  }
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'fetcher', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools: [tool] } });
  else if (method === 'tools/call') {
    const text = await fetched(params.arguments.address);
    send({ id, result: { content: [{ type: 'text', text }] } });
  } else send({ id, error: { code: -32601, message: 'unknown method' } });
});
