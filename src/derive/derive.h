/* Derive: record -> metrics. A pure function of plan.json, run.log and samples/.
 *
 * Every published number is made here, once. This module measures nothing, reads no
 * clock, calls no workload; it sums in one fixed order and is compiled with
 * -ffp-contract=off, so that every build recomputes the same numbers. */
#ifndef IFM_DERIVE_DERIVE_H
#define IFM_DERIVE_DERIVE_H

#include "model/event.h"
#include "model/metric.h"
#include "model/plan.h"
#include "model/value.h"

/* One number: cell and arm are "" for numbers of the whole run or the whole cell. */
struct ifm_number {
    const char *cell;
    const char *arm;
    enum ifm_metric_id metric;
    struct ifm_value value;
};

/* A sentence about the validity of a cell or arm: drift, loaded machine, short record, set-aside blocks. */
enum ifm_severity { IFM_SEVERITY_NOTE = 0, IFM_SEVERITY_WARNING, IFM_SEVERITY_INVALID };

/* What was found, where words of trust, disputes or remedies follow from it: nobody reads them out of the text. */
enum ifm_finding_kind {
    IFM_FINDING_OTHER = 0,
    IFM_FINDING_WEAK_BASELINE,
    IFM_FINDING_CACHES,        /* serve an arm, and memory its baseline */
    IFM_FINDING_ORDER,         /* the time depends on which arm ran before */
    IFM_FINDING_ORDER_HIDDEN,  /* whether it does cannot be told from the load */
    IFM_FINDING_ALTERNATES,    /* the time does, from slot to slot, of both arms */
    IFM_FINDING_TYPICAL,       /* what is typical and what is paid disagree */
    IFM_FINDING_CLOCKS,        /* of an arm and its baseline differ */
    IFM_FINDING_DISTURBS,      /* an arm does, and not the machine */
    IFM_FINDING_LOAD,          /* other programs, before or after the run */
    IFM_FINDING_SHARED_GPU,    /* with other processes */
    IFM_FINDING_FEW_BLOCKS,    /* for an interval */
    IFM_FINDING_WARM_UP,       /* was too short for an arm */
    IFM_FINDING_UNSTEADY,      /* no steady state */
    IFM_FINDING_TIME_CHANGES,  /* of a step or run, at a block */
    IFM_FINDING_TIME_DRIFTS,   /* over the pass, which its interval holds */
    IFM_FINDING_RATIO_DRIFTS,  /* the difference to the baseline does */
    IFM_FINDING_FEW_WINDOWS,   /* of energy */
    IFM_FINDING_SHORT_WINDOWS, /* of energy, for what the sensor updates */
    IFM_FINDING_OUTPUT,        /* of an arm changed, or is not the one that it must be */
    IFM_FINDING_NOTHING_RAN,   /* of an arm's feature */
    IFM_FINDING_FAILED_RUNS,   /* of a program */
    IFM_FINDING_MODES,         /* of a time, far apart and taking turns */
    IFM_FINDING_LOPSIDED,      /* disturbed blocks are one arm's: the interval holds all */
};
const char *ifm_finding_name(enum ifm_finding_kind kind); /* "weak_baseline"; "other" */

/* Of a baseline far below its ceiling (rule 3). */
struct ifm_weakness {
    const char *share; /* "47.2 % of its read ceiling"; NULL = of another finding */
    const char *brief; /* "f16 reaches only 47.2 % ...", without what stands beside the answers */
    const char
        *left; /* of each speed-up if it reached it, "int4 1.27x [1.25, 1.30]; worst case: ..."; NULL = unknown */
};

struct ifm_finding {
    enum ifm_severity severity;
    const char *rule; /* id of the rule of honesty or "", such as "rule-07" */
    const char *cell, *arm;
    const char *text;  /* "what is. Remedy: what to do", or without the latter */
    bool in_intervals; /* takes the word, and the published intervals of the arm's times hold all that it says */
    bool takes_word;   /* a comparison is undecided for it; the text says so */
    enum ifm_finding_kind kind;
    struct ifm_weakness weak;
    double drift; /* of a time that drifts: of its logarithm */
    bool of_one;  /* of a time that changes or drifts: the ratios to all other arms of the cell surely do so too */
};
#define IFM_REMEDY ". Remedy: "
/* Of a time that moves, where the ratio to another one does not surely do so. */
#define IFM_ONE_ARM_WORDS ", in one arm at least"

