/*
 * The gate: proposed, decided, allowed, carried out (hub/src/mediation/gate.ts, hub/src/consent/permission.ts), each written to the journal
 * first; the hub killed, or the machine failing, between any two steps; the session resumed; the user answering, stopping
 * the query and revoking grants at any time.
 *
 * The hub is one thread: what stands between two waits is not interleaved with other work of the hub (`busy`), but it
 * can be cut off anywhere, and other processes see every transaction of it.
 *
 * Checked: effect_only_when_allowed, decision_is_on_the_disk_first, one_effect_for_one_decision,
 * crash_never_doubles_an_effect, permission_where_it_is_needed, decided_again_after_the_answer, dead_grant_never_fires,
 * once_grant_fires_once, no_yes_after_the_end, irreversible_is_never_granted_for_long; no deadlock; every_query_ends.
 */
#include "vocabulary.pml"

#define IRREVERSIBLE 128   /* questions from here on are about what cannot be undone, or are asked by a rule */
#define ONLY_ONCE 200      /* and from here on are never granted for longer than once */
#define REPEATED 250       /* whether a call that is in doubt may be made again */
#ifdef ACCEPT
#define GRANTS 64
#define SLOTS 24
#define STEPS SLOTS        /* each proposal of the trace is a step of its own */
#define CRASHES 200
#else
#ifndef GRANTS
#define GRANTS 1           /* that live at the same time */
#endif
#define SLOTS 2            /* proposals at the same time */
#ifndef STEPS
#define STEPS 2            /* what the query is to do; step 0 cannot be undone */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#endif
#define SESSIONS 1
#include "grant-table.pml"

/* Classes of effects: a delivery into the memory of a confined process; what outlives the machine; what cannot be undone. */
#define DELIVERY 0
#define OUTWARD 1
#define UNDOABLE 2

/* What the journal says of a step. */
#define PENDING 0
#define PROPOSED 1
#define ALLOWED 2
#define OVER 3             /* denied, executed or failed */

byte journal[STEPS];       /* committed: survives the process */
bit doubt[STEPS];          /* what came of it is not known: `tool-call.in-doubt`, and no decision since that allows it again */
byte disk[STEPS];          /* synced: survives the machine */
bit disk_doubt[STEPS];
byte class[STEPS];
bit running[STEPS];        /* a slot of the living hub works on it */
byte asks[SLOTS];          /* the question of it that stands before the user, or NONE */

bit up = 1;                /* the hub's process lives */
bit busy = 0;              /* its one thread is inside a step */
byte engaged = 0;           /* slots that work on a proposal */
byte crashes = 0;
bit forbidden = 0;         /* the policy, over the trace as it is by now, denies */
bit cancelled = 0;         /* the user stopped the query */

/* The world, which the hub cannot take back, and what the user really said: read by assertions only. */
byte did[STEPS];
byte again[STEPS];         /* how often the user, told of the doubt, said that it may be made once more */
byte doubts = 0;
bit spent[STEPS];          /* the effect of the newest decision has happened */
bit agreed[STEPS];         /* for the newest proposal: the user said yes, or a living grant was spent */
bit needed[STEPS];
#ifdef ACCEPT
byte doubted[256];         /* by tool of the trace */
byte keys[SLOTS];          /* the tool that a slot calls */
bit taken_back[GRANTS];    /* at some time of the trace: the journal does not say when */
byte lost = 0;             /* calls that cannot be undone, and were under way at the crash */
byte lost_of[256];         /* the same, by tool */
byte undelivered = 0;      /* what was allowed and not yet delivered at the crash */
#endif

