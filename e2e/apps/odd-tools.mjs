/** Describes a tool by a number. */
import { createInterface } from 'node:readline';
import { send } from './lines.mjs';

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const serverInfo = { name: 'odd', version: '1' };
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  if (method === 'tools/list')
    send({ id, result: { tools: [{ name: 'echo', description: 5, inputSchema: { type: 'object' } }] } });
});
