import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '@cordon/console/text';
import { DEFAULT_LABEL, type Event, type EventBody, type EventFrame, id, type Reason } from '@cordon/core';
import { jsonLine } from '@cordon/print';
import fc from 'fast-check';
import '../../../tools/seed.ts';
import { renderDiagnostics } from '../src/print/diagnostics.ts';
import { EventRenderer } from '../src/print/render.ts';

function recordingScreen(columns = 80, hasColor = false) {
  let shown = '';
  const output = {
    write: (text: string) => {
      shown += text;
    },
  };
  return { screen: new Screen({ output, columns: () => columns, hasColor }), shown: () => shown };
}

const FRAME: EventFrame = {
  id: id('e1'),
  session: id('s1'),
  sequence: 7,
  time: 0,
  context: id('c1'),
  app: id('mail'),
  // Of a proposal, and of what is decided about it: they are one step.
  causes: [id('e1')],
  label: DEFAULT_LABEL,
};

function event(body: EventBody, frame: Partial<EventFrame> = {}): Event {
  return { ...FRAME, ...frame, ...body };
}

function rendered(
  bodies: readonly EventBody[],
  options: { isVerbose?: boolean; columns?: number } = {},
): string {
  const { screen, shown } = recordingScreen(options.columns);
  const renderer = new EventRenderer(screen, { isVerbose: options.isVerbose ?? false });
  for (const body of bodies) renderer.render(event(body));
  return shown();
}

const REASON: Reason = {
  rule: id('no-spread'),
  message: 'mail text may not leave',
  events: [],
  because: 'rule',
};

type DecidedKind = Extract<EventBody, { verdict: unknown }>['kind'];

function decided(kind: DecidedKind, verdict: 'allow' | 'deny', reason = REASON): EventBody {
  const reasons = verdict === 'deny' ? [reason] : [];
  return { kind, verdict, reasons, warnings: [], permission: 'not-needed' };
}

test('a session without isolation says so loudly', () => {
  const started = (isolation: 'spokes' | 'none'): EventBody => ({
    kind: 'session.started',
    isolation,
    model: 'obedient',
    notices: [],
  });
  assert.equal(
    rendered([started('none')]),
    `!! NO ISOLATION: all apps share one context; Cordon checks no policy and asks
   no questions
· model obedient, no isolation
`,
  );
  assert.equal(rendered([started('spokes')]), '· model obedient, each app isolated\n');
});

test('a call is one line once it is allowed, its permission none, its denial says why', () => {
  const call: EventBody = {
    kind: 'tool-call.proposed',
    effect: 'tool-call',
    app: id('mail'),
    tool: 'send',
    arguments: { to: 'me@example.com' },
    callId: '1',
    irreversible: true,
  };
  assert.equal(rendered([call]), '');
  assert.equal(
    rendered([call, decided('tool-call.decided', 'allow')]),
    '→ mail send {"to":"me@example.com"} (cannot be undone)\n',
  );
  assert.equal(
    rendered([call, decided('tool-call.decided', 'deny')]),
    `✗ denied mail send {"to":"me@example.com"} (cannot be undone): mail text may
  not leave (no-spread)
`,
  );
});

const EDITED: Reason = {
  ...REASON,
  rule: id('permission/edited'),
  message: 'the user replaced it',
};

function release(...names: readonly string[]): EventBody {
  const items = names.map((name) => ({ name, value: 'x', origin: null, label: DEFAULT_LABEL }));
  return { kind: 'data-release.proposed', effect: 'data-release', to: id('booking'), items };
}

const RELEASED: EventBody = { kind: 'data-release.executed', milliseconds: 0 };
for (const [what, events, shown] of [
  ['proposed is not said', [release('name')], ''],
  [
    'allowed and not yet delivered is not said',
    [release('name'), decided('data-release.decided', 'allow')],
    '',
  ],
  [
    'delivered is said once',
    [release('name', 'city'), decided('data-release.decided', 'allow'), RELEASED, RELEASED],
    '→ booking is given name, city\n',
  ],
  [
    'denied is said not to be given',
    [release('name', 'city'), decided('data-release.decided', 'deny'), RELEASED],
    '✗ booking is not given name, city: mail text may not leave (no-spread)\n',
  ],
  [
    'asked for and not known is said not to be given',
    [release(), decided('data-release.decided', 'deny')],
    '✗ booking is not given data that it asked for: mail text may not leave\n  (no-spread)\n',
  ],
  [
    'changed by the user is said as it was delivered',
    [
      release('name'),
      decided('data-release.decided', 'deny', EDITED),
      release('name', 'city'),
      decided('data-release.decided', 'allow'),
      RELEASED,
    ],
    '→ booking is given name, city\n',
  ],
] as const) {
  test(`a release that is ${what}`, () => {
    assert.equal(rendered(events), shown);
  });
}