/* What is chosen by chance when the model is checked, and by the trace when it accepts one. */
#ifdef ACCEPT
#define IS_IDLE(k) (due_label == L_PROPOSED && due_a == w)
/* A class that is 4 more: the journal says that it was allowed, and that no permission was needed. */
#define CHOOSE_STEP k = w; is_plain = due_b >> 2; kind = due_b & 3; context = due_c; key = due_d; journal[k] = PENDING; doubt[k] = (kind == UNDOABLE && doubted[key] > 0); did[k] = doubt[k]; again[k] = 0
#define IS_REPEATED doubt[k]
#define CHOOSE_NEED if :: !doubt[k] -> need = NONE :: !is_plain || doubt[k] -> need = ANY fi
#define MORE_IS_ASKED if :: !doubt[k] || permission == BY_USER -> need = NONE :: need = ANY fi
#define NONE_ANSWERS due_label == L_ASKED
#define SOME_ANSWERS true
#define CHOOSE_ASKED need = due_b
#define CHOOSE_SPAN span = due_d
#define TAKE_GRANT due_label == L_USED && !doubt[k] && ANSWERS(due_b) -> g = due_b
#define ROOM true
#define CHOOSE_ROW due_label == L_GIVEN; g = due_b
#define CRASH_COMES (due_label == L_RESUMED)
#define NOTHING_IS_LOST (lost == 0)
#define IS_TAKEN_BACK(g) taken_back[g]
#define MOST_DOUBTS 200
#define FORBIDS true
#define TIRED (due_label == L_DECIDED && due_a == w)
#define WAITS (busy && !is_plain && need == NONE && due_label == L_PROPOSED && due_a != w)
#define EDITED_KIND (due_b & 3)
#define EDITED_HINT (due_b & 4)
#define MAY_BE_UNFIT (due_label == L_ASKED)
#define NOT_KEPT (due_label == L_DECIDED)
#define IS_CHANGED false
#define MAY_EDIT (due_label == L_DECIDED)
#define MAY_CHANGE (due_label == L_GIVEN && due_c == ONCE)
#else
#define IS_REPEATED (need == REPEATED)
#define IS_IDLE(k) (journal[k] == PENDING && !running[k])
#define NOTHING_IS_LOST true
#define IS_TAKEN_BACK(g) false
#ifndef EDITS
#define EDITS false        /* whether the user may put something else in the place of what is asked about */
#endif
#ifndef MOST_DOUBTS
#define MOST_DOUBTS 0      /* in a hub that lives: an app that dies in the middle of a call */
#endif
#define CHOOSE_STEP \
  if :: IS_IDLE(0) -> k = 0 :: IS_IDLE(STEPS - 1) -> k = STEPS - 1 fi; kind = class[k]; context = k; key = 0
#ifdef MUTANT_OLD_YES_REPEATS
#define ASKS_ABOUT(k) IRREVERSIBLE
#else
#define ASKS_ABOUT(k) (doubt[k] -> REPEATED : IRREVERSIBLE)
#endif
/* The walk has no two questions of the same kind at the same time: joining and covering leave no word in it. */
#ifdef SIM
#define CHOOSE_NEED \
  if :: kind == UNDOABLE -> need = ASKS_ABOUT(k) :: kind != UNDOABLE -> need = NONE :: kind != UNDOABLE -> need = 1 fi
#else
#define CHOOSE_NEED \
  if :: need = ASKS_ABOUT(k) :: kind != UNDOABLE -> need = NONE :: kind != UNDOABLE -> need = 1 fi
#endif
#define MORE_IS_ASKED need = NONE
#define NONE_ANSWERS !ANSWERS(0) && !ANSWERS(GRANTS - 1)
#define SOME_ANSWERS (ANSWERS(0) || ANSWERS(GRANTS - 1))
#define CHOOSE_ASKED skip
/* Where it may be permanent, that is here what a session is. */
#define CHOOSE_SPAN if :: span = ONCE :: span = SESSION :: IN_A_WALK || need >= IRREVERSIBLE -> span = PERMANENT fi
#define TAKE_GRANT ANSWERS(0) || ANSWERS(GRANTS - 1) -> if :: ANSWERS(0) -> g = 0 :: ANSWERS(GRANTS - 1) -> g = GRANTS - 1 fi
#define ROOM (!LIVE(0, 0) || !LIVE(GRANTS - 1, 0))   /* the bound of this model: else the user says no */
#define CHOOSE_ROW if :: !LIVE(0, 0) -> g = 0 :: !LIVE(GRANTS - 1, 0) -> g = GRANTS - 1 fi
#define CRASH_COMES true
#define FORBIDS forbidden
#define TIRED false
#define WAITS false        /* what it lets come between is what a question to the user does */
#define EDITED_KIND kind
#define EDITED_HINT 0
#define MAY_BE_UNFIT !edited && EDITS
#define NOT_KEPT false
#define IS_CHANGED changed
#define MAY_EDIT changed && !edited
#define MAY_CHANGE EDITS && !edited
#endif

