/** Fetches the address that it is given, one after the other, and prints the milliseconds of each. */
const [address, count] = process.argv.slice(2);

async function timed(headers) {
  const began = performance.now();
  const response = await fetch(address, { headers });
  await response.text();
  return performance.now() - began;
}

async function series(headers) {
  for (let n = 0; n < 20; n++) await timed(headers);
  const times = [];
  for (let n = 0; n < Number(count); n++) times.push(await timed(headers));
  return times;
}

const kept = await series({});
const fresh = await series({ connection: 'close' });
console.log(JSON.stringify({ kept, fresh }));