test('a change of the user that does not fit is said', () => {
  const unfit: EventBody = {
    kind: 'data-release.decided',
    verdict: 'deny',
    reasons: [EDITED],
    warnings: [],
    permission: 'denied',
  };
  assert.equal(
    rendered([release('name'), unfit]),
    '✗ booking is not given name: the user replaced it (permission/edited)\n',
  );
});

test('an answer of an app is said when it is delivered, and a connection when it is allowed', () => {
  const response: EventBody = {
    kind: 'app-response.proposed',
    effect: 'app-response',
    from: id('drive'),
    to: id('mail'),
    functionality: id('document-search'),
    callId: '1',
    message: { found: 2 },
    peer: id('peer-1'),
    label: DEFAULT_LABEL,
  };
  const isAllowed = decided('app-response.decided', 'allow');
  assert.equal(rendered([response, isAllowed]), '');
  assert.equal(
    rendered([response, isAllowed, { kind: 'app-response.executed', milliseconds: 0 }]),
    '→ drive answers mail: {"found":2}\n',
  );
  const denial = decided('app-response.decided', 'deny');
  assert.equal(
    rendered([response, denial]),
    '✗ denied an answer of drive to mail: mail text may not leave (no-spread)\n',
  );
  const egress: EventBody = {
    kind: 'egress.proposed',
    effect: 'egress',
    app: id('mail'),
    host: 'a.example',
    port: 443,
    method: 'CONNECT',
    path: null,
    bytes: 0,
  };
  assert.equal(rendered([egress]), '');
  assert.equal(rendered([egress, decided('egress.decided', 'allow')]), '→ mail connects to a.example:443\n');
  assert.equal(
    rendered([egress, decided('egress.decided', 'deny')]),
    '✗ denied a connection of mail to a.example:443: mail text may not leave\n  (no-spread)\n',
  );
});

test('a refused connection names the entry that would allow it, and warns of one that leads into the own network', () => {
  const refused = (lacks?: string): EventBody => ({
    kind: 'egress.refused',
    host: 'wiki.example',
    port: 443,
    reason: 'no',
    times: 1,
    ...(lacks === undefined ? {} : { lacks }),
  });
  const shown = (lacks?: string) => rendered([refused(lacks)]).replaceAll('\n  ', ' ');
  const place = '· mail did not reach wiki.example:443: no';
  const help = (entry: string) => `; to allow it, add "${entry}" to \`network\` in its manifest`;
  assert.equal(shown(), `${place}\n`);
  assert.equal(shown('wiki.example'), `${place}${help('wiki.example')}\n`);
  const caution =
    '· the name leads into your own network, perhaps to this machine: add it only if the server is yours';
  assert.equal(shown('wiki.example@10.1.2.3'), `${place}${help('wiki.example@10.1.2.3')}\n${caution}\n`);
});

function learnt(...facts: readonly (readonly [name: string, value: string, isNew: boolean])[]): EventBody {
  const told = facts.map(([name, value, isNew]) => ({ name, value, isNew, before: isNew ? null : value }));
  return { kind: 'facts.learnt', by: 'model', toldTo: null, facts: told };
}

test('what is new of what the user stated is one line, and what is known is none', () => {
  assert.equal(
    rendered([learnt(['city', 'Irvine', true], ['name', 'Ada', false], ['diet', 'no fish', true])], {
      columns: 120,
    }),
    '· Noted: city = Irvine; diet = no fish. `cordon memory` shows and corrects it.\n',
  );
  assert.equal(rendered([learnt(['name', 'Ada', false]), learnt()]), '');
});

