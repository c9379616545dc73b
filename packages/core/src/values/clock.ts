/** Time is handed in, so that tests own it. Milliseconds since the epoch. Ring 0. */
export type Clock = () => number;
