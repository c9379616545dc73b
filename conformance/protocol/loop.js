/**
 * A second agent loop, written from docs/protocol.md alone and sharing no line with `packages/spoke`: what it cannot
 * do, the document does not say. It imports nothing but a socket. PROTOCOL_VERSIONS replaces the versions it names.
 */
import { Socket } from 'node:net';

const link = new Socket({ fd: 3, readable: true, writable: true });
const versions = (process.env.PROTOCOL_VERSIONS ?? '2').split(',').map(Number);
const due = new Map();
let number = 0;
let turn = null;

function say(message) {
  link.write(`${JSON.stringify(message)}\n`);
}

/** Requests carry a number of ours; the one answer to each repeats it. */
function ask(request) {
  number += 1;
  say({ ...request, id: number });
  return new Promise((resolve) => due.set(number, resolve));
}

let rest = Buffer.alloc(0);
link.on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    const line = rest.subarray(0, end).toString('utf8');
    rest = rest.subarray(end + 1);
    if (line !== '') receive(JSON.parse(line));
  }
});
link.on('close', () => process.exit(0));
link.on('error', () => process.exit(0));
say({ type: 'ready', versions });

function receive(message) {
  switch (message.type) {
    case 'welcome':
      return;
    case 'unsupported':
    case 'cancel':
      return process.exit(0);
    case 'turn':
      turn = message;
      return void serve(message.id, message.context);
    default: {
      const resolve = due.get(message.id);
      due.delete(message.id);
      resolve(message);
    }
  }
}

async function serve(id, context) {
  const facts = context.data.map((fact) => `${fact.name}: ${fact.value}`);
  const query = facts.length === 0 ? context.query : `${context.query}\n\n${facts.join('\n')}`;
  const messages = [{ role: 'system', text: context.system }, ...context.history, { role: 'user', text: query }];
  let corrections = 0;
  for (let step = 0; step < context.maxSteps; step += 1) {
    const reply = await ask({ type: 'model', messages });
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls });
    if (reply.calls.length > 0) {
      const results = await Promise.all(reply.calls.map((call) => result(call, context)));
      reply.calls.forEach((call, index) => {
        messages.push({ role: 'tool', callId: call.id, name: call.name, ...results[index] });
      });
      continue;
    }
    // An answer to another context is of its format; the checking of the format is left to the hub here.
    if (context.serves === null || isJson(reply.text)) return say({ type: 'answer', id, text: reply.text });
    corrections += 1;
    if (corrections > 2) return say({ type: 'unfit', id });
    messages.push({ role: 'user', text: 'Answer with one JSON value and nothing else.' });
  }
  say({ type: 'exhausted', id, steps: context.maxSteps });
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function result(call, context) {
  const answer = await ask(requestOf(call, context));
  switch (answer.type) {
    case 'output':
      return { text: answer.text, isError: answer.isError };
    case 'offer':
      return {
        text: JSON.stringify({ peer: answer.peer, request: answer.request, response: answer.response }),
        isError: false,
      };
    case 'response':
      return { text: JSON.stringify(answer.message), isError: false };
    case 'data':
      return { text: JSON.stringify({ values: answer.values }), isError: false };
    case 'opened':
      return { text: answer.text, isError: false };
    case 'finding':
      return { text: JSON.stringify(answer.value), isError: false };
    case 'refusal':
      return { text: answer.text, isError: true };
    case 'gone':
      return { text: 'the other side is gone', isError: true };
    default:
      throw new Error(`an answer of type ${answer.type}, in turn ${turn.id}`);
  }
}

/** Own tools first, then offers, then the words of exchange. */
function requestOf({ name, arguments: args }, { tools, offers }) {
  const offer = offers.find((one) => one.name === name);
  if (tools.some((tool) => tool.name === name)) return { type: 'tool', name, arguments: args };
  if (offer !== undefined) return { type: 'request', peer: offer.peer, message: args };
  if (name === 'probe') return { type: 'probe', functionality: String(args.functionality ?? '') };
  if (name === 'request') return { type: 'request', peer: String(args.peer ?? ''), message: args.message ?? null };
  if (name === 'need') return { type: 'need', kinds: args.kinds ?? [], for: String(args.for ?? '') };
  if (name === 'open') return { type: 'open', reference: String(args.ref ?? '') };
  if (name === 'read') return { type: 'read', reference: String(args.ref ?? ''), schema: args.schema ?? {} };
  return { type: 'tool', name, arguments: args };
}
