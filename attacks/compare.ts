/**
 * `npm run attacks:compare`: the attempts of the escape suite in Cordon, without a sandbox and in three others, as an
 * ordinary user; writes the table of docs/isolation.md. Sandboxes that are not installed are said to be so.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { type Column, compared, renderComparison, replaceComparison } from './comparison.ts';
import { columnOf, SANDBOXES, throughIn } from './sandboxes.ts';

const PAGE = join(import.meta.dirname, '../docs/isolation.md');

if (process.getuid?.() === 0) {
  console.error('attacks: as an ordinary user only; without a sandbox these attempts really happen');
  process.exit(2);
}

const attempts = compared();
const columns: Column[] = [];
for (const name of SANDBOXES) {
  const column = await columnOf(name);
  columns.push(column);
  if (column.outcomes.size > 0)
    console.error(`${name}: ${throughIn(column)} of ${attempts.length} got through`);
}
const table = renderComparison(columns, `Linux ${release()}`);
if (process.argv.includes('--print')) console.log(table);
else writeFileSync(PAGE, replaceComparison(readFileSync(PAGE, 'utf8'), table));