#if defined(SIM) || defined(ACCEPT)
#define HOP 1              /* one thread: nothing that a journal or a test can tell comes between a decision and its effect */
#else
#define HOP 0
#endif
#ifdef ACCEPT
#define STEP_OF_TRACE key
#define CLASS_HINT is_plain * 4
#else
#define STEP_OF_TRACE k
#define CLASS_HINT 0
#endif

/* A grant for once is spent when it is given: one that a crash left answers nothing. */
#ifdef MUTANT_ONCE_IS_NOT_SPENT
#define LASTS(g) true
#define SPENDS false
#else
#define LASTS(g) (grant[g].duration != ONCE)
#define SPENDS (grant[g].duration == ONCE)
#endif
#define ANSWERS(g) (LASTS(g) && LIVE(g, 0) && (need == ANY || grant[g].subject == need))

inline sync() {
  i = 0;
  do :: i < STEPS -> disk[i] = journal[i]; disk_doubt[i] = doubt[i]; i++ :: else -> break od;
  i = 0
}

/* Whether a living grant answers `need`. */
inline look_up() {
  i = 0; found = 0;
  do :: i < GRANTS -> found = found || (ANSWERS(i) && !IS_TAKEN_BACK(i)); i++ :: else -> break od;
  i = 0
}

/* ---------------------------------------------------------------- one proposal, as Gate.carryOut takes it */

/*
 * Between two waits the hub is one thread. A wait that is over at once is one all the same: whatever else is ready goes on
 * before this does. A walk, which drives a test, does without: nothing else is ever ready in it.
 */
#ifdef SIM
#define LET_GO skip
#define GO_ON true
#else
#define LET_GO busy = 0
#define GO_ON !busy -> busy = 1
#endif

inline propose() {
  atomic {
    up && !busy && !cancelled && NOTHING_IS_LOST && (IS_IDLE(0) || IS_IDLE(STEPS - 1));
    CHOOSE_STEP;
    CHOOSE_NEED;
    FREE(true, L_NEEDED, w, need, 0, 0);
    SEEN(true, L_PROPOSED, w, kind + CLASS_HINT, context, STEP_OF_TRACE);
    busy = 1; running[k] = 1; engaged++; journal[k] = PROPOSED; permission = NOT_NEEDED;
#ifdef ACCEPT
    keys[w] = (kind == UNDOABLE -> key : NONE);
#endif
    spent[k] = 0; agreed[k] = 0; needed[k] = (need != NONE)
  }
}

#ifdef ACCEPT
#define SETTLE_DOUBT if :: doubt[k] -> doubted[key] = 0 :: else fi; doubt[k] = 0
#else
#define SETTLE_DOUBT doubt[k] = 0
#endif
#if defined(MUTANT_DECISION_NOT_SYNCED)
#define WRITE_DECISION journal[k] = ALLOWED
#elif defined(MUTANT_EFFECT_BEFORE_JOURNAL)
#define WRITE_DECISION skip
#else
#define WRITE_DECISION journal[k] = ALLOWED; SETTLE_DOUBT; if :: kind != DELIVERY -> sync() :: else fi
#endif

inline allow() {
  atomic {
    SEEN(true, L_DECIDED, w, 1, permission, 0);
    assert(!forbidden);                                  /* decided_again_after_the_answer */
    WRITE_DECISION;
    allowed = 1; busy = HOP
  }
}

