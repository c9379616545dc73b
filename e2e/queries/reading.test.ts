/** A text of one app, read for another context in a closed form: by the obedient model, through the whole system. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { answersIn, EXAMPLES, Home, ofKind } from '../harness/cordon.ts';

const QUERY = 'Is the newest mail about an audit, and what is the fare?';

const CALLS = [
  {
    id: 'fare',
    app: 'metro-hail',
    tool: 'calculate_fare',
    functionality: 'ride-fare',
    purpose: 'ask for the fare',
    arguments: { start_point: 'Main Street', end_point: 'Elm Avenue' },
  },
  {
    id: 'mail',
    app: 'mail',
    tool: 'search_mail',
    functionality: 'newest-mail',
    purpose: 'get the newest mail',
    arguments: { query: 'is:inbox', max_results: 1 },
  },
  {
    id: 'about',
    app: 'metro-hail',
    tool: 'read',
    purpose: 'see whether it is about an audit',
    arguments: {
      ref: { result: 'mail', path: 'messages.0.subject' },
      schema: {
        literal: {
          type: 'object',
          properties: { audit: { type: 'boolean' }, party: { type: 'boolean' } },
          required: ['audit', 'party'],
        },
      },
    },
    finds: { audit: 'audit', party: 'party' },
  },
];

test('the reader sees the text, and what asked for it sees the form', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const scenario = home.write('scenario.json', {
    name: 'reading',
    description: 'A mail is read for a context without app.',
    tasks: [
      {
        id: 'newest',
        query: QUERY,
        calls: CALLS,
        answers: [
          { text: `Audit: ${'$'}{about.audit}, party: ${'$'}{about.party}, fare: ${'$'}{fare.fare}` },
        ],
      },
    ],
    attacks: [],
  });
  const { code, events } = await home.run([
    ...['ask', QUERY, '--config', EXAMPLES, '--scenario', scenario],
    ...['--deny-warned', '--allow-rest', '--json'],
  ]);
  assert.deepEqual(answersIn(events), ['Audit: true, party: false, fare: 51.8']);
  assert.equal(code, 0);
  const findings = ofKind(events, 'app-response.proposed').map(({ message }) => message);
  assert.deepEqual(findings.at(-1), { audit: true, party: false });
  const readers = ofKind(events, 'data-release.proposed').map(({ context }) => String(context));
  assert.match(readers.at(-1) ?? '', /^~reader#\d+$/);
});