/* How a refusal begins that is the baseline's, of an arm compared with it; its name and ": " follow. */
#define IFM_OF_BASELINE_WORDS "of the baseline "
/* How the finding begins of an arm whose interval is wide by what another left behind (rule 7). */
#define IFM_CARRIED_WORDS "the time depends on which arm ran before"
/* Of the machine, where that looks like it. */
#define IFM_ALTERNATES_WORDS "the time alternates from slot to slot"
#define IFM_PLACES_WORDS "the time depends on the CPU"
#define IFM_HELD_WORDS "the interval of this time is widened to hold"
#define IFM_ALTERNATES_END ", whichever arm runs"
/* ... and where it cannot be told from the load, or from that. */
#define IFM_ORDER_HIDDEN_WORDS "whether the order of slots matters"
struct ifm_gate;
/* "; CPU time alone, ..., is decided: +8.1 % [5.6, 10.7], more" of a program whose processor time is decided where its
 * time is not: `cpu` is its change, by the limit of a gate on its time; NULL: by its own word. "" = it is not. */
const char *ifm_derived_cpu_decides(const struct ifm_cell *cell, const char *arm, const struct ifm_value *cpu,
                                    const struct ifm_gate *limit, struct ifm_arena *arena);
/* How the one ends of an arm whose interval is wide by a clock that differs (rule 8). */
#define IFM_CLOCKS_WORDS "its interval holds the change at one clock too; of its energy nothing is decided"

const char *ifm_severity_label(enum ifm_severity severity); /* "note", "warning", "invalid" */

/* A column of the instruments beside a comparison: what else differed between an arm and its baseline. */
enum ifm_companion_kind {
    IFM_COMPANION_AMOUNT = 0, /* adds up over a slot: own and base are per step */
    IFM_COMPANION_LEVEL,      /* a reading: own and base are means of it */
};
struct ifm_companion {
    const char *cell, *arm;
    const char *column, *unit;
    enum ifm_companion_kind kind;
    int64_t n;        /* blocks in which both arms' slots were all read */
    double own, base; /* means over those blocks */
    double step_ns;   /* of the baseline, over the same blocks */
};

/* What one device took in the windows of one arm: one row for each sensor that can be integrated. */
struct ifm_device_energy {
    const char *cell, *arm;
    const char *device, *source, *role; /* "gpu0"; "nvml_energy"; "primary", "witness", "part", "estimate" */
    int64_t windows;
    double seconds, joules;     /* gross, of all windows; NaN without one */
    double random_j;            /* half-width of its 95 % interval */
    double systematic;          /* relative, of the sensor's gain; NaN = not known */
    double idle_w, idle_half_w; /* NaN = not measured */
    double above_idle_j;        /* joules - idle_w x seconds; NaN */
    const char *refused;        /* "" or why no number of the arm is made of it */
};

/* One window of one device. */
struct ifm_window_energy {
    const char *cell, *arm, *device, *source;
    int64_t window, start_ns, end_ns; /* number of the slot from 1; the time that the joules are of */
    double seconds, steps;
    double joules, random_j; /* gross; half-width of its 95 % interval; NaN where it is not used */
    const char *refused;     /* "" or why it is not used */
};

/* Numbers by cell, arm and metric; holds as long as a list has the same place and length. */
struct ifm_number_order {
    const struct ifm_number *of, **sorted;
    size_t n;
};

/* Findings by cell, those of one cell in the order of the list; holds as long. */
struct ifm_finding_order {
    const struct ifm_finding *of, **sorted;
    size_t n;
};

struct ifm_derived {
    const char *run_id, *config_hash;
    struct ifm_number *numbers;
    size_t n_numbers;
    struct ifm_number_order order; /* of the numbers; made by ifm_derive */
    struct ifm_finding *findings;
    size_t n_findings;
    struct ifm_companion *companions; /* in the order of cells, arms and columns */
    size_t n_companions;
    struct ifm_device_energy *energies; /* in the order of cells, arms and sensors */
    size_t n_energies;
    struct ifm_window_energy *windows; /* in the order of cells, arms, devices and time */
    size_t n_windows;
    const char *const
        *unfinished; /* by cell of the plan: what completes one that was cut short; NULL = it is complete */
    /* By cell of the plan: the failure that ended it before its time; NULL = none did. */
    const struct ifm_event_cell_failed *const *failed;
    /* By cell of the plan: the most that was seen of its read ceiling over the 10th percentile, where that moved; 1 =
     * it held still, or nothing is known. NULL = of all. */
    double *read_lowered;
    struct ifm_finding_order finding_order; /* of the findings; made by ifm_derive */
    bool busy;                              /* other work showed before or after the run: a finding says how much */
    const struct ifm_event_retry **retries; /* of the journal: which arms regressed in the run that this one repeats */
    size_t n_retries;
};

/* What the sensors of power said in the energy pass of a cell. */
struct ifm_readings;
struct ifm_sensor_readings {
    const char *device, *source;
    const struct ifm_readings *readings; /* NULL: the file is missing */
};
struct ifm_cell_readings {
    const struct ifm_sensor_readings *sensors;
    size_t n;
};

