/** A session as long as one likes: messages, calls and outputs of an office agent, the same at every run. */
import type { TraceEvent } from '@cordon/policy';

const TOOLS = [
  'read_file',
  'get_webpage',
  'search_emails',
  'list_files',
  'get_balance',
  'send_email',
  'get_file_by_id',
  'read_channel_messages',
  'send_direct_message',
  'create_calendar_event',
  'get_unread_emails',
];

const PAGE = 'Some lines of a page with numbers and words, none of which any rule is about.\n'.repeat(6);

/** The event at a position: every third is a message, a call, or the output of the call before. */
export function eventAt(position: number): TraceEvent {
  const tool = TOOLS[Math.floor(position / 3) % TOOLS.length] ?? '';
  switch (position % 3) {
    case 0:
      return {
        type: 'Message',
        role: position % 6 === 0 ? 'user' : 'assistant',
        content: `Please look at file ${position} and tell me what it says. ${'It is long. '.repeat(8)}`,
        toolCalls: [],
      };
    case 1:
      return {
        type: 'ToolCall',
        callId: `call-${position}`,
        kind: 'function',
        name: tool,
        arguments: {
          recipients: [`colleague${position % 97}@bluesparrowtech.com`],
          subject: `Report ${position}`,
          body: 'The numbers of this week are attached.',
          amount: position % 500,
        },
      };
    default:
      return {
        type: 'ToolOutput',
        role: 'tool',
        callId: `call-${position - 1}`,
        content: `${position}: ${PAGE}`,
      };
  }
}

/** A chat log with as many calls as are asked for, one message and one output each. */
export function logOf(calls: number): unknown[] {
  return Array.from({ length: calls }, (_, index) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `call-${index}`,
          type: 'function',
          function: {
            name: TOOLS[index % TOOLS.length],
            arguments: { recipients: ['a@bluesparrowtech.com'] },
          },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call-${index}`, content: `output ${index}` },
  ]).flat();
}
