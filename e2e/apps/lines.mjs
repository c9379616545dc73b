/**
 * The least that is MCP on standard streams, written by hand so that the apps beside this file can break every rule
 * that a library keeps.
 */
import { createInterface } from 'node:readline';

export function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/**
 * `tools`: name → what a call does; what it returns is the result's text, `undefined` is no answer at all. `takes`: name → the
 * properties of its arguments, where the app says any. `describes`: name → what the app says that it does, if not its name.
 */
export function speak(tools, takes = {}, describes = {}) {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'initialize') {
      const serverInfo = { name: 'test', version: '1' };
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === 'tools/list') {
      const schema = (name) => ({ type: 'object', ...(takes[name] === undefined ? {} : { properties: takes[name] }) });
      const described = (name) => ({ name, description: describes[name] ?? name, inputSchema: schema(name) });
      const listed = Object.keys(tools).map(described);
      send({ id, result: { tools: listed } });
    } else if (method === 'tools/call') {
      const text = tools[params.name](params.arguments);
      if (text !== undefined) send({ id, result: { content: [{ type: 'text', text }] } });
    } else send({ id, error: { code: -32601, message: 'unknown method' } });
  });
}

export const echo = ({ text = 'nothing' }) => String(text);
