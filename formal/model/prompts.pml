/*
 * Questions that wait (trace/src/consent/prompt.ts, hub/src/consent/open-question.ts): the session asks and waits, on its own surface and
 * in the store; two other processes may answer; the hub is killed at any step and asks the same again when it goes on.
 *
 * Checked: one_yes_one_effect, yes_only_if_somebody_said_it, accepted_answer_counts, first_answer_counts,
 * no_answer_after_the_end; no deadlock;
 * every_question_ends.
 */
#include "vocabulary.pml"

#ifndef CRASHES
#define CRASHES 2
#endif
#define PROMPTS (CRASHES + 1)   /* a row for each time that a question is new */

/* In a walk the user is slow, so that others come to answer. */
#ifdef SIM
#define MAY_ANSWER_HERE timeout
#else
#define MAY_ANSWER_HERE true
#endif

/* The table. */
bit exists[PROMPTS];
bit over[PROMPTS];
byte answer[PROMPTS];      /* 0 no, 1 yes, NONE */
byte rows = 0;

/* The journal: the effect that the question was about is finished. */
bit finished = 0;
byte crashes = 0;
bit killed = 0;

/* What really happened, for assertions. */
byte yeses[PROMPTS];       /* that were said to this question, anywhere, and accepted */
byte accepted[PROMPTS];    /* the answer that another process was told is accepted */
byte all_yeses = 0;
byte effects = 0;

inline open() {
  atomic {
    p = 0;
#ifndef MUTANT_NOT_TAKEN_UP_AGAIN
    do :: p < rows && over[p] -> p++ :: else -> break od;
#else
    p = rows;
#endif
    SEEN(true, L_OPENED, p, 0, 0, 0);
    if :: p == rows -> exists[p] = 1; answer[p] = NONE; accepted[p] = NONE; rows++ :: else fi
  }
}

#ifdef MUTANT_CLOSED_IN_TWO_STEPS
inline close() {
  atomic { taken = answer[p] };
  over[p] = 1
}
#elif defined(MUTANT_TAKEN_AGAIN)
inline close() { atomic { taken = answer[p]; over[p] = (answer[p] == NONE) } }
#else
inline close() {
  atomic { SEEN(true, L_CLOSED, p, answer[p], 0, 0) -> taken = answer[p]; over[p] = 1 }
}
#endif

#ifdef MUTANT_NOISE_IS_YES
#define SAID_HERE (here == 0 -> 0 : 1)
#else
#define SAID_HERE here
#endif

/* firstAnswer, then Permissions: what was answered elsewhere until the question is over counts before what was said here. */
proctype Session() {
  byte p = 0, here = NONE, taken = NONE;
  do
  :: {
      do
      :: finished -> break
      :: !finished ->
        open();
        /* Until there is an answer, here or there, or the query is over. */
        if
        :: atomic { SEEN(answer[p] != NONE, L_LOOKED, p, answer[p], 0, 0) -> skip }
        :: atomic { MAY_ANSWER_HERE -> here = 1; yeses[p]++; all_yeses++ }
        :: MAY_ANSWER_HERE -> here = 0
        :: MAY_ANSWER_HERE   /* stopped */
        fi;
        close();
        atomic {
          assert(accepted[p] == NONE || taken == accepted[p]);   /* accepted_answer_counts */
          if
          :: taken == NONE -> taken = SAID_HERE
          :: else
          fi;
          if
          :: taken == 1 -> assert(yeses[p] > 0)                  /* yes_only_if_somebody_said_it */
          :: else
          fi;
          here = NONE
        };
        if
        :: taken == 1 ->
          atomic { effects++; assert(effects <= all_yeses) };       /* one_yes_one_effect */
          finished = 1
        :: else -> finished = 1
        fi;
        atomic { p = 0; taken = NONE }
      od;
      break
    } unless {
      atomic { SEEN(killed, L_HUB_KILLED, 0, 0, 0, 0) -> killed = 0; p = 0; here = NONE; taken = NONE }
    }
  od
}

#ifdef MUTANT_ANSWERED_AFTER_THE_END
#define OPEN(p) exists[p]
#else
#define OPEN(p) (exists[p] && !over[p])
#endif
#ifdef MUTANT_LAST_ANSWER_COUNTS
#define UNANSWERED(p) true
#else
#define UNANSWERED(p) (answer[p] == NONE)
#endif

inline reply() {
  atomic {
    if
    :: SEEN(OPEN(p) && UNANSWERED(p), L_REPLIED, p, says, 1, 0) ->
      assert(!over[p]);                                          /* no_answer_after_the_end */
      assert(accepted[p] == NONE);                               /* first_answer_counts */
      answer[p] = says; accepted[p] = says; yeses[p] = yeses[p] + says; all_yeses = all_yeses + says
    :: SEEN(!(OPEN(p) && UNANSWERED(p)), L_REPLIED, p, says, 0, 0)
    fi
  }
}

/* `cordon prompts answer`, in a process of its own. */
proctype Replier(bit says) {
  byte p = 0;
  if
  :: !IN_A_WALK   /* never */
  :: exists[0] -> p = 0; reply()
  :: exists[1] -> p = 1; reply()
  :: exists[PROMPTS - 1] -> p = PROMPTS - 1; reply()
  fi
}

proctype Killer() {
  byte patience = 0;
end:
  do
  :: WAIT_A_WHILE atomic { crashes < CRASHES && !finished -> crashes++; killed = 1 }
  od
}

init { atomic { START; run Session(); run Replier(1); run Replier(0); run Killer() } }

#ifdef LIVENESS
/* The query ends, and no question of it waits on. */
ltl every_question_ends { <> (finished && (!exists[0] || over[0]) && (!exists[1] || over[1])) }
#endif
