/* Judge: derived numbers + gates -> one verdict with reasons. Pure.
 *
 * A gate that misses its metric is blocked, never passed. A run without gates is not gated.
 * Comparisons between arms are derive's numbers; judge only decides. */
#ifndef IFM_JUDGE_JUDGE_H
#define IFM_JUDGE_JUDGE_H

#include "derive/derive.h"

enum ifm_outcome {
    IFM_OUTCOME_PASS = 0,
    IFM_OUTCOME_FAIL,
    IFM_OUTCOME_INCONCLUSIVE, /* the interval lies on both sides of the threshold */
    IFM_OUTCOME_BLOCKED,      /* there is no number that may be judged */
    IFM_OUTCOME_NOT_GATED
};

struct ifm_gate_result {
    const struct ifm_gate *gate;
    const char *cell, *arm;
    enum ifm_outcome outcome;
    struct ifm_value observed;
    const char *reason;           /* one sentence */
    const char *remedy;           /* of that reason; "" = none */
    struct ifm_few_runs few_runs; /* which may miss slow ones that would change the answer; 0 = none may */
    bool missing_capability;      /* blocked by a missing capability (exit 4), else by invalid data (exit 3) */
    uint64_t further;             /* inconclusive: so many more would probably decide; 0 = no sensible number */
    const char *further_of;       /* "blocks"; NULL = not inconclusive */
};

/* A number in words: "speed-up" of cell and arm is "Good improvement to Excellent". */
struct ifm_class_label {
    const char *table, *title; /* of data/gates/classes.txt */
    const char *cell, *arm;
    enum ifm_metric_id metric;
    const char *label;
};

/* What else changed with the time of a compared arm, and whether it explains the change. */
struct ifm_triage_line {
    const char *cell, *arm, *text;
    bool explained; /* something that was measured beside it accounts for the change */
};

struct ifm_verdict {
    enum ifm_outcome outcome;
    enum ifm_status exit_code; /* 0, 1, 3 or 4 */
    struct ifm_gate_result *gates;
    size_t n_gates;
    const char **reasons; /* sentences, most important first; never empty */
    size_t n_reasons;
    bool rollback;               /* two metrics of an arm regress, in the run that this one repeats too (rollback.c) */
    const char *rollback_to;     /* the baseline arm to go back to; "" when there is no rollback */
    const char *rollback_advice; /* one sentence; "" = none. Of a first run that regresses: measure once more */
    const char **rca; /* root-cause ladder, one sentence a rung: environment, inputs, kernel, memory, statistics */
    size_t n_rca;
    struct ifm_class_label *classes; /* of the tables that gates name */
    size_t n_classes;
    struct ifm_triage_line *triage;
    size_t n_triage;
};

/* In the arena. A verdict can always be given: what cannot be decided is blocked. */
struct ifm_verdict *ifm_judge(const struct ifm_plan *plan, const struct ifm_derived *derived, struct ifm_arena *arena);
/* Gates that no number of this plan can ever answer are mistakes, found before anything has run (check_gates.c);
 * `places` says where each gate was written. */
IFM_CHECKED enum ifm_status ifm_check_gates(const struct ifm_plan *plan, const char *const *places,
                                            struct ifm_arena *arena, struct ifm_error *error);
json_t *ifm_verdict_to_json(const struct ifm_verdict *verdict, const struct ifm_derived *derived); /* verdict.json */
/* "latency and energy per token" of an arm, where two or more regress against its baseline; "" where fewer do. */
const char *ifm_judge_regressions(const struct ifm_derived *derived, const char *cell, const char *arm,
                                  struct ifm_arena *arena);
/* How many more blocks would probably decide a comparison that is undecided, if its noise stays and as many of them are
 * disturbed as were: those that blocks_needed has more than the run; 0 = no sensible number.
 * Where a gate on it is open, those that it needs: a comparison has one such number (undecided.c). */
uint64_t ifm_judge_further(const struct ifm_derived *derived, const struct ifm_verdict *verdict, const char *cell,
                           const char *arm);
/* A comparison without a word. `events` may be NULL: no time is known then. */
struct ifm_undecided {
    const struct ifm_derived *derived;
    const struct ifm_verdict *verdict;
    const struct ifm_events *events;
    const struct ifm_cell *cell;
    const char *arm;
};
enum { IFM_MORE_MOST_S = 3600 }; /* nobody waits longer: said as "an hour more may not decide" */
/* What more of the same run would take, with as many disturbed blocks among them as there were so far. */
struct ifm_more {
    uint64_t blocks;  /* 0 = no sensible number */
    double seconds;   /* 0 = not known */
    bool hopeless;    /* beyond IFM_MORE_MOST_S */
    bool disturbed;   /* at least every second block was set aside */
    bool busy;        /* other work was seen before or after the run */
    bool few;         /* too few undisturbed blocks to foretell anything beside other work */
    const char *flag; /* what to type: "--cap 75s"; "" = no setting alone brings them */
};
struct ifm_more ifm_judge_more(const struct ifm_undecided *of, struct ifm_arena *arena);
/* What to type for an even chance of a word where nothing within the hour is probable: "--cap 180s"; "" = nothing. */
const char *ifm_judge_even(const struct ifm_undecided *of, struct ifm_arena *arena);
/* How long so many take, in a run like this one, and what to type; `disturbed`, `busy` and `few` are not asked. */
struct ifm_more ifm_judge_more_for(const struct ifm_undecided *of, uint64_t blocks, struct ifm_arena *arena);
/* Do the gates ask about processor time, and nothing else? */
bool ifm_judge_asks_processor_alone(const struct ifm_verdict *verdict);
/* "40 s", "28 min"; "" = not known. */
const char *ifm_more_time(const struct ifm_more *more, struct ifm_arena *arena);
/* "about 172 more blocks (40 s)"; "" where there is no number, or no use. */
const char *ifm_more_words(const struct ifm_more *more, struct ifm_arena *arena);
/* ", in 340 s: --cap 350s" behind the blocks that an open gate's reason foretells; "" where it foretells none. */
const char *ifm_judge_takes(const struct ifm_undecided *of, const struct ifm_gate_result *gate,
                            struct ifm_arena *arena);
