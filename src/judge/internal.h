/* Private to src/judge. */
#ifndef IFM_JUDGE_INTERNAL_H
#define IFM_JUDGE_INTERNAL_H

#include "judge/review/checklist.h"

#include "base/text.h"

/* forms.c: the arms that a gate is about by what they store: each number in so many bits. ANY: the gate names no form.
 * COMPRESSED: those of fewer bits, or every arm of a cell that has none of them. */
enum ifm_form { IFM_FORM_ANY = 0, IFM_FORM_PLAIN, IFM_FORM_8_BIT, IFM_FORM_4_BIT, IFM_FORM_2_BIT, IFM_FORM_COMPRESSED };
enum ifm_form ifm_judge_form_of_gate(const struct ifm_gate *gate);
bool ifm_judge_has_form(const struct ifm_cell *cell, const struct ifm_arm *arm, enum ifm_form form);

/* decide.c: outcome and reason of the gate of `result` on `value`, which is OK and has an interval if the gate asks. */
void ifm_judge_decide(struct ifm_gate_result *result, const struct ifm_value *value, const struct ifm_derived *derived,
                      struct ifm_arena *arena);
/* Does the interval that decides lie on both sides of the threshold? */
bool ifm_judge_is_open(const struct ifm_gate *gate, const struct ifm_value *value);
/* "change_percent is 11.2 % [2.35, 31.2], on both sides of 5": where the value lies, whatever may be decided. */
const char *ifm_judge_held(const struct ifm_gate *gate, const struct ifm_value *value, struct ifm_arena *arena);
/* Where gates on processor time alone pass, what they do not see: "; its time is within the limit too"; else "". */
const char *ifm_judge_beside_processor(const struct ifm_verdict *verdict, const struct ifm_derived *derived,
                                       struct ifm_arena *arena);

/* output.c: the finding that puts the output of the arm in doubt, or for a comparison that of its baseline; NULL = none
 * does. What is measured of such an arm is measured of nobody knows what. */
const struct ifm_finding *ifm_judge_doubtful_output(const struct ifm_derived *derived, const struct ifm_cell *cell,
                                                    const char *arm, enum ifm_metric_id metric);
/* Why a gate on it decides nothing. */
const char *ifm_judge_output_words(const struct ifm_finding *finding, const char *arm, struct ifm_arena *arena);
#define IFM_JUDGE_OUTPUT_REMEDY "find what the output depends on before the speed"

/* The gate's metric as people read it. */
struct ifm_metric_told ifm_judge_told(const struct ifm_gate *gate);

/* Of a run that fails: whether an arm is to be rolled back. */
void ifm_judge_rollback(const struct ifm_plan *plan, const struct ifm_derived *derived, struct ifm_arena *arena,
                        struct ifm_verdict *verdict);

/* meter.c: of a power meter that was asked for and gave nothing, the reason and the remedy; NULL = there is none. */
const char *ifm_judge_meter(const struct ifm_derived *derived, const struct ifm_cell *cell, struct ifm_arena *arena);

/* The root-cause ladder: what the findings say, one sentence a rung, lowest rung first. */
void ifm_judge_ladder(const struct ifm_derived *derived, struct ifm_arena *arena, struct ifm_verdict *verdict);

/* The labels of the class table that a gate names, for the cell and arm of its result. */
void ifm_judge_classes(const struct ifm_gate_result *result, const struct ifm_derived *derived, struct ifm_arena *arena,
                       size_t *capacity, struct ifm_verdict *verdict);

/* direction.c: does the gate on `metric` pass what is worse or no better, with none of the `n` gates bounding the other
 * side? Then why it is refused, and what to write instead. */
bool ifm_judge_is_inverted(const struct ifm_gate *gates, size_t n, const struct ifm_gate *gate,
                           enum ifm_metric_id metric);
const char *ifm_judge_inverted_reason(struct ifm_arena *arena, const struct ifm_gate *gate, enum ifm_metric_id metric);
const char *ifm_judge_inverted_hint(struct ifm_arena *arena, const struct ifm_gate *gate, enum ifm_metric_id metric);

