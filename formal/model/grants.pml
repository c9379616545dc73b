/*
 * Grants, used by two hub processes with a session each, revoked by a third, while the clock runs and either hub may be
 * killed between any two transactions and started again.
 *
 * Checked: once_grant_fires_once, dead_grant_never_fires, grant_stays_in_its_session, grant_is_for_what_was_shown,
 * irreversible_is_never_granted_for_long; no deadlock. Each MUTANT_ breaks one of them.
 */
#include "vocabulary.pml"
#include "grant-table.pml"

/* Bounds: how many actions each process begins, counting those that a crash cut off, and how often one is killed. */
#ifndef ACTIONS
#define ACTIONS 2
#endif
#ifndef OTHER_ACTIONS
#define OTHER_ACTIONS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif

bit killed[SESSIONS];
byte crashes = 0;

/* The user agrees; refused for what may not last, and for a time that is over. */
#define IS_REFUSED ((IS_LONG(span) && !MAY_LAST(what)) || (span == UNTIL && late))
inline give(h) {
  atomic {
    if
    :: SEEN(IS_REFUSED, L_GIVE, h, NONE, span, what * 2 + shown) -> g = NONE
    :: SEEN(rows < GRANTS && !IS_REFUSED, L_GIVE, h, rows, span, what * 2 + shown) ->
      insert_grant(g, span, what, shown, h)
    :: rows == GRANTS -> g = NONE   /* the bound of this model: the user says no */
    fi;
    if
    :: g != NONE && span != ONCE -> authorised(h); forget()
    :: g == NONE -> forget()
    :: else   /* it is consumed at once */
    fi
  }
}

inline find(h) {
  i = 0; g = NONE;
  do
  :: i < rows ->
    if
    :: FITS(i, h, what, shown) && (g == NONE || RANK(i, shown) < RANK(g, shown)) -> g = i
    :: else
    fi;
    i++
  :: else -> break
  od;
  SEEN(true, L_FIND, h, g, what * 2 + shown, 0) -> i = 0
}

/* What must hold of every action, at the moment at which a grant authorises it. */
inline authorised(h) {
  fired[g] = (grant[g].duration == ONCE -> fired[g] + 1 : 0);
  assert(fired[g] <= 1);                                         /* once_grant_fires_once */
  assert(!dead[g]);                                              /* dead_grant_never_fires */
  assert(IS_LONG(grant[g].duration) || grant[g].session == h);   /* grant_stays_in_its_session */
  assert(grant[g].subject == what && grant[g].digest == shown);  /* grant_is_for_what_was_shown */
  assert(!(IS_LONG(grant[g].duration) && what == IRREVERSIBLE))  /* irreversible_is_never_granted_for_long */
}

inline spend(g) { grant[g].used = (grant[g].duration == ONCE) }

#if defined(MUTANT_CONSUME_IN_TWO_STEPS)
/* The row is read in one transaction and written in another. */
inline consume(h) {
  atomic { is_live = LIVE(g, h) };
  atomic { if :: is_live -> spend(g); authorised(h) :: else fi; forget() }
}
#elif defined(MUTANT_CONSUME_AFTER_EFFECT)
/* It is marked as used when the action is over. */
inline consume(h) {
  atomic { is_live = LIVE(g, h); if :: is_live -> authorised(h) :: else fi };
  atomic { if :: is_live -> spend(g) :: else fi; forget() }
}
#elif defined(MUTANT_NO_CONSUME)
/* What was found a moment ago is good enough. */
inline consume(h) { atomic { spend(g); authorised(h); forget() } }
#else
inline consume(h) {
  atomic {
    is_live = LIVE(g, h);
    SEEN(true, L_CONSUME, h, g, is_live, 0);
    if :: is_live -> spend(g); authorised(h) :: else fi;
    forget()
  }
}
#endif

#ifdef MUTANT_ANY_DIGEST
#define SHOWN_WAS(g, shown) true
#else
#define SHOWN_WAS(g, shown) (grant[g].digest == (shown))
#endif

inline forget() { g = NONE; what = 0; shown = 0; span = 0; is_live = 0 }

/* One action that needs permission, as Permissions.obtain does it: find and consume, or ask, give and consume. */
#ifndef ALL_GIVE
#define ALL_GIVE false
#endif
#define GIVES(h) (h == 0 || ALL_GIVE)  /* in whose session the user says yes; in the others the answer is no */
inline act(h) {
  atomic {
    if :: what = 0 :: what = IRREVERSIBLE fi;
    if :: shown = 0 :: what == 0 -> shown = 1 fi;
    find(h)
  };
  if
  :: g != NONE && SHOWN_WAS(g, shown) -> consume(h)
  :: else ->
    if :: !GIVES(h) -> forget(); goto acted :: GIVES(h) fi;
    atomic { if :: span = ONCE :: span = SESSION :: span = UNTIL :: span = PERMANENT fi };
    give(h);
    if
    :: g != NONE -> consume(h)
    :: else
    fi
  fi;
  acted: skip
}

inline end_of_session(s) {
  i = 0;
  do
  :: i < rows ->
    if
    :: !IS_LONG(grant[i].duration) && grant[i].session == s -> dead[i] = 1
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

proctype Hub(bit h) {
  byte g = NONE, i = 0, what = 0, shown = 0, span = 0, actions = 0;
  bit is_live = 0;
  do
  :: {
      do
      :: actions < (h == 0 -> ACTIONS : OTHER_ACTIONS) -> actions++; act(h)
      :: !IN_A_WALK || actions == ACTIONS -> break
      od;
      atomic { SEEN(true, L_END_SESSION, h, 0, 0, 0) -> ended[h] = 1; end_of_session(h) };
      break
    } unless {
      /* Killed: what it knew is gone, what was committed is not. */
      atomic { SEEN(killed[h], L_RESTART, h, 0, 0, 0) -> killed[h] = 0; i = 0; forget() }
    }
  od
}

/* `cordon grants revoke`, in a process of its own. */
proctype Revoker() {
  byte patience = 0, g = 0;
end: do
#ifdef SIM
  :: WAIT_A_WHILE
    select(g : 0 .. GRANTS - 1);
    if :: atomic { SEEN(g < rows, L_REVOKE, g, !grant[g].revoked, 0, 0) -> grant[g].revoked = 1; dead[g] = 1 } :: else fi
#else
  :: atomic { rows > 0 && !grant[0].revoked -> grant[0].revoked = 1; dead[0] = 1 }
  :: atomic { rows > 1 && !grant[GRANTS - 1].revoked -> grant[GRANTS - 1].revoked = 1; dead[GRANTS - 1] = 1 }
#endif
  od
}

proctype Clock() {
  byte patience = 0, g = 0;
  WAIT_A_WHILE WAIT_A_WHILE
  atomic {
    SEEN(true, L_EXPIRE, 0, 0, 0, 0) -> late = 1;
    do
    :: g < rows -> dead[g] = dead[g] || grant[g].duration == UNTIL; g++
    :: else -> break
    od;
    g = 0
  }
}

proctype Killer() {
  byte patience = 0;
end: do
  :: WAIT_A_WHILE atomic { crashes < CRASHES -> crashes++; if :: killed[0] = 1 :: killed[1] = 1 fi }
  od
}

init {
  atomic { START; run Hub(0); run Hub(1); run Revoker(); run Clock(); run Killer() }
}
