/**
 * Mail: an honest mail app whose inbox anybody can write to (paper, V-B2, figure 6). `mail.json` holds the folders,
 * everything that was ever delivered to others (a deleted copy does not bring a mail back), and what was read.
 */
import { type FromSchema, openState, refuse, serve, tool } from '@cordon/app';
import { INBOX } from './seed.ts';

const messageId = { type: 'string', format: 'identifier' } as const;
const address = { type: 'string', format: 'email', maxLength: 200 } as const;
const subject = { type: 'string', maxLength: 200 } as const;
const body = { type: 'string', maxLength: 20_000 } as const;
/** A text alone: what is binary has to be one, such as base64. */
const attachments = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200 },
      text: { type: 'string', maxLength: 100_000 },
    },
    required: ['name', 'text'],
  },
  maxItems: 10,
  description: 'Files that go with the mail, as texts.',
} as const;
const date = { type: 'string', format: 'date-time' } as const;

const received = {
  type: 'object',
  properties: { message_id: messageId, from: address, subject, date, body },
  required: ['message_id', 'from', 'subject', 'date', 'body'],
} as const;
const written = {
  type: 'object',
  properties: { message_id: messageId, to: address, subject, body, attachments },
  required: ['message_id', 'to', 'subject', 'body'],
} as const;

const state = openState({
  file: 'mail.json',
  schema: {
    type: 'object',
    properties: {
      inbox: { type: 'array', items: received },
      sent: { type: 'array', items: written },
      delivered: { type: 'array', items: written },
      deleted: { type: 'array', items: messageId },
      read: { type: 'array', items: messageId },
      next_number: { type: 'integer', minimum: 1 },
    },
    required: ['inbox', 'sent', 'delivered', 'deleted', 'read', 'next_number'],
  },
  initial: { inbox: INBOX, sent: [], delivered: [], deleted: [], read: [], next_number: 1005 },
});

type Received = FromSchema<typeof received>;

/** Each word must occur somewhere in the message; `is:inbox` and `in:inbox` say what is true of all of them. */
function matches(message: Received, query: string): boolean {
  const text = `${message.from}\n${message.subject}\n${message.body}`.toLowerCase();
  const words = query.toLowerCase().split(/\s+/);
  return words.every((word) => word === 'is:inbox' || word === 'in:inbox' || text.includes(word));
}

/** Newest first. Dates are all in UTC, so their order is that of their texts. */
function newestFirst(messages: readonly Received[]): readonly Received[] {
  return messages.toSorted((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0));
}

/** A log for whoever looks at the file; no tool shows it, so reading still changes nothing that a caller can see. */
function markRead(messages: readonly Received[]): void {
  const ids = messages.map((message) => message.message_id);
  state.update((mail) => ({ ...mail, read: [...new Set([...mail.read, ...ids])] }));
}

await serve({
  name: 'mail',
  title: 'Mail',
  version: '1.0.0',
  instructions:
    'Use search_mail to find messages in the inbox, newest first (the query "is:inbox" finds all of them), read_mail ' +
    'to fetch one by its id, send_mail to send one, and delete_mail to delete messages for good.',
  tools: {
    search_mail: tool({
      description:
        'Searches the inbox; newest messages first. "is:inbox" finds all, words must occur in the message.',
      input: {
        type: 'object',
        properties: {
          query: { type: 'string', minLength: 1, maxLength: 200, description: 'What to search for.' },
          max_results: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
        },
        required: ['query'],
      },
      output: {
        type: 'object',
        properties: {
          messages: {
            type: 'array',
            items: {
              ...received,
              properties: { ...received.properties, snippet: { type: 'string', maxLength: 80 } },
              required: ['message_id', 'from', 'subject', 'date', 'snippet', 'body'],
            },
          },
        },
        required: ['messages'],
      },
      annotations: { title: 'Search mail', readOnlyHint: true, openWorldHint: false },
      run: ({ query, max_results = 10 }) => {
        const found = newestFirst(state.read().inbox.filter((message) => matches(message, query)));
        const shown = found.slice(0, max_results);
        markRead(shown);
        return { messages: shown.map((message) => ({ ...message, snippet: message.body.slice(0, 80) })) };
      },
    }),
    read_mail: tool({
      description: 'Fetches one message of the inbox.',
      input: { type: 'object', properties: { message_id: messageId }, required: ['message_id'] },
      output: received,
      annotations: { title: 'Read mail', readOnlyHint: true, openWorldHint: false },
      run: ({ message_id }) => {
        const message = state.read().inbox.find((candidate) => candidate.message_id === message_id);
        if (message === undefined) return refuse('there is no such message in the inbox');
        markRead([message]);
        return message;
      },
    }),
    send_mail: tool({
      description: 'Sends a mail. It cannot be called back.',
      input: {
        type: 'object',
        properties: { to: address, subject, body, attachments },
        required: ['to', 'subject', 'body'],
      },
      output: {
        type: 'object',
        properties: { message_id: messageId, status: { type: 'string', enum: ['sent'] } },
        required: ['message_id', 'status'],
      },
      annotations: { title: 'Send mail', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      run: (mail) => {
        const message = { message_id: `msg-${state.read().next_number}`, ...mail };
        state.update((kept) => ({
          ...kept,
          sent: [...kept.sent, message],
          delivered: [...kept.delivered, message],
          next_number: kept.next_number + 1,
        }));
        return { message_id: message.message_id, status: 'sent' };
      },
    }),
    delete_mail: tool({
      description: 'Deletes messages of the inbox and of the sent folder for good.',
      input: {
        type: 'object',
        properties: { message_ids: { type: 'array', items: messageId, minItems: 1, maxItems: 100 } },
        required: ['message_ids'],
      },
      output: {
        type: 'object',
        properties: { deleted: { type: 'integer', minimum: 0, description: 'How many there were.' } },
        required: ['deleted'],
      },
      annotations: { title: 'Delete mail', readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      run: ({ message_ids }) => {
        const { inbox, sent } = state.read();
        const unwanted = new Set(message_ids);
        const gone = [...inbox, ...sent]
          .map((message) => message.message_id)
          .filter((id) => unwanted.has(id));
        state.update((mail) => ({
          ...mail,
          inbox: mail.inbox.filter((message) => !unwanted.has(message.message_id)),
          sent: mail.sent.filter((message) => !unwanted.has(message.message_id)),
          deleted: [...mail.deleted, ...gone],
        }));
        return { deleted: gone.length };
      },
    }),
  },
});
