/**
 * How long a permission holds, as a person says it: once, this session, until a time, permanently.
 *
 * It reads the user's answer.
 */
import { failed, type GrantDuration, type GrantTerm, ok, type Result } from '@cordon/core';

/** Spans that every question offers where it offers an end. */
type Span = 'hour' | 'today' | 'week';

const HOUR = 3_600_000;

/** When a span that begins now is over; `today` ends at midnight where the user is. */
function endOfSpan(span: Span, now: number): number {
  switch (span) {
    case 'hour':
      return now + HOUR;
    case 'week':
      return now + 7 * 24 * HOUR;
    case 'today':
      return new Date(now).setHours(24, 0, 0, 0);
    default:
      span satisfies never;
      return now;
  }
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: HOUR,
  d: 24 * HOUR,
  w: 7 * 24 * HOUR,
};
const MOST_SPAN = 10 * 365 * 24 * HOUR;
/** A zone is required: a time without one means another moment on another machine. */
const TIME = /^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(z|[+-]\d{2}:\d{2})$/;

/** What `2026-12-01T10:00Z`, `90m`, `2h`, `3d`, `1w`, `today` mean now; a failure says what can be written. */
export function parseEnd(text: string, now: number): Result<number, string> {
  const wanted = text.trim().toLowerCase();
  if (wanted === 'today') return ok(endOfSpan('today', now));
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(wanted) ?? [];
  const span = Number(count) * (UNITS[unit ?? ''] ?? Number.NaN);
  if (span > 0) return span <= MOST_SPAN ? ok(now + span) : failed('that is more than ten years');
  const time = TIME.test(wanted) ? Date.parse(wanted.toUpperCase()) : Number.NaN;
  if (Number.isNaN(time)) return failed('write `90m`, `2h`, `3d`, `1w`, `today` or `2026-12-01T10:00Z`');
  return time > now ? ok(time) : failed('that time is in the past');
}

/** `2026-11-21 05:53Z`, from milliseconds since the epoch: short enough to stay whole in a column. */
export function minuteOf(time: number): string {
  return new Date(time).toISOString().replace(/T(.{5}).*/, ' $1Z');
}

/** `until 2026-12-01 10:00Z`; for the other durations their own words. */
export function termWords(term: GrantTerm): string {
  return term.duration === 'until' ? `until ${minuteOf(term.until)}` : DURATION_WORDS[term.duration];
}

const DURATION_WORDS: Readonly<Record<Exclude<GrantDuration, 'until'>, string>> = {
  once: 'this once',
  session: 'for this session',
  permanent: 'permanently; `cordon grants` lists and revokes it',
};

/** One way to say yes. */
export interface TermChoice {
  readonly duration: GrantDuration;
  /** What may be typed, in lower case. */
  readonly words: readonly string[];
  readonly label: string;
  readonly term: (now: number) => GrantTerm;
}

const TERM_CHOICES: readonly TermChoice[] = [
  { words: ['o', 'once', 'y', 'yes'], label: '[o] once', ...lasting('once') },
  { words: ['s', 'session'], label: '[s] this session', ...lasting('session') },
  { words: ['h', 'hour'], label: '[h] one hour', ...ending('hour') },
  { words: ['t', 'today'], label: '[t] today', ...ending('today') },
  { words: ['w', 'week'], label: '[w] a week', ...ending('week') },
  { words: ['p', 'permanent', 'permanently'], label: '[p] permanently', ...lasting('permanent') },
];

function lasting(duration: Exclude<GrantDuration, 'until'>): Pick<TermChoice, 'duration' | 'term'> {
  return { duration, term: () => ({ duration }) };
}

function ending(span: Span): Pick<TermChoice, 'duration' | 'term'> {
  return { duration: 'until', term: (now) => ({ duration: 'until', until: endOfSpan(span, now) }) };
}

/** The ways to say yes to a question with these durations, shortest first. */
export function termChoices(durations: readonly GrantDuration[]): readonly TermChoice[] {
  return TERM_CHOICES.filter(({ duration }) => durations.includes(duration));
}

/** Null: the word means nothing where these durations are offered, e.g. `p` where permanent is not. */
export function termOfWord(word: string, durations: readonly GrantDuration[], now: number): GrantTerm | null {
  const choice = termChoices(durations).find(({ words }) => words.includes(word));
  if (choice !== undefined) return choice.term(now);
  if (!durations.includes('until') || !word.startsWith('until ')) return null;
  const end = parseEnd(word.slice('until '.length), now);
  return end.ok ? { duration: 'until', until: end.value } : null;
}