/* In a walk what is over makes room for another step of the same kind, so that it goes on for a while. */
#ifdef SIM
byte more = 0;
#define RECYCLE if :: more < 30 && journal[k] == OVER -> more++; journal[k] = PENDING; did[k] = 0; again[k] = 0 :: else fi
#define LATER more > 20
#else
#define RECYCLE skip
#define LATER true
#endif

#ifdef MUTANT_ASKED_FOR_EVER
#define AFTER_A_NO PENDING
#else
#define AFTER_A_NO OVER
#endif

inline deny() {
  atomic { SEEN(true, L_DECIDED, w, 0, permission, 0); journal[k] = AFTER_A_NO; RECYCLE; running[k] = 0; busy = 0 }
}

/* A grant authorises: what must hold at that moment. */
inline fires() {
  fired[g] = (grant[g].duration == ONCE -> fired[g] + 1 : 0);
  assert(fired[g] <= 1);                                 /* once_grant_fires_once */
  assert(!dead[g]);                                      /* dead_grant_never_fires */
  grant[g].used = SPENDS
}

/* Permissions.obtain, with a grant that is there: spent in one transaction, then noted in the journal. */
inline note_grant() {
  atomic { SEEN(true, L_USED, context, g, 0, 0); sync(); permission = BY_GRANT; agreed[k] = 1; MORE_IS_ASKED; g = NONE; LET_GO }
}

#ifdef MUTANT_YES_AFTER_THE_END
#define YES_COUNTS true
#else
#define YES_COUNTS !cancelled
#endif
#ifdef MUTANT_PERMANENT_IRREVERSIBLE
#define MAY_BE_SAID(span) true
#else
#define MAY_BE_SAID(span) ((!IS_LONG(span) || MAY_LAST(need)) && (need < ONLY_ONCE || span == ONCE))
#endif

#ifdef MUTANT_SILENCE_IS_CONSENT
#define NO_ANSWER permission = BY_GRANT; need = NONE
#else
#define NO_ANSWER permission = NOT_NEEDED
#endif

#ifdef ACCEPT
#define SAME_STANDS true
#define STANDS_NO_MORE ((due_label == L_DECIDED && due_a == w) || ((due_label == L_ASKED || due_label == L_USED) && due_a == context))
#else
#define SAME_STANDS (asks[1 - w] == need)
#define STANDS_NO_MORE (asks[1 - w] != need)
#endif
#ifdef MUTANT_JOINED_YES
#define JOINED_YES need = NONE
#else
#define JOINED_YES skip
#endif
#define COVERED 4

#ifdef SIM
/* A question that comes when the query is over is not even shown, and nothing comes between. */
#define WHILE_ASKED !is_shown
#define HEARS (!busy || !is_shown)
#elif defined(MUTANT_THREAD_HELD)
#define WHILE_ASKED 1
#define HEARS !busy
#else
#define WHILE_ASKED 0
#define HEARS !busy
#endif

/* Permissions.obtain, where there is none. The thread is free while the user thinks. */
inline ask() {
  atomic { NONE_ANSWERS; CHOOSE_ASKED; look_up(); SEEN(!found, L_ASKED, context, need, 0, 0); is_shown = !cancelled; busy = WHILE_ASKED; asks[w] = need };
  if
  :: atomic {
      !busy && YES_COUNTS && ROOM; CHOOSE_SPAN;
      SEEN(true, L_ANSWERED, w, need, 1, span);
      assert(!cancelled);                                /* no_yes_after_the_end */
      busy = 1; sync(); permission = (MAY_BE_SAID(span) -> BY_USER : DENIED); asks[w] = NONE; LET_GO
    }
  :: atomic { SEEN(HEARS, L_ANSWERED, w, need, 0, 0); busy = 1; sync(); permission = DENIED; asks[w] = NONE; LET_GO }
  /* Another question of the same kind was answered for longer than once: this one needs no answer. */
  :: atomic { !busy && SOME_ANSWERS; SEEN(true, L_ANSWERED, w, need, 1, 0); busy = 1; sync(); permission = COVERED; asks[w] = NONE; LET_GO }
  /* The surface that asks is broken: nobody answered, and deciding fails. */
  :: atomic { SEEN(!busy && is_shown, L_ANSWERED, w, need, 0, 0); busy = 1; sync(); NO_ANSWER; asks[w] = NONE; LET_GO }
  fi
}

