/**
 * `npm run attacks:neighbours [-- HARM...]`: what each bomb, flood and hang of one app costs the app beside it and the
 * hub. Prints a table; takes about two minutes.
 */
import { openRig } from '@cordon/testkit/isolation/rig.ts';
import { disturb, HARMS } from './neighbours/disturbed.ts';

const wanted = process.argv.slice(2);
const rig = await openRig();
const round = (value: number) => value.toFixed(2);
console.log(
  '| harm | calls | p99 in peace ms | meanwhile ms | ratio | hub MiB more | hub busy ms | stood still ms | ended |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
try {
  for (const harm of HARMS.filter((name) => wanted.length === 0 || wanted.includes(name))) {
    const seen = await disturb(rig, harm, 300);
    const { calls, calm, meanwhile, busy, memoryMiB, stall, calmStall, reason } = seen;
    const ratio = round(meanwhile / calm);
    const still = `${round(stall)} (${round(calmStall)})`;
    console.log(
      `| ${harm} | ${calls} | ${round(calm)} | ${round(meanwhile)} | ${ratio} | ${round(memoryMiB)} | ${round(busy)} | ${still} | ${reason} |`,
    );
  }
} finally {
  rig.remove();
}
process.exit(0);
