export { openSeatbelt } from './seatbelt-sandbox.ts';
