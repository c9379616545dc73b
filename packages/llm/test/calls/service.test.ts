import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointKind, Json, Question } from '@cordon/core';
import { createService, type Fetch } from '../../src/index.ts';

const KEY = 'key-of-mine-123';

/** A service whose server answers so; what it was sent. */
function serving(kind: EndpointKind, respond: () => Response | Promise<Response>) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch: Fetch = async (url, init) => {
    sent.push({ url: String(url), init: init ?? {} });
    return respond();
  };
  const endpoint = { url: 'http://localhost:9/v1/x', model: 'small', key: KEY };
  return { sent, service: createService(kind, endpoint, fetch) };
}

function question(input: Question['input']): Question {
  return { service: 'embedding', digest: 'd', input };
}

const FORMS: readonly (readonly [EndpointKind, Question['input'], Json, Json, Json])[] = [
  [
    'embedding',
    { texts: ['a', 'b'] },
    { model: 'small', input: ['a', 'b'] },
    {
      data: [
        { index: 1, embedding: [2] },
        { index: 0, embedding: [1] },
      ],
    },
    [[1], [2]],
  ],
  [
    'moderation',
    { texts: ['a'] },
    { model: 'small', input: ['a'] },
    { results: [{ flagged: true, category_scores: { hate: 0.9 } }] },
    [{ hate: 0.9 }],
  ],
  ['ocr', { images: ['data:'] }, { model: 'small', images: ['data:'] }, { texts: ['pay'] }, ['pay']],
];

for (const [kind, input, body, answer, read] of FORMS) {
  test(`${kind} is asked and read in its form`, async () => {
    const { sent, service } = serving(kind, () => Response.json(answer));
    const answered = await service.answer(question(input), new AbortController().signal);
    assert.deepEqual(answered, { ok: true, value: read });
    const [request] = sent;
    assert.equal(request?.url, 'http://localhost:9/v1/x');
    assert.deepEqual(JSON.parse(String(request?.init.body)), body);
    assert.equal(new Headers(request?.init.headers).get('authorization'), `Bearer ${KEY}`);
    assert.equal(request?.init.redirect, 'manual');
  });
}

test('whatever else a service does is a failure, and says no key', async () => {
  const bad: (() => Response | Promise<Response>)[] = [
    () => new Response('no', { status: 500 }),
    () => Response.json({}),
    () => new Response('{'),
    () => new Response(null, { status: 302, headers: { location: 'http://elsewhere/' } }),
    () => new Response('x'.repeat(17 * 1024 * 1024)),
    () => Promise.reject(new Error(`refused ${KEY}`)),
  ];
  for (const respond of bad) {
    const { service, sent } = serving('embedding', respond);
    const answered = await service.answer(question({ texts: ['a'] }), new AbortController().signal);
    assert.equal(answered.ok, false);
    assert.equal(!answered.ok && answered.fault.message.includes(KEY), false);
    assert.equal(sent.length, 1);
  }
});