/* The very same question stands already, for another proposal: its no counts for this one too, its yes for once does not. */
inline join() {
  atomic { SAME_STANDS -> busy = 0 };
  if
  :: atomic { !busy && STANDS_NO_MORE -> permission = COVERED; JOINED_YES; LET_GO }
  :: atomic { !busy && STANDS_NO_MORE -> permission = DENIED; LET_GO }
  fi
}

/* The yes becomes a grant; one for once is spent at once, if nobody has revoked it meanwhile. */
inline keep_answer() {
  atomic {
    GO_ON;
    /* A yes to something that the user changed is for the change, once. */
    if
    :: MAY_CHANGE -> changed = 1; span = ONCE
    :: true
    fi;
    CHOOSE_ROW;
    FREE(true, L_STORED, w, g, span, need);
    assert(!IS_LONG(span) || need < IRREVERSIBLE);           /* irreversible_is_never_granted_for_long */
    grant[g].duration = span; grant[g].subject = need; grant[g].revoked = 0; grant[g].used = 0; dead[g] = 0; fired[g] = 0
  };
  atomic { SEEN(true, L_GIVEN, context, g, span, need); sync() };
  if
  :: atomic { FREE(LIVE(g, 0), L_SPENT, w, g, 1, 0); fires(); agreed[k] = 1; again[k] = again[k] + IS_REPEATED; MORE_IS_ASKED }
  :: atomic { FREE(!LIVE(g, 0) || IS_TAKEN_BACK(g), L_SPENT, w, g, 0, 0); permission = DENIED }
  fi;
  atomic { g = NONE; span = 0; LET_GO }
}

/* The user put something else in its place: what was proposed is denied, and what they made of it decided like all else. */
inline revise() {
  atomic { SEEN(true, L_DECIDED, w, 0, permission, 0); journal[k] = OVER };
  atomic { SEEN(true, L_PROPOSED, w, EDITED_KIND + EDITED_HINT, context, STEP_OF_TRACE); journal[k] = PROPOSED; kind = EDITED_KIND; earlier = permission; edited = 1; changed = 0 }
}

inline decide() {
  do
  :: FORBIDS -> deny(); break
  :: !forbidden && need == NONE -> allow(); break
  /* A rule asks a model or a service: others go on meanwhile, and it is decided again. */
  :: WAITS -> atomic { LET_GO }; atomic { GO_ON -> skip }
#ifdef MUTANT_DECIDED_BEFORE_THE_ANSWER
  :: need == NONE && permission != NOT_NEEDED -> allow(); break
#endif
  :: !forbidden && need != NONE ->
    if
    :: atomic { TAKE_GRANT; FREE(true, L_SPENT, w, g, 1, 0); fires() };
      note_grant()
    :: ask();
      if
      :: permission == BY_USER -> keep_answer()
      :: permission == BY_USER && NOT_KEPT -> permission = DENIED
      /* What the user typed does not fit: they are asked again. */
      :: permission == BY_USER && MAY_BE_UNFIT -> permission = COVERED; edited = 1; span = 0
      :: permission != BY_USER
      fi
    :: join()
    :: TIRED -> atomic { permission = DENIED; LET_GO }   /* so much of this query was refused that nothing more is asked */
    fi;
    atomic { GO_ON -> skip };
    if
    :: permission == DENIED || permission == NOT_NEEDED -> deny(); break
    :: permission == COVERED -> permission = earlier
    :: permission == BY_USER && MAY_EDIT -> revise()
    :: (permission == BY_USER && !IS_CHANGED) || permission == BY_GRANT -> earlier = permission
    fi
  od
}

#ifdef ACCEPT
#define NOTE_DOUBT doubted[key]++
#else
#define NOTE_DOUBT skip
#endif

