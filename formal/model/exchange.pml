/*
 * Exchange between contexts (hub/src/exchange/exchange.ts, hub/src/spokes/spoke-link.ts): probe and offer, request, the other side's
 * work by a tool or by a context of its own that may ask others in its turn, response, refusal, cancellation. Agent loops
 * are hostile: they ask for what they were never offered, several things at once, answer out of turn, hang, die.
 *
 * Checked: served_only_when_allowed, delivered_only_when_allowed, peer_id_is_of_no_use_elsewhere, depth_is_bounded,
 * no_request_after_the_end, one_reply_for_one_request; no deadlock; every_query_ends.
 */
#include "vocabulary.pml"

#ifdef ACCEPT
#define CONTEXTS 64        /* of one session; none is used twice */
#define REQUESTS 12        /* at the same time */
#define PEERS 200
#define MOST_REQUESTS 30000
#define DEPTH 20
#define MOST_PROBES 1
#define COUNT_PROBE skip
#define MAY_OFFER true     /* what the plan names is offered without a probe */
#else
#ifndef CONTEXTS
#define CONTEXTS 4
#endif
#ifndef REQUESTS
#define REQUESTS 2
#endif
#ifndef MOST_REQUESTS
#define MOST_REQUESTS 3    /* in the whole query */
#endif
#define PEERS 2
#define COUNT_PROBE probes++
#define MOST_PROBES 1      /* of each context */
#define MAY_OFFER probing > 0
#ifndef ROOTS
#define ROOTS 1            /* steps of the plan that begin beside each other */
#endif
#ifndef DEPTH
#define DEPTH 1            /* exchanges in exchanges */
#endif
#endif

/* Contexts. */
bit lives[CONTEXTS];       /* its agent loop works on a turn */
byte depth[CONTEXTS];
byte serves[CONTEXTS];     /* the request that it works for; NONE: the user's query */
bit answered[CONTEXTS];    /* how its turn ended */
byte waits[CONTEXTS];      /* requests of it that are open */
byte offered[PEERS];       /* to which context a peer id was given */
byte live_roots = 0;
byte contexts = 0;
byte peers = 0;

/* Requests. */
#define FREE_SLOT 0
#define WANTED 1
#define IN_WORK 2
byte state[REQUESTS];
byte from[REQUESTS];
byte peer[REQUESTS];
short requests = 0;

bit stopped = 0;           /* the query's signal: the user stopped it, or it is over */
bit over = 0;              /* the user has the outcome */

/* What the user and the policy said of the request that is in a slot; how often it was answered: for assertions. */
bit request_allowed[REQUESTS];
bit response_allowed[REQUESTS];
byte told[REQUESTS];

#ifdef ACCEPT
#define PICK_CONTEXT due_label == L_HEARD && due_a < CONTEXTS -> c = due_a
#define PICK_PEER due_label == L_OFFERED && due_a == c && due_b < PEERS -> p = due_b
#define PICK_REQUEST due_label == L_REQUESTED && due_a == c && due_c < PEERS -> r = due_b; p = due_c
#define COMES_TO_NOTHING false   /* of such a request the journal says nothing */
#define MAY_BEGIN true
#define MAY_BE_OVER true
#else
#define PICK_CONTEXT contexts < CONTEXTS -> c = contexts
#define PICK_PEER peers < PEERS -> p = peers
#define PICK_REQUEST true -> \
  if :: r = 0 :: r = 1 :: r = REQUESTS - 1 fi; \
  if :: p = 0 :: p = PEERS - 1 fi
#define COMES_TO_NOTHING true
#define MAY_BEGIN !over && contexts < ROOTS
#define MAY_BE_OVER contexts > 0 && !over
#endif

inline end_loop(c) {
  lives[c] = 0;
  if :: serves[c] == NONE -> live_roots-- :: else fi
}

/* ---------------------------------------------------------------- the agent loop, which may do anything */

