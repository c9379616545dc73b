/** Two stories side by side: on wide and narrow terminals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '@cordon/console/text';
import { renderBeside } from '../beside.ts';

function drawn(columns: number, draw: (screen: Screen) => void): string {
  let shown = '';
  const output = {
    write: (text: string) => {
      shown += text;
    },
  };
  draw(new Screen({ output, columns: () => columns, hasColor: false }));
  return shown;
}

const LEFT = {
  title: 'Baseline',
  lines: [{ text: '→ booked at 49 USD, more than the true fare', style: 'bad' as const }],
};
const RIGHT = {
  title: 'Cordon',
  lines: [
    { text: '→ asked', style: 'plain' as const },
    { text: '→ booked at the true fare', style: 'good' as const },
  ],
};

test('two stories stand side by side where there is room', () => {
  assert.equal(
    drawn(72, (screen) => renderBeside(screen, LEFT, RIGHT)),
    `  Baseline                          │ Cordon
  ───────────────────────────────── │ ─────────────────────────────────
  → booked at 49 USD, more than     │ → asked
  the true fare                     │ → booked at the true fare
`,
  );
});

test('two stories stand one after the other on a narrow screen', () => {
  assert.equal(
    drawn(40, (screen) => renderBeside(screen, LEFT, RIGHT)),
    `  Baseline
    → booked at 49 USD, more than the
    true fare

  Cordon
    → asked
    → booked at the true fare

`,
  );
});
