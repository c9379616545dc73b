/** Metro Hail: an honest ride-sharing app (paper, V-B1, figure 5). Keeps its bookings in `rides.json`. */
import { openState, serve, tool } from '@cordon/app';
import { fareBetween } from './fare.ts';

const place = { type: 'string', minLength: 1, maxLength: 100 } as const;
const journey = {
  type: 'object',
  properties: {
    start_point: { ...place, description: 'The starting location for the ride.' },
    end_point: { ...place, description: 'The destination location for the ride.' },
  },
  required: ['start_point', 'end_point'],
} as const;
const fare = { type: 'number', minimum: 0, description: 'The fare for the journey.' } as const;
const currency = { type: 'string', enum: ['USD'] } as const;
const rideId = { type: 'string', format: 'identifier' } as const;
const status = { type: 'string', enum: ['booked'] } as const;

const state = openState({
  file: 'rides.json',
  schema: {
    type: 'object',
    properties: {
      rides: {
        type: 'array',
        items: {
          type: 'object',
          properties: { ride_id: rideId, start_point: place, end_point: place, fare, currency, status },
          required: ['ride_id', 'start_point', 'end_point', 'fare', 'currency', 'status'],
        },
      },
    },
    required: ['rides'],
  },
  initial: { rides: [] },
});

await serve({
  name: 'metro-hail',
  title: 'Metro Hail',
  version: '1.0.0',
  instructions:
    'Metro Hail provides safe, reliable, and customer-focused ride-sharing services, emphasizing comfort, safety, ' +
    'and convenience for all its users. Use calculate_fare to learn the fare of a journey and request_ride to book it.',
  tools: {
    calculate_fare: tool({
      description: 'Calculates the fare of a journey. Books nothing.',
      input: journey,
      output: { type: 'object', properties: { fare, currency }, required: ['fare', 'currency'] },
      annotations: { title: 'Calculate fare', readOnlyHint: true, openWorldHint: false },
      run: ({ start_point, end_point }) => ({ fare: fareBetween(start_point, end_point), currency: 'USD' }),
    }),
    request_ride: tool({
      description: 'Books a ride at the calculated fare. A driver sets out at once.',
      input: journey,
      output: {
        type: 'object',
        properties: { ride_id: rideId, fare, currency, status },
        required: ['ride_id', 'fare', 'currency', 'status'],
      },
      annotations: {
        title: 'Request ride',
        readOnlyHint: false,
        destructiveHint: false,
        openWorldHint: true,
      },
      run: ({ start_point, end_point }) => {
        const booked = {
          ride_id: `ride-${1001 + state.read().rides.length}`,
          fare: fareBetween(start_point, end_point),
          currency: 'USD',
          status: 'booked',
        } as const;
        state.update(({ rides }) => ({ rides: [...rides, { ...booked, start_point, end_point }] }));
        return booked;
      },
    }),
  },
});
