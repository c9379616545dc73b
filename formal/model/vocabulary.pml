/*
 * What all models share: the words for their steps, and the three ways in which one model is used.
 *
 *   check     (no flag)   every reachable state is searched; steps have no trace
 *   generate  (-DSIM)     SPIN walks at random and prints each step: the walk then drives the real code
 *   accept    (-DACCEPT)  the model is bound to a trace that the real code made: a step that the journal records is
 *                         possible only when it is the next of the trace, all other steps are free
 *
 * SEEN(condition, label, a, b, c, d): a step that the journal records.
 * FREE(condition, label, a, b, c, d): a step that it does not record.
 * Both are the first statement of an `atomic`, so that a refused step changes nothing.
 */

#define NONE 255   /* no such thing */
#define ANY  254   /* in a trace: the journal does not say which */

/* Labels: formal/src/label.ts reads them from here. */
#define L_END 0
/* grants */
#define L_GIVE 1            /* process, grant or NONE (refused), duration, subject * 2 + digest */
#define L_FIND 2            /* process, grant or NONE, subject * 2 + digest */
#define L_CONSUME 3         /* process, grant, 1 authorised | 0 not */
#define L_REVOKE 4          /* grant, 1 it was not revoked before */
#define L_EXPIRE 5          /* the clock passes the end of every grant that has one */
#define L_END_SESSION 6     /* session */
#define L_RESTART 7         /* process: killed, and started again */
#define L_USE 8             /* process, grant: the action that it authorised */
/* gate */
#define L_PROPOSED 20       /* slot, class of effect, context, step (in a trace: the tool, if the call cannot be undone) */
#define L_NEEDED 21         /* slot, what the permission model wants asked or NONE, 1 a rule asks too */
#define L_USED 22           /* context, grant */
#define L_ASKED 23          /* context, question */
#define L_ANSWERED 24       /* slot, question, 1 yes | 0 no, duration */
#define L_GIVEN 25          /* context, grant, duration, question */
#define L_DECIDED 26        /* slot, 1 allow | 0 deny, how permission came */
#define L_BEGUN 27          /* slot: the effect reaches the world */
#define L_EXECUTED 28       /* slot */
#define L_FAILED 29         /* slot */
#define L_CRASHED 30        /* 1 the process | 2 the machine */
#define L_RESUMED 31
#define L_GROWN 32          /* the trace grew so that the policy forbids what it allowed before */
#define L_REVOKED 33        /* grant */
#define L_DOUBTED 34        /* step, 1 in doubt | 0 failed: it had no outcome when the hub ended */
#define L_IN_DOUBT 35       /* slot: nobody knows what came of the call, and the hub lives */
#define L_DELIVERED_AGAIN 41 /* what was allowed before the crash, to the process that takes the place of the dead one */
#define L_CANCELLED 36      /* the user stops the query */
#define L_SPENT 37          /* slot, grant: a transaction of the store spends it */
#define L_STORED 38         /* slot, grant, duration, question: a transaction of the store keeps it */
#define L_PRIOR 39          /* grant, duration, question: it was given before the trace begins */
#define L_TAKEN_BACK 40     /* grant: at some time of the trace, which the journal does not say */
/* exchange */
#define L_HEARD 50          /* context, request that it serves or NONE (the user's query) */
#define L_PROBED 51         /* context */
#define L_OFFERED 52        /* context, peer id */
#define L_UNSERVED 53       /* context */
#define L_DROPPED 54        /* context: a malformed message, or one to nobody */
#define L_REQUESTED 55      /* context, request, peer id */
#define L_REQUEST_DECIDED 56 /* request, 1 allow | 0 deny */
#define L_ERRAND 57         /* request: a tool of the other app works on it */
#define L_REQUEST_OVER 58   /* request, 1 executed | 0 failed */
#define L_RESPONDED 59      /* request */
#define L_RESPONSE_DECIDED 60 /* request, 1 allow | 0 deny */
#define L_DELIVERED 61      /* request */
#define L_CONTEXT_ENDED 62  /* context */
#define L_QUERY_ENDED 63
#define L_STOPPED 64        /* the user stops the query */
#define L_TURNED_AWAY 66    /* context: a request that nests too deep, or is one too many */
#define L_GOES_ON 67        /* the session, in another process */
#define L_TOLD 65           /* request: its context gets an answer, whatever it is */
/* prompts */
#define L_OPENED 80         /* prompt: the question waits; the same one that waited before a crash, if there is one */
#define L_REPLIED 81        /* prompt, 1 yes | 0 no, 1 accepted | 0 refused: from another process */
#define L_LOOKED 82         /* prompt, 1 yes | 0 no | NONE: what the session finds */
#define L_CLOSED 83         /* prompt, 1 yes | 0 no | NONE: what the session takes, and the question is over */
#define L_HUB_KILLED 84
#define L_DROPPED_ALL 85    /* the session goes on without its questions */

/* durations, as PermissionAnswer has them */
#define ONCE 1
#define SESSION 2
#define UNTIL 3
#define PERMANENT 4

/* how permission came: DecidedBody['permission'] */
#define NOT_NEEDED 0
#define BY_USER 1
#define BY_GRANT 2
#define DENIED 3

#ifdef ACCEPT
c_decl {
#define MOST_STEPS 65536
static int steps[MOST_STEPS][5];
static int known = -1, furthest = 0;
static void tell(void) { fprintf(stderr, "furthest %d of %d\n", furthest, known); }
/* The trace: five numbers a step, on standard input. */
static void read_trace(void) {
  known = 0;
  while (known < MOST_STEPS - 1 && scanf("%d %d %d %d %d", &steps[known][0], &steps[known][1],
                                         &steps[known][2], &steps[known][3], &steps[known][4]) == 5) known++;
  steps[known][0] = 0;
  atexit(tell);
}
}
/* The step of the trace that is due; a function of `due`, so it makes no states of its own. */
int due = 0;
byte due_label, due_a, due_b, due_c, due_d;
#define LOAD c_code { \
  if (known < 0) read_trace(); \
  if (now.due > furthest) furthest = now.due; \
  now.due_label = steps[now.due][0]; now.due_a = steps[now.due][1]; now.due_b = steps[now.due][2]; \
  now.due_c = steps[now.due][3]; now.due_d = steps[now.due][4]; \
}
#define SAME(due_x, x) (due_x == (x) || due_x == ANY)
#define IS_DUE(l, a, b, c, d) \
  (due_label == l && SAME(due_a, a) && SAME(due_b, b) && SAME(due_c, c) && SAME(due_d, d))
/* The search stops where the trace is at its end: that it fails is how the model accepts. */
#define SEEN(condition, l, a, b, c, d) \
  (condition) && IS_DUE(l, a, b, c, d) -> due++; LOAD; assert(due_label != L_END)
#define FREE(condition, l, a, b, c, d) (condition)
#define START LOAD
#else
#ifdef SIM
#define SEEN(condition, l, a, b, c, d) (condition) -> printf("@ %d %d %d %d %d\n", l, a, b, c, d)
#define FREE SEEN
#else
#define SEEN(condition, l, a, b, c, d) (condition)
#define FREE SEEN
#endif
#define START skip
#endif

/* In a walk chance picks the next process: those that only disturb wait a while, or nothing else would ever happen. */
#ifdef SIM
#define WAIT_A_WHILE select(patience : 0 .. 40); do :: patience > 0 -> patience-- :: patience == 0 -> break od;
#define IN_A_WALK true
#else
#define WAIT_A_WHILE
#define IN_A_WALK false
#endif
