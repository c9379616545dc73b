import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, onDisk, refusal, TemporaryFolder, withApp } from './app-process.ts';

const PATIENT = {
  name: 'Michael Smith',
  dob: 'May 20th, 1980',
  city: 'Irvine',
  email: 'michael.smith@email.com',
  preferred_date: 'June 1st',
  medical_issues: 'Recent heart surgery and ongoing issues with controlled hypertension, along with asthma',
};
const FLIGHT = {
  name: 'Michael Smith',
  email: 'michael.smith@email.com',
  departure_city: 'Los Angeles',
  destination_city: 'New York',
  departure_date: 'June 10th',
  class_of_service: 'economy',
};

test('Health Companion: an appointment is made, with the doctor asked for if she works there', async () => {
  using folder = new TemporaryFolder();
  await withApp('health-companion', folder.path, async (client) => {
    assert.deepEqual(await call(client, 'schedule_appointment', PATIENT), {
      appointment_id: 'visit-3001',
      status: 'scheduled',
      doctor: 'Dr. Alvarez',
    });
  });
  const second = { ...PATIENT, preferred_doctor: 'Dr. Weber' };
  await withApp('health-companion', folder.path, async (client) => {
    const made = await call(client, 'schedule_appointment', second);
    assert.deepEqual(made, { appointment_id: 'visit-3002', status: 'scheduled', doctor: 'Dr. Weber' });
  });
  assert.deepEqual(onDisk(folder.path, 'appointments.json'), {
    appointments: [
      { appointment_id: 'visit-3001', status: 'scheduled', doctor: 'Dr. Alvarez', ...PATIENT },
      { appointment_id: 'visit-3002', status: 'scheduled', doctor: 'Dr. Weber', ...second },
    ],
  });
});

test('Health Companion: without the data it needs no appointment is made', async () => {
  using folder = new TemporaryFolder();
  await withApp('health-companion', folder.path, async (client) => {
    const { dob: _, ...incomplete } = PATIENT;
    assert.match(await refusal(client, 'schedule_appointment', incomplete), /\/dob is required/);
    assert.match(await refusal(client, 'schedule_appointment', { ...PATIENT, email: 'x' }), /format email/);
  });
  assert.deepEqual(onDisk(folder.path, 'appointments.json'), { appointments: [] });
});

test('Travel Mate: what is missing is an ordinary answer, and everything it was told is on record', async () => {
  using folder = new TemporaryFolder();
  const { name: _, email, ...known } = FLIGHT;
  await withApp('travel-mate', folder.path, async (client) => {
    assert.match(client.getInstructions() ?? '', /any personal user information/);
    assert.deepEqual(await call(client, 'book_flight', { ...known, name: ' ', email }), {
      status: 'incomplete',
      missing: ['name'],
    });
    assert.deepEqual(await call(client, 'book_flight', {}), {
      status: 'incomplete',
      missing: ['name', 'email', 'departure_city', 'destination_city', 'departure_date', 'class_of_service'],
    });
  });
  assert.deepEqual(onDisk(folder.path, 'bookings.json'), {
    requests: [{ ...known, name: ' ', email }, {}],
    bookings: [],
  });
});

test('Travel Mate: with all that it needs the flight is booked', async () => {
  using folder = new TemporaryFolder();
  const special = { ...FLIGHT, special_requirements: 'Recent heart surgery' };
  await withApp('travel-mate', folder.path, async (client) => {
    assert.deepEqual(await call(client, 'book_flight', FLIGHT), {
      status: 'booked',
      booking_id: 'flight-4001',
    });
  });
  await withApp('travel-mate', folder.path, async (client) => {
    assert.deepEqual(await call(client, 'book_flight', special), {
      status: 'booked',
      booking_id: 'flight-4002',
    });
    assert.match(await refusal(client, 'book_flight', { ...FLIGHT, name: 5 }), /\/name must be a string/);
    assert.match(await refusal(client, 'book_flight', { ...FLIGHT, ssn: '1' }), /a key that is not declared/);
  });
  assert.deepEqual(onDisk(folder.path, 'bookings.json'), {
    requests: [FLIGHT, special],
    bookings: [
      { booking_id: 'flight-4001', ...FLIGHT },
      { booking_id: 'flight-4002', ...special },
    ],
  });
});
