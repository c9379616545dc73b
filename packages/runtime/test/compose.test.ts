import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consentFrom } from '@cordon/config';
import { ConfigurationFolder } from '@cordon/testkit/configuration-folder.ts';
import { compose } from '../src/compose.ts';

const RULE = 'raise "keys" if:\n    (call: ToolCall)\n    call is tool:send\n';
const DETECTOR = 'from cordon.detectors import of_another_program\n\n';

for (const [what, text, codes] of [
  [
    'needs a detector that is not there',
    `${DETECTOR}${RULE}    any(of_another_program(call.name))\n`,
    ['POL055'],
  ],
  ['means what it says', RULE, []],
  ['uses a detector', `from invariant.detectors import secrets\n\n${RULE}    any(secrets(call.name))\n`, []],
] as const) {
  test(`a policy that ${what} comes with the warnings ${JSON.stringify(codes)}`, async () => {
    using folder = new ConfigurationFolder();
    const policy = folder.write('mine.gr', text);
    const loaded = folder.load({}, { policy: [policy], data: `${folder.path}/data` });
    assert.ok(loaded.ok);
    const nobody = consentFrom(
      { now: () => 0, rules: null, denyAll: true, denyWarned: false, allowRest: false },
      null,
    );
    const composed = await compose(loaded.value, { consent: nobody, home: folder.home });
    assert.ok(composed.ok, JSON.stringify(composed));
    composed.value.store.close();
    assert.deepEqual(
      composed.value.warnings.map(({ code }) => code),
      codes,
    );
  });
}
