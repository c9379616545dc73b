/** Time is handed in, so that tests own it. Milliseconds since the epoch. */
export type Clock = () => number;
