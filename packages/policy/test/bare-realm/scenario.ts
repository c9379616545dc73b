/**
 * What a program does with the library, for a realm that has the language and nothing of a host. Says what came out as
 * one text, because nothing else crosses from a realm without meeting the other's prototypes.
 */
import { defineDetector, loadPolicy } from '@cordon/policy';
import {
  analyze,
  ExplainingMonitor,
  format,
  lint,
  mask,
  parseTools,
  print,
  readTrace,
  TRACE_FORMATS,
} from '@cordon/policy-tools';

const TEXT = `
from invariant.detectors import secrets

rule no-mail-after-inbox:
raise "mail goes to a stranger" if:
    (out: ToolOutput) -> (call: ToolCall)
    out is tool:read_inbox
    call is tool:send_mail({to: "[^@]+@outside\\.example"})

rule keys-are-noticed:
warn "a key" if:
    (out: ToolOutput)
    any(secrets(out))

ask "shall it go" if:
    (call: ToolCall)
    call is tool:send_mail
    any(find("(?i)pay(?=ment)", call.arguments.text))
`;

const SECRETS = defineDetector({
  name: 'secrets',
  run: ({ texts, mark }) =>
    texts.flatMap((text, index) => {
      const at = text.indexOf('key-');
      if (at < 0) return [];
      mark(index, at, at + 8);
      return ['KEY'];
    }),
});

const TRACE = [
  { role: 'user', content: 'read and answer' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '1', type: 'function', function: { name: 'read_inbox', arguments: {} } }],
  },
  { role: 'tool', tool_call_id: '1', content: '🔑 key-4711' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: '2',
        type: 'function',
        function: { name: 'send_mail', arguments: '{"to":"eve@outside.example","text":"Payment"}' },
      },
    ],
  },
];

const MESSAGES = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read_inbox', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'nothing new' }] },
];

function outcome(): object {
  const loaded = loadPolicy(TEXT, { detectors: [SECRETS] });
  if (!loaded.ok) return { refused: loaded.fault };
  const policy = loaded.value;
  const analysis = analyze(policy, TRACE);
  if (!analysis.ok) return { refused: analysis.fault };
  const { errors, undecided } = analysis.value;
  const read = readTrace(TRACE);
  const events = read.ok ? read.value.events : [];
  const monitor = new ExplainingMonitor(policy);
  const verdicts = events.map((event) => monitor.admit([event], 'given').verdict);
  const wrong = loadPolicy('raise "x" if:\n    (c: ToolCal)\n    c.nme == 1\n');
  const anthropic = readTrace(MESSAGES);
  const formatted = format('raise "x" if:\n  (c:ToolCall)\n  c is tool:f\n');
  const masked = mask(
    TRACE,
    errors.flatMap(({ ranges }) => ranges),
  );
  const tools = parseTools({ tools: [{ name: 'read_mail' }, { name: 'send_mail' }] });
  return {
    errors: errors.map(({ rule, message, ranges }) => [rule, message, ranges]),
    undecided,
    verdicts,
    steps: monitor
      .decide(events.slice(-1))
      .reasons[0]?.explanation.steps.map(({ event, role }) => [event, role]),
    masked: Array.isArray(masked) ? masked.slice(2) : masked,
    diagnostics: wrong.ok ? [] : wrong.fault.map(({ code, range }) => [code, range?.line, range?.column]),
    lint: tools.ok ? lint(policy, { tools: tools.value }).map(({ code }) => code) : [],
    formatted: formatted.ok ? formatted.value : '',
    printed: formatted.ok ? printed(formatted.value) : '',
    anthropic: anthropic.ok ? [anthropic.value.format, anthropic.value.events.length] : anthropic.fault,
    formats: TRACE_FORMATS.length,
    noTrace: analyze(policy, {}),
  };
}

function printed(text: string): string {
  const loaded = loadPolicy(text);
  return loaded.ok ? print(loaded.value.tree) : '';
}

/** Names that a host gives and the language does not. */
const OF_HOSTS = [
  ...['process', 'Buffer', 'require', 'module', 'global', 'setImmediate', '__filename'],
  ...['window', 'document', 'navigator', 'self', 'location', 'localStorage', 'XMLHttpRequest'],
  ...[
    'fetch',
    'URL',
    'TextEncoder',
    'structuredClone',
    'setTimeout',
    'queueMicrotask',
    'performance',
    'crypto',
  ],
];

export const report: string = JSON.stringify({
  ...outcome(),
  ofHosts: OF_HOSTS.filter((name) => name in globalThis),
});