#define IFM_IF_NOISE_STAYS ", if noise stays as it is"
/* What they do: "would probably decide the gate, if ...", "would probably tell slower from equal within 0.3 %, if ...".
 */
const char *ifm_more_tells(const struct ifm_undecided *of, struct ifm_arena *arena);
/* Of a gate on the time that is inconclusive: on which side of its limit processor time alone lies; "" = on both, or it
 * does not stand for the time. */
const char *ifm_judge_cpu_side(const struct ifm_undecided *of, struct ifm_arena *arena);
/* What to do first where other work is the cause. */
const char *ifm_judge_quiet(const struct ifm_undecided *of, struct ifm_arena *arena);
/* The same, and of an open gate also how many more blocks would probably decide it. */
const char *ifm_judge_quiet_first(const struct ifm_undecided *of, struct ifm_arena *arena);
/* "53 blocks"; "53 of 85 blocks (32 disturbed)" where the comparison set some aside. */
const char *ifm_judge_blocks(const struct ifm_derived *derived, const char *cell, const char *arm,
                             struct ifm_arena *arena);
/* The same beside an interval, which may hold what all blocks say (derive/compare/compare.c). */
const char *ifm_judge_blocks_of_interval(const struct ifm_derived *derived, const char *cell, const char *arm,
                                         struct ifm_arena *arena);
/* Could slow runs that none of the cell's few programs' runs is change the word of a comparison? */
bool ifm_judge_unseen_matters(const struct ifm_derived *derived, const struct ifm_cell *cell);
/* Does a gate on the comparison have its answer, so that nobody asked about the usual margin? */
bool ifm_judge_is_answered(const struct ifm_verdict *verdict, const struct ifm_cell *cell, const char *arm);
/* "74 runs are too few to see ...: such ones are not in this answer", of a gate with few_runs; else "". */
const char *ifm_judge_unseen_words(const struct ifm_gate_result *result, struct ifm_arena *arena);
/* Is the margin of the cell the one that nobody chose? */
bool ifm_judge_margin_is_usual(const struct ifm_cell *cell);
/* Is each comparison of the run held against a limit, so that the margin, which nobody asked about, decides nothing? */
bool ifm_judge_limits_alone(const struct ifm_verdict *verdict, const struct ifm_plan *plan);
#define IFM_WITHIN_LIMIT "within the limit" /* of a gate that passes: undecided by a margin that nobody asked about */
/* The word of a comparison, `change`, as people read it; "" where it has no number. */
const char *ifm_judge_word(const struct ifm_verdict *verdict, const struct ifm_cell *cell, const char *arm,
                           const struct ifm_value *change);
/* Beyond it too little was seen to say "no difference", inside a run or between two. */
enum { IFM_NO_DIFFERENCE_MOST_PERCENT = 10 };
/* Of an undecided comparison whose interval lies around zero its far end, rounded up to two digits, in percent; 0 where
 * the estimate is near an end of it, the medians show another thing, or as many blocks again would decide. */
double ifm_judge_no_difference(const struct ifm_undecided *of);
/* What tells more where an estimate lies within its noise of a gate's limit: "--repeats 4000, which about halves ...".
 */
const char *ifm_judge_at_limit(const struct ifm_undecided *of, struct ifm_arena *arena);
/* "--margin 1.5%", by which a next run of as many blocks is probably equal, where to decide would take minutes more; ""
 * elsewhere. */
const char *ifm_judge_margin_for_next(const struct ifm_undecided *of, struct ifm_arena *arena);
/* What a rule found that took the word of the comparison; NULL = none did. */
const struct ifm_finding *ifm_judge_took(const struct ifm_undecided *of);
/* Why there is no word on a comparison, "undecided after 24 blocks: ..."; "" where it has one, or no number. */
const char *ifm_judge_undecided(const struct ifm_undecided *of, struct ifm_arena *arena);
/* A change in percent as the gate's sentence has it, number and ends: "9.37 %" and "[8.25, 11.8]". */
void ifm_judge_seen(const struct ifm_gate *gate, const struct ifm_value *v, struct ifm_arena *arena,
                    const char **number, const char **range);
/* Does the gate judge an interval of `v`? The best that was seen of a limit has none: its value decides. */
bool ifm_judge_by_interval(const struct ifm_gate *gate, const struct ifm_value *v);
/* The gate's name; of one that has only its metric's, as people read that. */
const char *ifm_judge_gate_name(const struct ifm_gate *gate);
/* The rung of the ladder on which a finding stands, "environment"; "" = on none. */
const char *ifm_judge_rung(const struct ifm_finding *finding);
bool ifm_judge_has_classes(const char *table);
const char *ifm_outcome_name(enum ifm_outcome outcome);  /* as in verdict.json: "not_gated" */
const char *ifm_outcome_words(enum ifm_outcome outcome); /* for people: "not gated" */

#endif