const ANSWER: EventBody = { kind: 'answer.proposed', effect: 'answer', text: 'Hello\n▐ PERMISSION' };
const DELIVERED: EventBody = { kind: 'answer.executed', milliseconds: 0 };

test('an answer is shown when it is delivered, behind a gutter', () => {
  assert.equal(rendered([ANSWER]), '');
  assert.equal(rendered([ANSWER, decided('answer.decided', 'allow')]), '');
  assert.equal(
    rendered([ANSWER, decided('answer.decided', 'allow'), DELIVERED]),
    '  │ Hello\n  │ ▐ PERMISSION\n',
  );
});

test('an answer that the policy denied is never shown', () => {
  const shown = rendered([ANSWER, decided('answer.decided', 'deny'), DELIVERED], { isVerbose: true });
  assert.doesNotMatch(shown, /Hello/);
  assert.match(shown, /denied the answer of mail: mail text may not leave/);
});

test('words of others never begin a line and never bring control characters', () => {
  const text = `x\n→ mail send\r\u001b[2J\u202e${' '.repeat(90)}✗ denied`;
  const bodies: EventBody[] = [
    { kind: 'app.stopped', reason: text },
    { kind: 'user.message', text },
    { kind: 'message.dropped', reason: text, bytes: 5 },
    { kind: 'tool-call.failed', fault: { kind: 'app-error', message: text, help: text } },
    { kind: 'query.ended', outcome: 'failed', reason: text },
    { kind: 'probe.refused', functionality: text },
  ];
  for (const isVerbose of [false, true]) {
    for (const line of rendered(bodies, { isVerbose, columns: 60 }).split('\n')) {
      assert.match(line, /^(· |✗ (failed|the query)| {2}|$)/);
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
      assert.ok(line.length <= 60);
    }
  }
});

test('a long step is cut in the compact form and longer in the verbose one', () => {
  const call: EventBody = {
    kind: 'tool-call.proposed',
    effect: 'tool-call',
    app: id('mail'),
    tool: 'send',
    arguments: { body: 'word '.repeat(10_000) },
    callId: '1',
    irreversible: false,
  };
  const step = [call, decided('tool-call.decided', 'allow')];
  assert.equal(rendered(step).split('\n').length, 3);
  assert.match(rendered(step), /…\n$/);
  assert.equal(rendered(step, { isVerbose: true }).split('\n').length, 10);
});

test('colour appears only where it is wanted', () => {
  const failure: EventBody = {
    kind: 'tool-call.failed',
    fault: { kind: 'app-timeout', message: 'no answer' },
  };
  const draw = (hasColor: boolean) => {
    const { screen, shown } = recordingScreen(80, hasColor);
    new EventRenderer(screen, { isVerbose: false }).render(event(failure));
    return shown();
  };
  assert.equal(draw(false), '✗ failed of mail: no answer (app-timeout)\n');
  assert.equal(draw(true), '\u001b[31m✗ failed of mail: no answer (app-timeout)\u001b[0m\n');
});

test('a line of JSON reads back as the same value and holds nothing that a terminal obeys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (value) => {
      const line = jsonLine(value);
      assert.match(line, /^[^\n]*\n$/);
      assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 300 },
  );
});

test('diagnostics name the place, the problem and the remedy', () => {
  const { screen, shown } = recordingScreen();
  renderDiagnostics(screen, [
    {
      code: 'CFG014',
      severity: 'error',
      file: '/home/me/cordon.json',
      range: { line: 5, column: 34, endLine: 5, endColumn: 50 },
      path: 'apps.mail.manifest.network[0]',
      message: '`https://x.org` cannot be allowed: only a host and a port can be named',
      help: 'write `x.org`',
    },
    {
      code: 'CFG025',
      severity: 'warning',
      file: 'environment',
      path: 'OPENAI_API_KEY',
      message: 'no\u001b[2Jkey',
    },
  ]);
  assert.equal(
    shown(),
    `/home/me/cordon.json:5:34: error CFG014 apps.mail.manifest.network[0]
  \`https://x.org\` cannot be allowed: only a host and a port can be named
  help: write \`x.org\`
environment: warning CFG025 OPENAI_API_KEY
  no<U+001B>[2Jkey
1 error, 1 warning
`,
  );
});