inline carry_out() {
  atomic {
    FREE(!busy || HOP, L_BEGUN, w, 0, 0, 0);
    busy = 0;
    assert(journal[k] == ALLOWED);                       /* effect_only_when_allowed */
    assert(kind == DELIVERY || disk[k] == ALLOWED);      /* decision_is_on_the_disk_first */
    assert(!needed[k] || agreed[k]);                     /* permission_where_it_is_needed */
    assert(!spent[k]);                                   /* one_effect_for_one_decision */
    assert(kind != UNDOABLE || did[k] <= again[k]);      /* crash_never_doubles_an_effect */
    did[k] = (kind == UNDOABLE -> did[k] + 1 : 0);
    spent[k] = 1
  };
#ifdef MUTANT_SPENT_TWICE
  if
  :: goto carried
  :: true
  fi;
#endif
  atomic {
    if
    :: SEEN(!busy, L_EXECUTED, w, 0, 0, 0)
    :: SEEN(!busy, L_FAILED, w, 0, 0, 0)
    :: SEEN(!busy && kind == UNDOABLE && doubts < MOST_DOUBTS, L_IN_DOUBT, w, 0, 0, 0) -> doubts++; doubt[k] = 1; NOTE_DOUBT
    fi;
    journal[k] = (doubt[k] -> PENDING : OVER); RECYCLE; running[k] = 0
  }
}

inline forget() { k = 0; kind = 0; context = 0; key = 0; need = NONE; permission = NOT_NEEDED; span = 0; g = NONE; i = 0; found = 0; is_shown = 0; changed = 0; earlier = NOT_NEEDED; edited = 0; allowed = 0; is_plain = 0 }

proctype Slot(byte w) {
  byte k = 0, kind = 0, context = 0, key = 0, need = NONE, permission = NOT_NEEDED, span = 0, g = NONE, i = 0;
  byte earlier = NOT_NEEDED;
  bit found = 0, is_shown = 0, changed = 0, edited = 0, allowed = 0, is_plain = 0;
end:
  do
  :: propose();
    {
      decide();
carried:
      if
      :: allowed -> carry_out()
      :: else
      fi;
      atomic { forget(); engaged-- }
    } unless {
      /* The process is dead: what it knew is gone. */
      atomic { !up -> forget(); engaged-- }
    }
  od
}

/* ---------------------------------------------------------------- what the hub does not choose */

/* A kill takes the memory of the process; a failure of the machine also what was not yet on the disk. */
inline crash() {
  crashes++; up = 0; busy = 0;
  i = 0;
#ifdef ACCEPT
  do
  :: i < STEPS ->
    if
    :: running[i] && journal[i] == ALLOWED && keys[i] != NONE -> lost_of[keys[i]]++; lost++
    :: running[i] && journal[i] == ALLOWED && keys[i] == NONE -> undelivered++
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0;
#endif
  do :: i < STEPS -> running[i] = 0; i++ :: else -> break od;
  i = 0;
  do :: i < SLOTS -> asks[i] = NONE; i++ :: else -> break od;
  if
  :: FREE(true, L_CRASHED, 1, 0, 0, 0)
#ifndef SIM
  :: i = 0;
    do :: i < STEPS -> journal[i] = disk[i]; doubt[i] = disk_doubt[i]; i++ :: else -> break od
#endif
  fi;
  i = 0
}

proctype Crash() {
  byte i = 0, patience = 0;
end:
  do
  :: WAIT_A_WHILE WAIT_A_WHILE WAIT_A_WHILE atomic { up && crashes < CRASHES && CRASH_COMES -> crash() }
  od
}

#ifdef MUTANT_SILENT_RETRY
#define IN_DOUBT(k) 0
#else
#define IN_DOUBT(k) (class[k] == UNDOABLE)
#endif
#ifdef MUTANT_FINISHED_IS_FORGOTTEN
#define AFTER_THE_END PENDING
#else
#define AFTER_THE_END OVER
#endif

