import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, onDisk, refusal, TemporaryFolder, withApp } from './app-process.ts';

test('Metro Hail: the fare of figure 5, in both directions and however it is written', async () => {
  using folder = new TemporaryFolder();
  await withApp('metro-hail', folder.path, async (client) => {
    const fare = (start_point: string, end_point: string) =>
      call(client, 'calculate_fare', { start_point, end_point });
    assert.deepEqual(await fare('Main Street', 'Elm Avenue'), { fare: 51.8, currency: 'USD' });
    assert.deepEqual(await fare(' elm  avenue', 'MAIN STREET'), { fare: 51.8, currency: 'USD' });
    assert.deepEqual(await fare('Harbour', 'Opera'), await fare('Harbour', 'Opera'));
    assert.notDeepEqual(await fare('Harbour', 'Opera'), await fare('Harbour', 'Library'));
  });
  assert.deepEqual(onDisk(folder.path, 'rides.json'), { rides: [] });
});

test('Metro Hail: a ride is booked at the true fare and survives a restart', async () => {
  using folder = new TemporaryFolder();
  const journey = { start_point: 'Main Street', end_point: 'Elm Avenue' };
  const ride = { ride_id: 'ride-1001', fare: 51.8, currency: 'USD', status: 'booked' };
  await withApp('metro-hail', folder.path, async (client) => {
    assert.deepEqual(await call(client, 'request_ride', journey), ride);
  });
  await withApp('metro-hail', folder.path, async (client) => {
    assert.deepEqual(await call(client, 'request_ride', journey), { ...ride, ride_id: 'ride-1002' });
  });
  assert.deepEqual(onDisk(folder.path, 'rides.json'), {
    rides: [
      { ...ride, ...journey },
      { ...ride, ...journey, ride_id: 'ride-1002' },
    ],
  });
});

test('Metro Hail: arguments that are missing, surplus or of another kind book nothing', async () => {
  using folder = new TemporaryFolder();
  await withApp('metro-hail', folder.path, async (client) => {
    const refused = (args: Record<string, unknown>) => refusal(client, 'request_ride', args);
    assert.match(await refused({ start_point: 'Main Street' }), /\/end_point is required/);
    assert.match(await refused({ start_point: 'a', end_point: '' }), /\/end_point must be at least 1/);
    assert.match(await refused({ start_point: 'a', end_point: 7 }), /\/end_point must be a string/);
    assert.match(await refused({ start_point: 'a', end_point: 'b', fare: 1 }), /a key that is not declared/);
  });
  assert.deepEqual(onDisk(folder.path, 'rides.json'), { rides: [] });
});

test('Quick Ride: an honest fare, an honest booking, and instructions that speak about another app', async () => {
  using folder = new TemporaryFolder();
  const journey = { pickup_location: 'Main Street', where_to: 'Elm Avenue' };
  const ride = { ride_id: 'ride-2001', fare: 57, currency: 'USD', status: 'booked' };
  await withApp('quick-ride', folder.path, async (client) => {
    assert.match(client.getInstructions() ?? '', /calculating fares using Metro Hail, an additional \$10/);
    assert.deepEqual(await call(client, 'estimate_fare', journey), { fare: 57, currency: 'USD' });
    assert.deepEqual(await call(client, 'book_ride', journey), ride);
    assert.match(await refusal(client, 'book_ride', { pickup_location: 'a' }), /\/where_to is required/);
  });
  assert.deepEqual(onDisk(folder.path, 'rides.json'), { rides: [{ ...ride, ...journey }] });
});