/* One line for each comparison that has a number, and for each that a failed program has kept from one. */
void ifm_judge_triage(const struct ifm_plan *plan, const struct ifm_derived *derived, struct ifm_arena *arena,
                      struct ifm_verdict *verdict);
/* construction.c: what differs from the baseline by the plan, "" = nothing; why a failed program has no time, NULL =
 * none failed. */
const char *ifm_judge_construction(const struct ifm_cell *cell, const char *arm, struct ifm_arena *arena);
const char *ifm_judge_failed_program(const struct ifm_cell *cell, const struct ifm_number *change,
                                     const struct ifm_derived *derived, struct ifm_arena *arena);

/* ---- checklists ---- */

/* What the questions of a checklist are asked about. */
struct ifm_checking {
    const struct ifm_plan *plan;
    const struct ifm_derived *derived;
    const struct ifm_verdict *verdict;
    const struct ifm_events *events;
    struct ifm_arena *arena;
    const char *workload; /* only cells of this one; NULL = every cell */
    double limit;         /* of the question that is asked */
};

typedef struct ifm_check_item ifm_answer_fn(const struct ifm_checking *c);

/* Cells that are supported and of the list's workload; in them the arms that are no ceiling. */
bool ifm_checks_cell(const struct ifm_checking *c, const struct ifm_cell *cell);
bool ifm_checks_arm(const struct ifm_arm *arm);
/* The arms that a list asks about, one after the other; starts as {0}. */
struct ifm_check_place {
    size_t k, next; /* index of the cell; of the arm that is looked at next */
    const struct ifm_cell *cell;
    const struct ifm_arm *arm;
};
bool ifm_checks_next(const struct ifm_checking *c, struct ifm_check_place *place);

struct ifm_check_item ifm_check_found(const struct ifm_checking *c, enum ifm_check_state state, const char *remedy,
                                      const char *found, ...) IFM_PRINTF(4, 5);
#define ifm_check_met(c, ...) ifm_check_found((c), IFM_CHECK_MET, "", __VA_ARGS__)
#define ifm_check_unmet(c, remedy, ...) ifm_check_found((c), IFM_CHECK_NOT_MET, (remedy), __VA_ARGS__)
#define ifm_check_absent(c, remedy, ...) ifm_check_found((c), IFM_CHECK_ABSENT, (remedy), __VA_ARGS__)
struct ifm_check_item ifm_check_no_arms(const struct ifm_checking *c);

/* A number that needs an instrument: had for every arm, or absent: "no instrument of this run <what>". */
struct ifm_check_item ifm_check_instrument(const struct ifm_checking *c, enum ifm_metric_id metric, const char *what,
                                           const char *remedy);

/* checklist_numbers.c: questions that numbers answer. */
ifm_answer_fn ifm_answer_variation, ifm_answer_repeats, ifm_answer_warmup, ifm_answer_temperature, ifm_answer_latency,
    ifm_answer_l2, ifm_answer_compared, ifm_answer_uncompressed, ifm_answer_repeatable;

/* checklist_journal.c: questions that run.log answers. */
ifm_answer_fn ifm_answer_gpu, ifm_answer_locks, ifm_answer_versions, ifm_answer_seed, ifm_answer_load,
    ifm_answer_inputs, ifm_answer_fingerprint, ifm_answer_steady, ifm_answer_stored, ifm_answer_energy;

/* unseen.c: `few_runs` of a decided gate on programs, whose runs may miss what would change the answer. */
void ifm_judge_unseen(const struct ifm_derived *derived, struct ifm_gate_result *result, enum ifm_metric_id metric,
                      const struct ifm_cell *cell);
/* A reason of the verdict of its own: what the first gate says that has any; "" = none has. */
const char *ifm_judge_unseen_first(const struct ifm_verdict *verdict, struct ifm_arena *arena);

#endif