/*
 * The session goes on. What is finished stays finished; what was allowed and has no outcome is in doubt if it cannot be
 * undone, and is proposed again otherwise; what was delivered into the memory of a process died with it.
 */
proctype Resume() {
  byte k = 0, i = 0;
end:
  do
  :: atomic { !up && engaged == 0 -> k = 0 };
#ifndef ACCEPT
    do
    :: k < STEPS && journal[k] == PENDING -> k++
    :: k < STEPS && journal[k] == PROPOSED -> atomic { journal[k] = PENDING; k++ }
    :: k < STEPS && journal[k] == OVER -> atomic { journal[k] = AFTER_THE_END; k++ }
    :: k < STEPS && journal[k] == ALLOWED -> atomic { SEEN(true, L_DOUBTED, k, IN_DOUBT(k), 0, 0) -> doubt[k] = IN_DOUBT(k); journal[k] = PENDING; k++ }
    :: k == STEPS -> break
    od;
    atomic { SEEN(true, L_RESUMED, 0, 0, 0, 0) -> sync(); up = 1; k = 0; i = 0 }
#else
    atomic { SEEN(true, L_RESUMED, 0, 0, 0, 0) -> up = 1; k = 0; i = 0 }
  :: atomic { due_label == L_DOUBTED && lost_of[due_a] > 0 -> k = due_a; SEEN(true, L_DOUBTED, k, 1, 0, 0); lost_of[k]--; lost--; doubted[k]++; k = 0 }
  :: atomic { SEEN(undelivered > 0 && !busy, L_DELIVERED_AGAIN, 0, 0, 0, 0) -> undelivered-- }
#endif
  od
}

/* Other work of the hub, which a rule of the policy looks at. */
proctype Trace() {
  byte patience = 0;
end:
  WAIT_A_WHILE WAIT_A_WHILE WAIT_A_WHILE WAIT_A_WHILE atomic { FREE(up && !busy && !forbidden && LATER, L_GROWN, 0, 0, 0, 0) -> forbidden = 1 }
}

/* The user may stop the query, and revoke what was granted, from another process too. */
proctype User() {
  byte g = 0, patience = 0;
end:
  do
#ifdef ACCEPT
  :: atomic {
      due_label == L_PRIOR -> g = due_a; grant[g].duration = due_b; grant[g].subject = due_c;
      SEEN(true, L_PRIOR, g, grant[g].duration, grant[g].subject, 0); g = 0
    }
  :: atomic { due_label == L_TAKEN_BACK -> g = due_a; SEEN(true, L_TAKEN_BACK, g, 0, 0, 0); taken_back[g] = 1; g = 0 }
#else
  :: WAIT_A_WHILE
    if
    :: IN_A_WALK   /* nothing, most of the time */
    :: atomic { FREE(!cancelled && up && LATER, L_CANCELLED, 0, 0, 0, 0) -> cancelled = 1 }
    :: atomic { SEEN(LIVE(0, 0), L_REVOKED, 0, 0, 0, 0) -> grant[0].revoked = 1; dead[0] = 1 }
    :: atomic { SEEN(GRANTS > 1 && LIVE(GRANTS - 1, 0), L_REVOKED, GRANTS - 1, 0, 0, 0) -> grant[GRANTS - 1].revoked = 1; dead[GRANTS - 1] = 1 }
    fi
#endif
  od
}

init {
  byte w = 0;
  atomic {
    START;
    class[0] = UNDOABLE;
#ifndef ACCEPT
    do
    :: w < STEPS - 1 -> w++; if :: class[w] = DELIVERY :: class[w] = OUTWARD fi
    :: else -> break
    od;
    w = 0;
#endif
    do :: w < SLOTS -> asks[w] = NONE; run Slot(w); w++ :: else -> break od;
    run Crash(); run Resume(); run Trace(); run User()
  }
}

#ifdef LIVENESS
/* Each step of the query comes to an end, or the user has stopped it. */
ltl every_query_ends { <> (cancelled || (journal[0] == OVER && journal[STEPS - 1] == OVER)) }
#endif