proctype Spoke(byte c) {
  byte r = 0, p = 0, probes = 0, probing = 0;
end:
  do
  :: atomic { SEEN(lives[c] && probes < MOST_PROBES, L_PROBED, c, 0, 0, 0) -> COUNT_PROBE; probing++ }
  :: atomic { MAY_OFFER && PICK_PEER; SEEN(true, L_OFFERED, c, p, 0, 0); offered[p] = c; peers++; p = 0; if :: probing > 0 -> probing-- :: else fi }
  :: atomic { SEEN(probing > 0, L_UNSERVED, c, 0, 0, 0) -> probing-- }
#ifdef ACCEPT
  :: atomic { SEEN(true, L_DROPPED, c, 0, 0, 0) }
  :: atomic { SEEN(true, L_TURNED_AWAY, c, 0, 0, 0) }
#endif
  /* A request to any peer id at all. */
  :: atomic {
      lives[c] && requests < MOST_REQUESTS && PICK_REQUEST;
      if
      :: state[r] == FREE_SLOT -> state[r] = WANTED; from[r] = c; peer[r] = p; waits[c]++; requests++
      :: else
      fi;
      r = 0; p = 0
    }
  /* An answer while requests are open is out of place, and dropped. */
  :: atomic { SEEN(lives[c] && waits[c] == 0, L_CONTEXT_ENDED, c, 0, 0, 0) -> end_loop(c); answered[c] = 1 }
  :: atomic { SEEN(lives[c], L_CONTEXT_ENDED, c, 0, 0, 0) -> end_loop(c) }   /* it dies */
  od
}

/* ---------------------------------------------------------------- the hub */

/* The asking context hears something, once, if it is still there. */
inline tell() {
  told[r]++;
  assert(told[r] == 1);                                  /* one_reply_for_one_request */
  waits[c]--; state[r] = FREE_SLOT; request_allowed[r] = 0; response_allowed[r] = 0; told[r] = 0; c = NONE; s = 0
}

/* What ends in a fault ends the turn that asked. */
inline fail_turn() {
#ifndef ACCEPT
  if
  :: lives[c] -> end_loop(c)
  :: else
  fi
#else
  skip   /* the journal says when it has ended */
#endif
}

#ifdef MUTANT_ANY_PEER
#define KNOWS(c, p) true
#else
#define KNOWS(c, p) (offered[p] == c)
#endif
#ifdef MUTANT_REQUEST_AFTER_THE_END
#define GOES_ON true
#else
#define GOES_ON (!stopped)
#endif
#ifdef MUTANT_NO_DEPTH
#define TOO_DEEP(c) false
#else
#define TOO_DEEP(c) (depth[c] >= DEPTH)
#endif

#ifdef MUTANT_REFUSED_RESPONSE_DELIVERED
#define AFTER_REFUSED_RESPONSE skip }; deliver(); atomic { skip
#elif defined(MUTANT_TOLD_TWICE)
#define AFTER_REFUSED_RESPONSE told[r]++; tell()
#elif defined(MUTANT_NEVER_TOLD)
#define AFTER_REFUSED_RESPONSE skip }; atomic { false
#else
#define AFTER_REFUSED_RESPONSE tell()
#endif
#ifdef ACCEPT
#define PICK_SERVER due_label == L_HEARD && due_a < CONTEXTS && due_b == r -> s = due_a
#define REFUSES_MORE true
#else
#define PICK_SERVER contexts < CONTEXTS -> s = contexts
#define REFUSES_MORE (contexts == CONTEXTS)   /* the bound of this model */
#endif

inline deliver() {
  atomic {
    SEEN(true, L_DELIVERED, r, 0, 0, 0) ->
    assert(request_allowed[r] && response_allowed[r]);   /* delivered_only_when_allowed */
    tell()
  }
}

inline respond(is_done) {
  if
  :: atomic { SEEN(true, L_REQUEST_OVER, r, 0, 0, 0) -> fail_turn(); tell() }
  :: atomic { SEEN(is_done, L_REQUEST_OVER, r, 1, 0, 0) -> skip };
    if
    :: atomic { SEEN(true, L_DROPPED, c, 0, 0, 0) -> tell() }   /* it does not fit its format */
    :: atomic { FREE(true, L_TOLD, r, 0, 0, 0) -> tell() }      /* there is no response: an error, or its output was refused */
    :: atomic { SEEN(true, L_RESPONDED, r, 0, 0, 0) -> skip };
      if
      :: atomic { SEEN(true, L_RESPONSE_DECIDED, r, 1, 0, 0) -> response_allowed[r] = 1 }; deliver()
      :: atomic { SEEN(true, L_RESPONSE_DECIDED, r, 0, 0, 0) -> AFTER_REFUSED_RESPONSE }
      fi
    fi
  fi
}

