/**
 * `node bench/detectors/mistakes.ts [detector]`: what our detectors missed and what they found wrongly, on the labelled
 * texts that are not held out. For whoever works on a detector; how good they are tells `cordon bench detectors`.
 */
import { measured, SHORT } from './measurement.ts';
import type { Mistake } from './score.ts';
import { SUITES } from './suites.ts';

/** Nobody stops it but by ending the process. */
const NEVER = new AbortController().signal;

async function run(wanted: string | undefined): Promise<void> {
  for (const suite of SUITES.filter(({ detector }) => wanted === undefined || wanted === detector))
    for (const { row, tuning } of await measured(suite, suite.find, suite.rows, SHORT, NEVER))
      for (const [what, mistakes] of [
        ['missed', tuning.missed],
        ['wrong', tuning.wrong],
      ] as const)
        for (const mistake of mistakes)
          console.log(`${suite.detector}, ${row.name}, ${what}: ${mistake.label.kind} ${around(mistake)}`);
}

/** The text around a mistake, the mistake between markers. */
function around({ label: { start, end }, labelled: { text, note } }: Mistake): string {
  const shown = `${text.slice(Math.max(0, start - 40), start)}⟦${text.slice(start, end)}⟧${text.slice(end, end + 40)}`;
  return `${JSON.stringify(shown)} (${note})`;
}

await run(process.argv[2]);
