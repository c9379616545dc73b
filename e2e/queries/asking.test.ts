/** Rules that ask a model: who is set up in `cordon.json` answers before anything happens, and where nobody is, nothing does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  calls,
  type FakeChatRequest,
  type FakeScript,
  says,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Home, ofKind, outcomesIn } from '../harness/cordon.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';

const POLICY = `from invariant import llm_confirm
rule rude-note:
raise "the note is rude" if:
    (call: ToolCall)
    call is tool:look
    llm_confirm("Is it rude to look? " + call.name)
`;

const JUDGE = 'You answer a question about a text';

function isInquiry({ messages }: FakeChatRequest): boolean {
  return messages.some(({ role, content }) => role === 'system' && content.startsWith(JUDGE));
}

/** A model that looks once, and judges as it is told. */
function judging(verdict: string): FakeScript {
  const agent = inTurns(calls([{ name: 'look', arguments: {} }]), () => says('There are two.'));
  const planned = planning([step('notes', ['look'])], agent);
  return (request, number) => (isInquiry(request) ? says(verdict) : planned(request, number));
}

async function asked(verdict: string, detectors: object) {
  using home = new Home();
  const fake = await startFakeOpenAi({ script: judging(verdict) });
  try {
    const app = { command: 'node', args: [`${import.meta.dirname}/../apps/two-faced.mjs`] };
    const state = { env: { STATE: `\${state}`, FACE: 'honest' } };
    const manifest = { description: 'Keeps notes.', files: { write: [`\${state}`] }, irreversible: [] };
    home.write('cordon.json', {
      model: 'local/x',
      baseURL: fake.baseUrl,
      ...detectors,
      policy: home.write('rude.gr', POLICY),
      apps: { notes: { ...app, ...state, manifest } },
    });
    const run = await home.run(['ask', 'Look.', '--json', '--allow-rest']);
    return { run, questions: fake.requests.filter(isInquiry).length };
  } finally {
    await fake.close();
  }
}

const SET_UP = { detectors: { model: 'local/x' } };

test('what the model answers decides whether the tool is called', async (t) => {
  if (isLeftOut(t)) return;
  for (const [verdict, decided] of [
    ['No.', 'allow'],
    ['Yes.', 'deny'],
  ] as const) {
    const { run, questions } = await asked(verdict, SET_UP);
    const [decision] = ofKind(run.events, 'tool-call.decided');
    assert.equal(decision?.verdict, decided, run.stderr);
    assert.equal(questions, 1);
    const [answered] = ofKind(run.events, 'question.answered');
    assert.deepEqual([answered?.service, answered?.answer], ['llm', verdict]);
  }
});

test('where nobody is set up, the rule is undecided and the tool is not called', async (t) => {
  if (isLeftOut(t)) return;
  const { run, questions } = await asked('No.', {});
  const [decision] = ofKind(run.events, 'tool-call.decided');
  assert.equal(decision?.verdict, 'deny');
  assert.match(JSON.stringify(decision?.reasons), /`llm` is not set up/);
  assert.equal(questions, 0);
  assert.notEqual(outcomesIn(run.events)[0], 'failed');
});
