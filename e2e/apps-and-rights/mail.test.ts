/** Mail as people have it: a server of MCP from npm that reads over IMAP and sends over SMTP, both on this machine, from the command line. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isLacking, type MailServer, startMail } from '@cordon/testkit/debian-servers.ts';
import { EMAIL_COMMAND, emailVariables, LIST_MAILS, NEWEST_MAIL, REPLY } from '@cordon/testkit/email-app.ts';
import { calls, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, type Run } from '../harness/provider-harness.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';
import { assertMediated, eventsOf } from '../harness/provider-trace.ts';

const place = new Place();
after(() => place[Symbol.dispose]());

/** Reads the newest mail and answers it, with each query of a session. */
async function asks(
  server: MailServer,
  network: readonly string[],
  decision: 'once' | 'deny',
  queries = 1,
): Promise<Run> {
  const script = planning(
    [step('mail', ['list_emails', 'send_email'])],
    inTurns(
      calls([{ name: 'list_emails', arguments: LIST_MAILS }]),
      calls([{ name: 'send_email', arguments: REPLY }]),
      ([listed, sent]) => says(`Read: ${listed} Sent: ${sent}`),
    ),
  );
  const fake = await startFakeOpenAi({ script });
  try {
    const mail = { ...EMAIL_COMMAND, env: emailVariables(server), manifest: { network } };
    place.write('cordon.json', { apps: { mail } });
    place.write('answers.json', [{ match: {}, decision }]);
    const query = 'Reply to the newest mail that Friday works.';
    const options = ['--model', 'local/x', '--base-url', fake.baseUrl, '--json', '--answers', 'answers.json'];
    return queries === 1
      ? await place.cordon(['ask', query, ...options])
      : await place.cordon(['chat', ...options], { input: `${query}\n`.repeat(queries) });
  } finally {
    await fake.close();
  }
}

const answersOf = (run: Run) => eventsOf(run.events, 'answer.proposed').map(({ text }) => String(text));
const answerOf = (run: Run) => answersOf(run)[0] ?? '';
const replies = (mail: MailServer) =>
  mail.inbox().filter((text) => /^Subject: Re: Friday\r?$/m.test(text)).length;

test('an app of others reads mail over IMAP and sends it over SMTP; its connections end with the query', async (t) => {
  if (isLeftOut(t)) return;
  if (isLacking(t, 'mail')) return;
  const mail = await startMail(t);
  mail.deliver(NEWEST_MAIL);
  const network = [`127.0.0.1:${mail.imaps}`, `127.0.0.1:${mail.smtps}`];
  const run = await asks(mail, network, 'once');
  assert.match(answerOf(run), /Read: .*blue heron.*Sent: .*sent successfully/s);
  assert.equal(replies(mail), 1);
  const proposed = eventsOf(run.events, 'egress.proposed').map(
    ({ method, host, port }) => `${method} ${host}:${port}`,
  );
  assert.deepEqual([...new Set(proposed)].sort(), network.map((entry) => `CONNECT ${entry}`).sort());
  // To send one mail it connects twice, and each place is one question.
  assert.equal(proposed.length, 3);
  const asked = eventsOf(run.events, 'permission.asked').map(({ prompt }) => Object(prompt).question);
  assert.equal(asked.filter((question) => question.includes('connect to')).length, 2);
  // It keeps its connection of IMAP open; between queries nothing goes over it.
  const cuts = eventsOf(run.events, 'egress.closed').map(({ cut }) => cut);
  assert.ok(cuts.includes('the query is over'), cuts.join());
  assertMediated(run.events);
});

test('the next query of a session connects anew', async (t) => {
  if (isLacking(t, 'mail') || isLeftOut(t)) return;
  const mail = await startMail(t);
  mail.deliver(NEWEST_MAIL);
  const run = await asks(mail, [`127.0.0.1:${mail.imaps}`, `127.0.0.1:${mail.smtps}`], 'once', 2);
  const answers = answersOf(run);
  assert.equal(answers.length, 2);
  for (const answer of answers) assert.match(answer, /Read: .*blue heron.*Sent: .*sent successfully/s);
  assert.equal(replies(mail), 2);
  assertMediated(run.events);
});

test('where the user allows no connection nothing is read or sent', async (t) => {
  if (isLacking(t, 'mail') || isLeftOut(t)) return;
  const mail = await startMail(t);
  mail.deliver(NEWEST_MAIL);
  const run = await asks(mail, [`127.0.0.1:${mail.imaps}`, `127.0.0.1:${mail.smtps}`], 'deny');
  assert.doesNotMatch(run.stdout, /blue heron/);
  assert.equal(replies(mail), 0);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 0);
});

test('a server that the manifest does not list is not reached, and the trace names what to add', async (t) => {
  if (isLacking(t, 'mail') || isLeftOut(t)) return;
  const mail = await startMail(t);
  mail.deliver(NEWEST_MAIL);
  // The port is listened on for the other entry.
  const run = await asks(mail, [`127.0.0.1:${mail.imaps}`, `mail.example.org:${mail.smtps}`], 'once');
  assert.match(answerOf(run), /Read: .*blue heron.*Sent: .*Failed.*alert access denied/s);
  assert.equal(replies(mail), 0);
  const [refused] = eventsOf(run.events, 'egress.refused');
  assert.deepEqual(
    [refused?.host, refused?.port, refused?.lacks],
    ['127.0.0.1', mail.smtps, `127.0.0.1:${mail.smtps}`],
  );
});
