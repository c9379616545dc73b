/**
 * `cordon apps remove`, and what a program gets that is later given the same name: what the user permitted was permitted to
 * the one that was removed. The twin is the same app, put back.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { answersIn, EXAMPLES, Home, object, ofKind, type Printed } from '../harness/cordon.ts';

const SCENARIO = ['--scenario', join(dirname(EXAMPLES), 'scenarios/3-data-exposure.json')];
const APPOINTMENT =
  'I want to schedule an appointment. Here is some of my personal information: name = Michael Smith, date of birth = May 20th, 1980, city = Irvine, email address = michael.smith@email.com. Symptoms = Recent heart surgery and ongoing issues with controlled hypertension, along with asthma. Other details = I want to schedule an appointment on June 1st. Please try to arrange the most advanced service for me.';
const FLIGHT = 'Book a flight from Los Angeles to New York on June 10th in economy class using Travel Mate.';

const BOOK = { match: { scope: 'irreversible-action', expected: true, warned: false }, decision: 'once' };
const RELEASE = { scope: 'data-release', to: 'travel-mate' };

/** The examples, with programs by their whole path; `more` stands in the entry of `travel-mate`. */
function configured(home: Home, more: object = {}): readonly string[] {
  const config = JSON.parse(readFileSync(EXAMPLES, 'utf8'));
  delete config.scenario;
  for (const app of Object.values<{ args?: string[] }>(config.apps))
    if (app.args !== undefined) app.args = app.args.map((word) => join(dirname(EXAMPLES), word));
  Object.assign(config.apps['travel-mate'], more);
  return ['--config', home.write('elsewhere/cordon.json', config)];
}

for (const [what, more, isPermitted] of [
  ['the same app, put back, has what was permitted to it', {}, true],
  [
    'another program under the name of an app that was removed has nothing of it',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
    { env: { STATE: '${state}', OTHER: '1' } },
    false,
  ],
] as const) {
  test(what, async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const giving = home.write('giving.json', [{ match: RELEASE, decision: 'permanent' }, BOOK]);
    const denying = home.write('denying.json', [{ match: RELEASE, decision: 'deny' }, BOOK]);
    const config = configured(home);
    const ask = (query: string, answers: string) =>
      home.run(['ask', query, ...config, ...SCENARIO, '--answers', answers, '--json']);
    assert.equal((await ask(APPOINTMENT, giving)).code, 0);
    assert.equal((await ask(FLIGHT, giving)).code, 0);

    const removed = await home.run(['apps', 'remove', 'travel-mate', ...config, '--json']);
    assert.equal(removed.code, 0);
    const [left] = ofKind(removed.events, 'app.left');
    assert.deepEqual([left?.pin, left?.grants], [true, 1]);
    const listed = await home.run(['apps', 'list', ...config, '--json']);
    assert.equal(
      listed.events.some(({ id }) => id === 'travel-mate'),
      false,
    );

    configured(home, more);
    const { events } = await ask(FLIGHT, denying);
    assert.equal(ofKind(events, 'permission.asked').filter(isRelease).length, isPermitted ? 0 : 1);
    assert.equal(answersIn(events).join().includes('has been booked'), isPermitted);
  });
}

function isRelease({ prompt }: Printed): boolean {
  return object(object(prompt).subject).scope === 'data-release';
}