/* What planning again found (story/replan.c): derive sees nothing that plans, so its caller hands this in. */
struct ifm_plan_fault {
    size_t cell; /* of the plan; beyond its cells = the whole run */
    const char *text;
};
struct ifm_plan_review {
    const struct ifm_plan_fault *faults; /* at most one of a cell */
    size_t n;
    const char *not_rebuilt; /* what of the plan could not be made again here, and why; NULL = nothing */
    const bool *rests;       /* by cell of the plan: its numbers rest on that as plan.json has it; NULL = none does */
};

/* The record of a run in memory, loaded by ifm_facts_open or built by a test. */
struct ifm_record;
struct ifm_facts_view {
    const struct ifm_plan *plan;
    size_t n_asked_later;                    /* of the plan's gates the last: the run did not have them */
    const struct ifm_events *events;         /* run.log */
    const struct ifm_record *const *records; /* [cell * max_passes + pass]; NULL when the file is missing */
    size_t max_passes;
    const struct ifm_cell_readings *readings; /* [cell], of the energy passes; NULL = none */
    /* Names of arms to compare in place of the plan's roles: the first is the baseline, the others its variants, every
     * other arm is not compared. NULL = as planned. A cell that lacks the first compares nothing. */
    const char *const *compared;
    size_t n_compared;
    const struct ifm_plan_review *review; /* NULL = nobody planned again */
};

/* Everything derived lives in `arena`, but for names, which are the plan's own strings. A journal whose events have not
 * the promised members is IFM_INVALID; a record that breaks a rule gives refused numbers and findings. */
IFM_CHECKED enum ifm_status ifm_derive(const struct ifm_facts_view *facts, struct ifm_arena *arena,
                                       struct ifm_derived **out, struct ifm_error *error);

/* Look a number up, the first of its kind; NULL when there is none. In order, thousands of cells can ask for all of
 * theirs; without one, as in a list made by hand, each look-up walks the list. */
const struct ifm_number *ifm_derived_find(const struct ifm_derived *derived, const char *cell, const char *arm,
                                          enum ifm_metric_id metric);
/* The same number's value, in any state. */
const struct ifm_value *ifm_derived_value(const struct ifm_derived *derived, const char *cell, const char *arm,
                                          enum ifm_metric_id metric);
/* The next finding about a cell behind `after` (NULL = the first), in the order of the list; "" = of the whole run. */
const struct ifm_finding *ifm_derived_finding(const struct ifm_derived *derived, const char *cell,
                                              const struct ifm_finding *after);
/* Why a comparison of an arm with its baseline decides nothing: the rule of honesty that took its word away, one
 * that no interval holds before others; NULL = none did, or `metric` compares nothing. */
const struct ifm_finding *ifm_derived_dispute(const struct ifm_derived *derived, const char *cell, const char *arm,
                                              enum ifm_metric_id metric);
/* Does the interval of the number hold all that the dispute says? Then a limit that lies outside it is decided. */
bool ifm_derived_is_held(const struct ifm_finding *dispute, enum ifm_metric_id metric, const struct ifm_value *value);
/* Why its interval is wide by something that more blocks do not change: what one arm left behind for another (rule 7),
 * clocks that differ (rule 8); NULL = it is not. */
const struct ifm_finding *ifm_derived_widened(const struct ifm_derived *derived, const char *cell, const char *arm,
                                              enum ifm_metric_id metric);
/* Runs of a program that answers rest on; `undisturbed`: some lie in other blocks. */
struct ifm_few_runs {
    int64_t n;
    bool undisturbed;
};
/* Does the text begin with either of IFM_ALTERNATES_WORDS and IFM_PLACES_WORDS, and does it hold it? */
bool ifm_is_alternating(const char *text);
bool ifm_tells_alternating(const char *text);
/* The fewest runs of a program of the cell, of those in blocks that its comparisons rest on, or of `all` blocks;
 * IFM_TAIL_RUNS or more where that says nothing, also of other cells. */
struct ifm_few_runs ifm_derived_fewest_runs(const struct ifm_derived *derived, const struct ifm_cell *cell, bool all);
/* "74 runs are too few to see slow ones rarer than 1 in 25"; "24 undisturbed runs ...". */
const char *ifm_unseen_runs(struct ifm_few_runs runs, struct ifm_arena *arena);
/* Blocks that the tables count; the comparison has those of them that stand. */
int64_t ifm_derived_all_blocks(const struct ifm_derived *derived, const char *cell, const char *arm);
/* Blocks that are measured for each one that is undisturbed, as were those of the run. */
double ifm_derived_blocks_each(const struct ifm_derived *derived, const char *cell, const char *arm);
/* Are enough blocks undisturbed to foretell how many more decide? */
bool ifm_derived_foretells(const struct ifm_derived *derived, const char *cell, const char *arm);
#define IFM_TOO_FEW_TO_FORETELL "too few undisturbed blocks to foretell how many more decide"
/* Is at least a tenth of a program's time neither its processor time nor waiting for a CPU: sleep, I/O, a GPU? Then its
 * processor time does not stand for its time. Where it is not known how long it waited for a CPU, all of it may be. */
