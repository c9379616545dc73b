/** The least that is an MCP server: no library, no type to strip, so that what is measured is what is around it. */
let rest = '';
const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);

function receive({ id, method, params }) {
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'echo', version: '1' };
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') {
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
    const annotations = { readOnlyHint: true };
    answer(id, { tools: [{ name: 'echo', description: 'Echoes.', inputSchema, annotations }] });
  } else if (method === 'tools/call') {
    answer(id, { content: [{ type: 'text', text: params.arguments.text }] });
  } else answer(id, {});
}

process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) receive(JSON.parse(line));
});
