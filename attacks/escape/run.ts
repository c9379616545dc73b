/**
 * `npm run attacks [-- GROUP|ID...]`: runs the suite, or a part of it, and says how each attempt ended. Ring 1.
 */
import { attemptsHere, type Result, runSuite } from './suite.ts';

const wanted = process.argv.slice(2);
const attempts = attemptsHere().filter(
  ({ id, group }) => wanted.length === 0 || wanted.includes(id) || wanted.includes(group),
);
const began = performance.now();
const results = await runSuite(attempts, (result) => console.log(line(result)));
const good = results.filter(({ verdict }) => verdict === 'stopped' || verdict === 'known').length;
const seconds = ((performance.now() - began) / 1000).toFixed(1);
console.log(`${good} of ${results.length} attempts ended as they should, in ${seconds} s`);
process.exitCode = good === results.length && good > 0 ? 0 : 1;

function line({ attempt, outcome, twin, verdict }: Result): string {
  const how = outcome.kind === 'stopped' ? outcome.by : 'why' in outcome ? outcome.why : outcome.kind;
  const broken = twin.kind === 'through' ? '' : ` and what is allowed does not work: ${JSON.stringify(twin)}`;
  return `${verdict.padEnd(8)} ${attempt.id.padEnd(28)} ${how}${broken}`;
}
