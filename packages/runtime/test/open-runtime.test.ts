/** What a closed runtime leaves running. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '@cordon/core';
import { verdictOf } from '@cordon/policy';
import { ConfigurationFolder } from '@cordon/testkit/configuration-folder.ts';
import { closeRuntime, openRuntime } from '../src/index.ts';
import { readRules } from '../src/rules/rules.ts';

const RULE =
  'from invariant.detectors import secrets\n\nraise "keys" if:\n    (output: ToolOutput)\n    any(secrets(output))\n';
const OUTPUT = { id: 'a', context: 'c', app: 'mail', causes: [], type: 'ToolOutput', callId: '1' };

// Attack: a text that takes 20 s to look at keeps `cordon ask` from ending, long after its query was stopped.
for (const isClosed of [true, false]) {
  test(`a text is ${isClosed ? 'not ' : ''}looked at when the runtime is ${isClosed ? 'closed' : 'open'}`, async (t) => {
    using folder = new ConfigurationFolder();
    const policy = folder.write('mine.gr', RULE);
    const configuration = folder.load({}, { policy: [policy], data: `${folder.path}/data` });
    assert.ok(configuration.ok);
    const runtime = await openRuntime(configuration.value);
    assert.ok(runtime.ok);
    const { sandbox, providers, ending } = runtime.value;
    const rules = readRules(configuration.value, sandbox, providers, ending.signal);
    assert.ok(rules.ok);
    const { texts } = rules.value;
    const monitor = rules.value.policy.monitor();
    const evaluate = (content: string, awaited?: Map<string, Question>) =>
      verdictOf(
        monitor.evaluate([{ ...OUTPUT, content }] as never, awaited).findings,
        ({ open }) => open?.why.reason ?? null,
      );
    const decide = async (content: string) => {
      for (;;) {
        const awaited = new Map<string, Question>();
        const verdict = evaluate(content, awaited);
        if (awaited.size === 0) return verdict;
        for (const question of awaited.values()) await texts.answer(question);
      }
    };
    if (isClosed) await closeRuntime(runtime.value);
    else t.after(() => closeRuntime(runtime.value));
    const verdict = await decide('to '.repeat(2_000));
    assert.deepEqual(
      verdict,
      isClosed
        ? { verdict: 'deny', reasons: ['the process that looks at texts ended'], warnings: [] }
        : { verdict: 'allow', warnings: [] },
    );
  });
}
