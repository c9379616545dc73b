/** The clock by which a terminal judges what is typed. */
import type { TerminalClock } from './attention.ts';

export const terminalClock: TerminalClock = {
  now: () => performance.now(),
  // Attack: what arrived while this process was busy is read after timers that are due, and would seem to come behind
  // the quiet. An immediate runs when it has been read.
  after: (milliseconds, run) => {
    let immediate: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      immediate = setImmediate(run);
    }, milliseconds);
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  },
};
