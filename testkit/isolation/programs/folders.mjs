/** An app that times its own work with files, or makes 9,000 folders in its own folder. Each name is a tool. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

const FOLDERS = 9_000;
/** Within the limit of 64, with the folders around it. */
const ALLOWED = 50;
const PAUSE_MS = 2;
const TEXT = 'x'.repeat(4096);

let rest = '';
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** Milliseconds of each: write, look, rename, read, delete. */
async function times(count) {
  const taken = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    writeFileSync('/state/a', TEXT);
    statSync('/state/a');
    renameSync('/state/a', '/state/b');
    readFileSync('/state/b');
    rmSync('/state/b');
    taken.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return taken;
}

/** A step at a time: a path as long as 9,000 folders is none. */
function nest(depth) {
  for (let n = 0; n < depth; n++) {
    mkdirSync('d');
    process.chdir('d');
  }
}

function chains() {
  for (let n = 0; n < FOLDERS / ALLOWED; n++) {
    mkdirSync(`/state/chain-${n}`);
    process.chdir(`/state/chain-${n}`);
    nest(ALLOWED - 1);
  }
  process.chdir('/state');
}

function beside() {
  for (let n = 0; n < FOLDERS; n++) mkdirSync(`/state/flat-${n}`);
}

const TOOLS = {
  times: async ({ count }) => JSON.stringify(await times(count)),
  nested: () => {
    process.chdir('/state');
    nest(FOLDERS);
    return 'done';
  },
  flat: () => {
    beside();
    return 'done';
  },
  allowed: () => {
    chains();
    return 'done';
  },
};

async function receive({ id, method, params }) {
  if (id === undefined) return;
  const serverInfo = { name: 'folders', version: '1' };
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  else if (method === 'tools/list') {
    const inputSchema = { type: 'object', properties: { count: { type: 'number' } } };
    send({ id, result: { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema })) } });
  } else if (method === 'tools/call') {
    const text = await TOOLS[params.name](params.arguments);
    send({ id, result: { content: [{ type: 'text', text }] } });
  } else send({ id, result: {} });
}

process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) receive(JSON.parse(line));
});
