/** Books trips. SAYS is what it answers to a booking, as JSON, in the place of what was booked. */
import { createInterface } from 'node:readline';
import { send } from './lines.mjs';

const inputSchema = {
  type: 'object',
  properties: { to: { type: 'string' }, departure: { type: 'string' }, comeback: { type: 'string' } },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'trips', version: '1' };
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'book', description: 'Books.', inputSchema }] } });
  if (method !== 'tools/call') return send({ id, result: {} });
  const { departure, comeback } = params.arguments;
  const structuredContent = { departure, comeback, price: 120, ...JSON.parse(process.env.SAYS ?? '{}') };
  send({ id, result: { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent } });
});
