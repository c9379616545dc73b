/** A walk through `prompts.pml`, done by the real store: a session that asks, is killed and asks again, and who answers. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventId, id, type PermissionAnswer, type PermissionPrompt } from '@cordon/core';
import { openStore, type Store, type StoredAnswer } from '@cordon/trace';
import { describeStep, NONE, type Step } from '../src/label.ts';

const FINGERPRINT = 'the same question';

/** Fails at the first step whose outcome is another than the model's. */
export function walkPrompts(walk: readonly Step[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-walk-'));
  const open = (): Store => {
    const opened = openStore(folder, () => 1_700_000_000_000);
    assert.ok(opened.ok);
    return opened.value;
  };
  let hub = open();
  const elsewhere = open();
  const session = hub.sessions.create();
  /** In the order in which they were first asked. */
  const rows: EventId[] = [];
  let asked = 0;

  const prompt = (event: EventId): PermissionPrompt => ({
    id: event,
    session,
    context: id('mail#1'),
    subject: { scope: 'exchange', from: null, to: id('mail'), what: 'send' },
    question: 'Let it?',
    data: [],
    expected: true,
    warnings: [],
    newRecipients: [],
    covers: 'nothing else',
    rules: [],
    durations: ['once'],
    digest: 'd',
  });
  const outcomeOf = ({ label, values: [a, b, c, d] }: Step): readonly number[] => {
    const row = rows[a] ?? id('none');
    switch (label) {
      case 'OPENED': {
        const event: EventId = id(`asked-${++asked}`);
        const opened = hub.prompts.open({ kind: 'permission', prompt: prompt(event) }, FINGERPRINT);
        assert.ok(opened !== null);
        if (!rows.includes(opened.id)) rows.push(opened.id);
        return [rows.indexOf(opened.id), 0, 0, 0];
      }
      case 'REPLIED': {
        const said: PermissionAnswer =
          b === 1 ? { allow: true, duration: 'once' } : { allow: false, reason: 'user' };
        return [a, b, elsewhere.prompts.answer(row, { kind: 'permission', answer: said }).ok ? 1 : 0, 0];
      }
      case 'LOOKED':
        return [a, numberOf(hub.prompts.answered(row)), 0, 0];
      case 'CLOSED':
        return [a, numberOf(hub.prompts.close(row)), 0, 0];
      case 'HUB_KILLED':
        hub.close();
        hub = open();
        return [0, 0, 0, 0];
      default:
        return assert.fail(`the store knows no ${describeStep({ label, values: [a, b, c, d] })}`);
    }
  };

  try {
    for (const [index, one] of walk.entries()) {
      assert.deepEqual(outcomeOf(one), one.values, `step ${index}, ${describeStep(one)}`);
    }
  } finally {
    hub.close();
    elsewhere.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function numberOf(answer: StoredAnswer | null): number {
  if (answer?.kind !== 'permission') return NONE;
  return answer.answer.allow ? 1 : 0;
}
