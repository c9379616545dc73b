/** The provider of `broker.ts`: answers every request at once with the same two events. A thread; posts its port. */
import { createServer } from 'node:http';
import { parentPort } from 'node:worker_threads';

const EVENTS = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'four' }, finish_reason: null }] },
  {
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 1 },
  },
];
const LINES = EVENTS.map((event) => JSON.stringify({ id: 'x', created: 1, model: 'm', ...event }));
const BODY = [...LINES, '[DONE]'].map((line) => `data: ${line}\n\n`).join('');

const server = createServer((incoming, response) => {
  incoming.resume();
  incoming.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(BODY);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  parentPort?.postMessage(typeof address === 'object' ? address?.port : 0);
});
