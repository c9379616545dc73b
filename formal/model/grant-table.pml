/*
 * The table of grants (trace/src/consent/grant.ts): a row for each answer of the user. Every inline is one transaction of the
 * database; what is not inside one of them is seen by the other processes, and can be cut off by a crash.
 *
 * Bounds: GRANTS rows, SESSIONS sessions. A subject and the digest of what was shown are small numbers.
 */

#ifndef GRANTS
#define GRANTS 2
#endif
#ifndef SESSIONS
#define SESSIONS 2
#endif
/* Subjects from here on are of a scope that may never be permanent or until a time: irreversible actions, rules that ask. */
#ifndef IRREVERSIBLE
#define IRREVERSIBLE 1
#endif

typedef Grant {
  byte duration;  /* 0: no such row */
  byte subject;
  bit digest;
  bit session;    /* of a permanent grant: of no account */
  bit revoked;
  bit used;
}
Grant grant[GRANTS];
byte rows = 0;
bit ended[SESSIONS];
bit late = 0;     /* the time of every grant that has one is over */

/* What is true of a grant, whatever its row says: written by the environment, read by assertions only. */
bit dead[GRANTS];
byte fired[GRANTS];

#ifdef MUTANT_EXPIRY_UNCHECKED
#define IN_TIME(g) true
#else
#define IN_TIME(g) (grant[g].duration != UNTIL || !late)
#endif
#ifdef MUTANT_ANY_SESSION
#define IN_SESSION(g, s) true
#else
#define IN_SESSION(g, s) (grant[g].duration == PERMANENT || grant[g].duration == UNTIL || (grant[g].session == (s) && !ended[s]))
#endif
#ifdef MUTANT_REVOKED_STAYS_FOUND
#define IN_FORCE(g) true
#else
#define IN_FORCE(g) (!grant[g].revoked)
#endif
#define LIVE(g, s) (grant[g].duration != 0 && IN_FORCE(g) && !grant[g].used && IN_TIME(g) && IN_SESSION(g, s))

#ifdef MUTANT_PERMANENT_IRREVERSIBLE
#define MAY_LAST(subject) true
#else
#define MAY_LAST(subject) ((subject) < IRREVERSIBLE)
#endif
#define IS_LONG(d) ((d) == PERMANENT || (d) == UNTIL)

/* Whether a grant answers a question with this digest: a once-grant is for what was shown. */
#define FITS(g, s, what, shown) (LIVE(g, s) && grant[g].subject == (what) && (grant[g].duration != ONCE || grant[g].digest == (shown)))
/* Which of several is found: the same digest first, then the longest, then the oldest. Less is better. */
#define RANK_OF(span) (span == PERMANENT -> 0 : (span == SESSION -> 1 : (span == UNTIL -> 2 : 3)))
#define RANK(g, shown) ((grant[g].digest != (shown)) * 8 + RANK_OF(grant[g].duration))

inline insert_grant(g, span, what, shown, s) {
  g = rows;
  grant[g].duration = span;
  grant[g].subject = what;
  grant[g].digest = shown;
  grant[g].session = s;
  rows++
}
