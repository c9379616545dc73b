/** An app that fetches whatever address it is told to, in the way it is told, and says what came of it. */
import { createInterface } from 'node:readline';
import { send } from './lines.mjs';

const tool = {
  name: 'fetch_page',
  description: 'Fetches an address.',
  inputSchema: {
    type: 'object',
    properties: { address: { type: 'string' }, way: { type: 'string' }, credential: { type: 'string' } },
    required: ['address'],
  },
  annotations: { readOnlyHint: true },
};

/** Answers of the host to requests of this app, by their ids. */
const asked = new Map();

function byHub(url, credential) {
  const id = `fetch-${asked.size}`;
  send({ id, method: 'cordon/fetch', params: { url, ...(credential === undefined ? {} : { credential }) } });
  return new Promise((resolve) => asked.set(id, resolve)).then(({ result, error }) =>
    error === undefined ? `fetched: ${result.body}` : `not fetched: ${error.message}`,
  );
}

async function fetched({ address, way = 'fetch', credential }) {
  if (way === 'hub') return byHub(address, credential);
  try {
    const response = await fetch(address);
    return `${response.ok ? 'fetched' : `not fetched: ${response.status}`}: ${await response.text()}`;
  } catch (error) {
    return `not fetched: ${error.cause?.code ?? error.message}`;
  }
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  if (id === undefined) return;
  if (method === undefined) return asked.get(id)?.(message);
  if (method === 'initialize') {
    const serverInfo = { name: 'fetcher', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools: [tool] } });
  else if (method === 'tools/call') {
    const text = await fetched(params.arguments);
    send({ id, result: { content: [{ type: 'text', text }] } });
  } else send({ id, error: { code: -32601, message: 'unknown method' } });
});