bool ifm_derived_waits(const struct ifm_derived *derived, const char *cell, const char *arm);
/* Between two runs: the load in one that lowers a share of a ceiling, "in this run the machine was under load, which
 * ..."; "" = none, or another number. */
const char *ifm_derived_load_on(const struct ifm_derived *reference, const struct ifm_derived *other, const char *cell,
                                const char *arm, enum ifm_metric_id metric, struct ifm_arena *arena);
#define IFM_LOAD_LOWERS ", which lowers a share of a ceiling"
/* Put numbers and findings in order, for ifm_derived_find and ifm_derived_finding. */
void ifm_derived_sort(struct ifm_derived *derived, struct ifm_arena *arena);

/* The time of a step in every measured sample of an arm, in time order, ns: what latency_ns_mean and its like are made
 * of. `cell` and `arm` are indices of the plan, `out` holds `most`; returns how many there are, 0 when that is more. */
size_t ifm_derive_times(const struct ifm_facts_view *facts, size_t cell, size_t arm, size_t most, double *out);

/* Which roof limits an arm, by its intensity against the interval of the measured ridge point, both in state OK:
 * "compute-bound", "memory-bound"; "" inside of the interval, where either may. */
const char *ifm_derive_regime(const struct ifm_value *ridge, const struct ifm_value *intensity);

/* What held the clock of a GPU down while the run went on: by how much an accumulator of the events gpu_state grew. */
struct ifm_gpu_held {
    int64_t gpu;      /* NVML's index */
    const char *name; /* "power_cap_ns", as in the event */
    int64_t ns;       /* between the first and the last reading of the run */
};

/* Every accumulator that both readings have; one that ran backwards (the driver was loaded again) is left out. In the
 * order of the events. The names are the events' own strings. */
size_t ifm_derive_gpu_held(const struct ifm_events *events, struct ifm_arena *arena, struct ifm_gpu_held **out);

/* Rule 4, fields agree: time x rate = amount for every pair, the speed-up is the inverse of the change, sums and
 * intensities fit. IFM_INVALID names the first two numbers that do not. A test of any derived value, read or made. */
IFM_CHECKED enum ifm_status ifm_derived_agree(const struct ifm_plan *plan, const struct ifm_derived *derived,
                                              struct ifm_error *error);

/* derived.json */
json_t *ifm_derived_to_json(const struct ifm_derived *derived);

/* The facts of a run folder in memory: what its plan.json, run.log and samples/ say. Close it also after a failure. */
struct ifm_facts {
    struct ifm_facts_view view;
    struct ifm_plan *plan; /* of the arena that was given */
    const struct ifm_events *events;
    struct ifm_record *records;
    size_t n_records;
    struct ifm_readings *readings; /* every file of them, of all cells */
    size_t n_readings;
};
/* `gates` stand behind those of the plan, so that numbers which are given only when a gate asks are among the derived
 * ones. No rule holds the run to them, which did not have them. */
IFM_CHECKED enum ifm_status ifm_facts_open(const char *dir, const struct ifm_gate *gates, size_t n_gates,
                                           struct ifm_arena *arena, struct ifm_facts *out, struct ifm_error *error);
void ifm_facts_close(struct ifm_facts *facts);

/* What is asked of a folder beside its own plan: other arms compared (struct ifm_facts_view), more gates. */
struct ifm_wish {
    const char *const *compared;
    size_t n_compared;
    const struct ifm_gate *gates;
    size_t n_gates;
    const struct ifm_plan_review *review; /* as in struct ifm_facts_view */
};
/* Load the facts of `dir`, and derive. The plan that is returned, for printers, has all gates. */
IFM_CHECKED enum ifm_status ifm_derive_folder(const char *dir, const struct ifm_wish *wish, struct ifm_arena *arena,
                                              struct ifm_plan **plan, struct ifm_derived **derived,
                                              struct ifm_error *error);

/* Of a run that goes on: what its stop rule asks before a look ends it (compare/settled.h). */
struct ifm_stop_blocks;
IFM_CHECKED enum ifm_status ifm_derive_folder_settled(const char *dir, const struct ifm_stop_blocks *rule,
                                                      uint32_t last, bool *settled, struct ifm_error *error);

/* How many times fewer bytes a token of the whole model reads, with its weights and the caches of all its layers; 0 =
 * nothing says what the model is, or a step is more than one layer of it. */
double ifm_model_fewer_bytes(const struct ifm_arm *baseline, const struct ifm_arm *arm);

#endif