/* The effect of a request: a tool of the other app, or a context of it. Then its response, an effect of its own. */
inline serve() {
  if
  :: atomic {
      SEEN(true, L_ERRAND, r, 0, 0, 0) ->
      assert(request_allowed[r])                         /* served_only_when_allowed */
    };
    respond(true)
  :: atomic { SEEN(REFUSES_MORE, L_REQUEST_OVER, r, 1, 0, 0) -> tell() }
  :: atomic {
      !TOO_DEEP(c) && !stopped && PICK_SERVER;
      SEEN(true, L_HEARD, s, r, 0, 0);
      assert(request_allowed[r]);                        /* served_only_when_allowed */
      depth[s] = depth[c] + 1; serves[s] = r; answered[s] = 0; lives[s] = 1; contexts++;
      assert(depth[s] <= DEPTH)                          /* depth_is_bounded */
    };
    atomic { !lives[s] };
    respond(answered[s])
  :: atomic { SEEN(true, L_REQUEST_OVER, r, 0, 0, 0) -> fail_turn(); tell() }
  fi
}

proctype Request(byte r) {
  byte c = NONE, s = 0;
end:
  do
  :: atomic { state[r] == WANTED -> c = from[r]; state[r] = IN_WORK };
    if
    :: atomic { SEEN(!KNOWS(c, peer[r]), L_DROPPED, c, 0, 0, 0) -> tell() }
    :: atomic { COMES_TO_NOTHING && !GOES_ON -> fail_turn(); tell() }
    :: atomic { FREE(COMES_TO_NOTHING, L_TOLD, r, 0, 0, 0) -> tell() }   /* it does not fit its format, or the app does not start */
    :: atomic { SEEN(true, L_TURNED_AWAY, c, 0, 0, 0) -> tell() }   /* too deep, or too many */
    :: atomic {
        SEEN(KNOWS(c, peer[r]) && GOES_ON, L_REQUESTED, c, r, peer[r], 0) -> 
        assert(offered[peer[r]] == c);                   /* peer_id_is_of_no_use_elsewhere */
        assert(!stopped)                                 /* no_request_after_the_end */
      };
#ifdef MUTANT_SERVED_BEFORE_DECIDED
      if
      :: serve()
      :: true
      fi;
#endif
      if
      :: atomic { SEEN(true, L_REQUEST_DECIDED, r, 0, 0, 0) -> tell() }
      :: atomic { SEEN(true, L_REQUEST_DECIDED, r, 1, 0, 0) -> request_allowed[r] = 1 };
        serve()
      fi
    fi
  od
}

/* The user's query: the steps that it begins with work beside each other. Its end ends what is left of it. */
proctype Query() {
  byte c = 0;
end:
  do
  :: atomic {
      MAY_BEGIN && PICK_CONTEXT;
      SEEN(true, L_HEARD, c, NONE, 0, 0);
      if :: over -> stopped = 0; over = 0 :: else fi;
      depth[c] = 0; serves[c] = NONE; answered[c] = 0; lives[c] = 1; contexts++; live_roots++; c = 0
    }
  :: atomic { SEEN(MAY_BE_OVER && live_roots == 0, L_QUERY_ENDED, 0, 0, 0, 0) -> stopped = 1; over = 1 }
#ifdef ACCEPT
  :: atomic { SEEN(true, L_GOES_ON, 0, 0, 0, 0) -> over = 1; stopped = 1; live_roots = 0 }
#endif
  od
}

/* A loop that says nothing while nobody keeps it waiting, and every loop once the query is over, is ended. */
#ifdef MUTANT_NO_IDLE_LIMIT
#define ENDS(c) stopped
#elif defined(MUTANT_STOP_NOT_PASSED_ON)
#define ENDS(c) (waits[c] == 0 && depth[c] == 0)
#else
#define ENDS(c) (stopped || waits[c] == 0)
#endif

proctype Watch(byte c) {
end:
  do
  :: atomic { SEEN(lives[c] && ENDS(c), L_CONTEXT_ENDED, c, 0, 0, 0) -> end_loop(c) }
  od
}

/* May stop it, and need not. */
proctype User() {
end:
  if
  :: true
  :: atomic { FREE(contexts > 0 && !stopped, L_STOPPED, 0, 0, 0, 0) -> stopped = 1 }
  fi
}

init {
  byte n = 0;
  atomic {
    START;
    do :: n < PEERS -> offered[n] = NONE; n++ :: else -> break od;
    n = 0;
    do :: n < CONTEXTS -> run Spoke(n); run Watch(n); n++ :: else -> break od;
    n = 0;
    do :: n < REQUESTS -> run Request(n); n++ :: else -> break od;
    n = 0;
    run Query();
#ifndef ACCEPT
    run User()
#endif
  }
}

#ifdef LIVENESS
/* The user has the outcome, and nothing is left behind. */
ltl every_query_ends {
  <> (over && !lives[0] && !lives[1] && !lives[CONTEXTS - 1] && state[0] == FREE_SLOT && state[1] == FREE_SLOT && state[REQUESTS - 1] == FREE_SLOT)
}
#endif
