/* Private to src/derive: what its files share.
 *
 * One derivation runs in this order: events and record are read into one `ifm_cell_work` a cell (events.c, blocks.c),
 * rules decide what may be printed (rules/), then numbers are made (latency.c, arm.c, cell.c, compare/compare.c), each
 * through ifm_derive_emit, which alone turns a number into an absent, refused or inactive one. */
#ifndef IFM_DERIVE_INTERNAL_H
#define IFM_DERIVE_INTERNAL_H

#include "base/arena.h"
#include "derive/derive.h"
#include "derive/energy/power.h"
#include "sample/disturbed.h"
#include "stats/paired.h"

#define IFM_LEVEL 0.95
/* A working set counts as served by memory from this many times the last-level cache on. */
#define IFM_RESIDENT_FACTOR 4.0
#define IFM_RATE_TOLERANCE 0.25      /* rule 3: how far above all probes a rate is believed where no bound is known */
#define IFM_BOUND_SLACK 0.02         /* and above a physical bound: clocks are rounded, and slots short */
#define IFM_SLOT_SUMMARY_ABOVE 10000 /* samples: above it, intervals of mean and median come from the slots */

/* Why numbers are withheld; rule == NULL: they are not. */
struct ifm_refusal {
    const char *rule, *reason;
};

/* Why nobody knows what a program waited for a CPU. */
#define IFM_UNTOLD_WORDS                                                                                               \
    "the kernel tells the waiting of a program's first thread alone, and others did its work (or it tells none)"

/* One arm's blocks: the unit of analysis of every rate and comparison. Arrays run over the blocks of the cell. */
struct ifm_derivation;
struct ifm_cell_work;
struct ifm_arm_work {
    struct ifm_derivation *d;
    struct ifm_cell_work *work; /* of its cell */
    const struct ifm_arm *arm;
    size_t index;
    bool is_variant;    /* compared with the baseline: by its role, or because the caller named it */
    double *time_ns;    /* of all samples of the arm in the block */
    double *steps;      /* that they took: samples x inner */
    double *log_median; /* mean over the arm's slots in the block of ln(median sample duration / inner); ns */
    double *mid_ns;     /* middle of those slots */
    bool *present;
    bool *disturbed;    /* a slot of the arm has a machine cause beside it that the arm may have made: no stolen time */
    bool *stolen;       /* a slot of the arm has stolen time beside it */
    double *waited_ns;  /* the most that a slot of the arm in the block waited for a CPU */
    double *stolen_ns;  /* and lost to the hypervisor */
    double *slot_ns;    /* the shortest of these slots */
    bool untold;        /* a program of which a slot does not say what it waited: it may be disturbed unseen */
    size_t n_blocks;    /* present ones */
    double fastest_ns;  /* of a step in the fastest slot */
    double shortest_ns; /* of a step in the fastest sample */
    size_t fastest_at;  /* the block of that sample */
    double quantum;     /* 1 ns / median duration of a sample: what the clock cannot resolve */
    uint32_t inner_low, inner_high;
    size_t n_samples, n_slots, n_warmup; /* n_warmup in samples */
    struct ifm_refusal refusal;          /* of times, rates and comparisons */
    struct ifm_refusal rates_refused;    /* of rates and ceilings alone (rule 3) */
    struct ifm_refusal compare_refused;  /* of comparisons alone (rules 7, 12) */
    struct ifm_refusal energy_refused;   /* of energy alone (rule 5) */
    bool inactive;                       /* rule 11 */
    const char *broken;                  /* why no step time can be given; NULL when it can */
    const char *remedy;                  /* of `broken`; "" for none */
    bool failed;                         /* the device failed under it, and the cell was measured without it */
    bool cache_resident;
    enum ifm_ceiling reads; /* the roof that its reads have: of memory, or of the level of the caches that serves it */
};

/* What the device gave at most. */
struct ifm_roof {
    const struct ifm_arm_work *by;        /* the probe that was fastest; NULL = there is no roof */
    const struct ifm_arm_work *raised_by; /* an arm that was faster than any probe; NULL = none */
    double probe_log_rate, log_rate;      /* ln of amount / ns */
    size_t slots;                         /* of probes that it is the fastest of */
};

/* What a device cannot exceed, whatever runs on it. */
struct ifm_bound {
    double rate;       /* amount / ns; 0 = not known */
    const char *words; /* how it is made; of an unknown one, why it is not known: "" = nothing is */
};

struct ifm_cell_work {
    struct ifm_derivation *d;
    const struct ifm_cell *cell;
    const struct ifm_record *record; /* of the timing pass; NULL when there is none */
    const char *missing, *remedy;    /* why there is none; "" when there is one */
    const struct ifm_events *journal;
    uint32_t *block; /* numbers of the measured blocks and of the rounds of ceilings, in order */
    bool *is_round;  /* ceilings and nothing else */
    size_t n_blocks; /* both */
    size_t n_measured;
    unsigned rows;    /* in a block: 2, or 1 where the mirror image of a row is the next block */
    bool *marked;     /* blocks with a machine cause (rule 2) */
    size_t n_marked;  /* measured ones */
    bool *by_machine; /* measured ones with a cause that can only be the machine's: not what an arm reads from a disk */
    enum ifm_block_fate *fate; /* what the run did about each measured one; all stand where it repeated none */
    uint32_t *turn;            /* which of the plan's orders each measured one has */
    size_t n_repeated;
    bool at_look; /* the record ends at a look of the stop rule that would end the run (compare/settled.c) */
    const char *marks_unknown; /* why blocks cannot be marked; NULL when they can */
    struct ifm_arm_work *arms;
    struct ifm_arm_work *baseline;       /* NULL when the cell has none */
    struct ifm_roof roofs[IFM_CEILINGS]; /* by enum ifm_ceiling */
    struct ifm_refusal refusal;          /* of every time, rate, comparison, ceiling and cache size of the cell */
    struct ifm_refusal unplanned;        /* of every number of the cell: its plan is not what planning gives */
    struct ifm_power_cell power;         /* of the energy pass */
};

struct ifm_derivation {
    const struct ifm_plan *plan;
    const struct ifm_facts_view *facts;
    struct ifm_arena *arena;
    struct ifm_derived *out;
    enum ifm_metric_id *gated; /* the metric of each gate of the plan; IFM_M_NONE: there is no such metric */
    size_t numbers_capacity, findings_capacity, companions_capacity, energies_capacity, windows_capacity;
    struct ifm_cell_work *cells;
    double llc_bytes;             /* measured by a cache sweep of this run, or what a GPU says; 0 = not known */
    bool llc_of_gpu;              /* the second-level cache of a GPU */
    struct ifm_refusal refusal;   /* of the whole run (rule 4) */
    struct ifm_refusal unplanned; /* the same for every cell (rule 15) */
};

/* ---- metrics.c: values and their way out ---- */
struct ifm_value ifm_value_real(double number, int64_t n, const char *n_of);
struct ifm_value ifm_value_count(int64_t number, const char *n_of); /* of as many */
struct ifm_value ifm_value_count_of(int64_t number, int64_t n, const char *n_of);
struct ifm_value ifm_value_absent(const char *reason, const char *remedy, int64_t n, const char *n_of);
/* Of a FLOP rate, or its share of a ceiling, of an arm that multiplies integers; `measured`: that ceiling is. */
struct ifm_value ifm_value_integer_products(const struct ifm_cell_work *work, bool measured);
struct ifm_value ifm_value_refused(struct ifm_arena *arena, const char *rule, const char *reason);
void ifm_value_bracket(struct ifm_value *value, double low, double high, double level);
/* There is no record: why, and what to do. */
struct ifm_value ifm_value_missing(const struct ifm_cell_work *work, const char *n_of);
/* The same; where there is a record, nothing in it reads the number, for `reason`. */
struct ifm_value ifm_value_unread(const struct ifm_cell_work *work, const char *reason, const char *remedy,
                                  const char *n_of);
/* A statistic of `n` values, and one that could not be computed. */
struct ifm_value ifm_value_of_stat(enum ifm_stat stat, double number, int64_t n, const char *n_of);
struct ifm_value ifm_value_no_stat(enum ifm_stat stat, int64_t n, const char *n_of);
/* The first refusal of a thing stands; with a finding, about the whole cell, or about one of the refusals of an arm. */
void ifm_refuse(struct ifm_refusal *refusal, const char *rule, const char *reason);
void ifm_refuse_cell(struct ifm_cell_work *work, const char *rule, const char *reason);
struct ifm_finding *ifm_refuse_arm(struct ifm_arm_work *arm, struct ifm_refusal *refusal, enum ifm_severity severity,
                                   const char *rule, const char *reason);
/* A number of an arm, or of a cell. Withholds what a rule refuses. */
void ifm_derive_emit(const struct ifm_arm_work *arm, enum ifm_metric_id metric, struct ifm_value value);
void ifm_derive_emit_cell(const struct ifm_cell_work *work, enum ifm_metric_id metric, struct ifm_value value);
/* A finding about the run, a cell or an arm, to be given what follows from it; holds until the next. */
struct ifm_finding *ifm_derive_say(struct ifm_derivation *d, enum ifm_severity severity, const char *rule,
                                   const char *format, ...) IFM_PRINTF(4, 5);
struct ifm_finding *ifm_derive_say_cell(const struct ifm_cell_work *work, enum ifm_severity severity, const char *rule,
                                        const char *format, ...) IFM_PRINTF(4, 5);
struct ifm_finding *ifm_derive_say_arm(const struct ifm_arm_work *arm, enum ifm_severity severity, const char *rule,
                                       const char *format, ...) IFM_PRINTF(4, 5);

/* ---- derive.c ---- */
/* The events and blocks of every cell, before any rule: d->cells is [plan->n_cells + 1]. */
IFM_CHECKED enum ifm_status ifm_derive_read(struct ifm_derivation *d, struct ifm_error *error);

/* ---- chain.c ---- */
/* The blocks of every record are those that the journal tells of; IFM_INVALID names the first that is not. */
IFM_CHECKED enum ifm_status ifm_derive_hold_to_chain(const struct ifm_facts_view *facts, struct ifm_error *error);

/* ---- events.c ---- */
/* Events name cells and arms of the plan; explains a record that is missing. */
IFM_CHECKED enum ifm_status ifm_derive_events(struct ifm_derivation *d, struct ifm_error *error);
/* The facts of the last event of a stage about the cell, or about one of its arms; NULL when there is none. */
#define IFM_TOLD(work, stage, arm) IFM_LAST((work)->journal, stage, (work)->cell->name, (arm))
/* Each event of a stage about the cell, or about one of its arms. */
#define IFM_EACH_TOLD(event, work, stage, arm) IFM_EACH(event, (work)->journal, stage, (work)->cell->name, (arm))
/* "more blocks: a larger --repeats", or "...: a longer --cap", by what ended the cell. */
const char *ifm_derive_more(const struct ifm_cell_work *work, const char *of);
/* What is to be done about a run that did not finish: no command can go on with a session. */
const char *ifm_derive_remedy(const struct ifm_plan *plan);
/* The failure that ended the cell before its time; NULL = none did. */
const struct ifm_event_cell_failed *ifm_derive_failure(const struct ifm_cell_work *work);
/* What compression did to an output; a member that was not recorded is NaN. */
struct ifm_loss_fact {
    bool seen; /* a check spoke of it */
    double rms_rel, p99_rel, cosine, kl, tv;
    bool dropped;   /* tokens were: the divergence is infinite, and kl is NaN */
    int64_t values; /* outputs compared */
};

/* ---- blocks.c ---- */
/* The measured slot of the arm at `*k` or behind it, `*k` then being its number; NULL = there is none. */
const struct ifm_slot *ifm_next_slot(const struct ifm_arm_work *arm, size_t *k);
/* Something runs between its samples: caches are evicted, or there are hooks. A counter that runs on counts it too. */
bool ifm_derive_has_gaps(const struct ifm_arm_work *arm);
/* Of such an arm: the number of a counter that ran on in them. */
struct ifm_value ifm_derive_of_gaps(const struct ifm_arm_work *arm, int64_t n, const char *n_of);
/* Untimed steps before the samples of a slot, which instruments count too. */
double ifm_derive_lead(const struct ifm_arm_work *arm);
/* A column of an instrument over the measured slots of an arm. */
struct ifm_column_total {
    int64_t slots, read; /* slots of the arm where the record has the column; those with a value */
    int64_t total, largest;
    bool overflows; /* the total does */
};
struct ifm_column_total ifm_derive_column_total(const struct ifm_arm_work *arm, const char *name);
/* The total as a number; one unread slot makes it absent. `reason`: why where no slot was read; NULL = only that. */
struct ifm_value ifm_derive_total_value(const struct ifm_arm_work *arm, const char *name, const char *reason,
                                        const char *remedy);
void ifm_derive_blocks(struct ifm_cell_work *work);
/* The column `name` of the record, or -1. */
int ifm_derive_column(const struct ifm_record *record, const char *name);
/* Why slots [from, to) of the record mark their block: the worst of their causes; "" when none does. */
const char *ifm_derive_mark_cause(const struct ifm_record *record, size_t from, size_t to, struct ifm_arena *arena);
bool ifm_derive_is_cache_probe(const struct ifm_arm *arm);
/* A probe measures a limit of the device; every other arm is a subject. */
bool ifm_derive_is_probe(const struct ifm_arm *arm);

/* ---- estimate.c: logarithms over blocks ---- */
/* ifm_stats_log_mean with room of its own. */
bool ifm_log_mean_of(const double *logs, size_t n, double quantum, struct ifm_log_mean *out);
/* The same of one arm's own. Nothing cancels what its blocks share with their
 * neighbours, and in few blocks it does not show; so n_effective is guarded (ifm_stats_effective_guarded) from ten
 * blocks on, and df is the geometric mean of what n_effective and n would give, found by simulation. */
bool ifm_log_level_of(const double *logs, size_t n, double quantum, struct ifm_log_mean *out);
/* ln(time / steps) of the arm's blocks in order, but for those that `without` names (NULL: none); returns how many. */
size_t ifm_arm_logs(const struct ifm_arm_work *arm, const bool *without, double *logs, double *mid_ns);
/* ln(a) - ln(b) of the blocks that both have. */
size_t ifm_pair_logs(const struct ifm_arm_work *a, const struct ifm_arm_work *b, const bool *without, double *logs,
                     double *mid_ns);
/* The difference of the medians of the blocks that both have. */
size_t ifm_pair_medians(const struct ifm_arm_work *a, const struct ifm_arm_work *b, const bool *without, double *logs);
/* ln(time / steps) of all blocks of an arm together; and that of `a` less that of `b` over the blocks of both. False
 * where there are none. */
bool ifm_arm_level(const struct ifm_arm_work *arm, const bool *without, struct ifm_log_mean *out);
bool ifm_pair_mean(const struct ifm_arm_work *a, const struct ifm_arm_work *b, const bool *without,
                   struct ifm_log_mean *out);
/* `scale` times the number that `mean` is the logarithm of. Its interval, where there is one, holds at IFM_LEVEL and is
 * computed at `level`. */
struct ifm_value ifm_value_of_logs(const struct ifm_log_mean *mean, double scale, double level, const char *n_of);
/* The percent that a logarithm of a ratio and its interval are. */
struct ifm_value ifm_value_of_change(double change, struct ifm_interval interval, double level, size_t n,
                                     const char *n_of);
/* Of random draws: the cell's, moved on by the arm's index. */
uint64_t ifm_derive_seed(const struct ifm_arm_work *arm);
/* "needs 6 blocks, has N" */
const char *ifm_needs_blocks(struct ifm_arena *arena, size_t has);

/* ---- compare/drift.c ---- */
/* Widens the interval of the mean of ln(time of arm / time of base) to hold both ends of a drift of that logarithm,
 * where it is visible and beyond the margin; returns the drift over the pass, 0 = none. */
double ifm_derive_hold_drift(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, const bool *without,
                             double level, struct ifm_interval *interval);

/* ---- compare/aside.c ---- */
/* What the machine disturbed of the blocks that an arm shares with its baseline. */
struct ifm_aside {
    const bool *blocks;                 /* set aside; NULL = none is */
    size_t n, left;                     /* disturbed ones, and the others */
    const struct ifm_arm_work *follows; /* the one of the two that the disturbances follow; NULL = neither */
    bool lopsided; /* one of the two has more: few, or more than seven of eight equal pairs; of stolen time surely */
    const struct ifm_arm_work *most; /* that one: of `disturbed` blocks `alone` are its own alone */
    size_t alone, disturbed;
};
struct ifm_aside ifm_derive_set_aside(const struct ifm_arm_work *arm);
/* Are too few blocks undisturbed for a word? */
bool ifm_derive_lacks_undisturbed(const struct ifm_aside *aside);
/* ". Remedy: ..." where processes outlive the arm's program or its baseline's: then other work is not the cause. */
const char *ifm_derive_stray_remedy(const struct ifm_arm_work *arm);
/* A finding where blocks were disturbed and are not set aside: why, and what would help. */
void ifm_derive_say_disturbed(const struct ifm_arm_work *arm, const struct ifm_aside *aside);

/* ---- compare/marked.c ---- */
/* Whether a firm word still stands when the marked blocks count for nothing: `change` and `equal` are the intervals of
 * the mean of ln(time of arm / time of baseline) over all blocks but `without`, `edge` = ln(1 + margin). Marking more
 * blocks never turns false into true. False too where fewer than IFM_BLOCKS_NEEDED common blocks are unmarked. */
bool ifm_derive_marked_stand(const struct ifm_arm_work *arm, const bool *without, const struct ifm_interval *change,
                             const struct ifm_interval *equal, double edge);
/* What an allowance took the word for, in the findings from `first` on, lies in the intervals that it widened: a gate
 * is held against these. Not so where the blocks that the machine disturbed would be its evidence, or where it left the
 * interval as it was (rule 8). */
void ifm_derive_leave_to_intervals(const struct ifm_arm_work *arm, const bool *without,
                                   const struct ifm_interval *change, const struct ifm_interval *equal, size_t first);

/* ---- alike.c ---- */
/* Do all arms of the cell change as this one at a time, or, at_ns NULL, drift as it does? Then it is none's alone. */
enum ifm_shared {
    IFM_SHARED_BY_NONE = 0, /* the ratio to each other arm surely does, too; or there is no other */
    IFM_SHARED_PERHAPS,
    IFM_SHARED_BY_ALL,
};
enum ifm_shared ifm_derive_shared(const struct ifm_arm_work *arm, const double *at_ns);
/* ", in both arms"; IFM_ONE_ARM_WORDS; "" */
const char *ifm_derive_shared_words(const struct ifm_cell_work *work, enum ifm_shared shared);

/* ---- the numbers ---- */
/* step.c: the course of logarithms over the pass, as the means of fifths of its blocks; n >= IFM_FIFTHS. */
enum { IFM_FIFTHS = 5 };
void ifm_derive_fifths(const double *logs, size_t n, double means[IFM_FIFTHS]);
/* Where the line through an arm's blocks is visibly no level one, beyond the margin, the arm had no one speed: the hull
 * of the times of a step at both ends of the line and in all fifths of the pass, as a burst or a step makes a line too;
 * every interval of its level must hold them (rule 7). */
bool ifm_derive_drift_ends(const struct ifm_arm_work *arm, const bool *without, struct ifm_interval *ends);
/* The step time of all blocks but `without`, before any rule refuses it. */
struct ifm_value ifm_derive_step_value(const struct ifm_arm_work *arm, const bool *without);
/* With an interval at another level than IFM_LEVEL. */
struct ifm_value ifm_derive_step_at(const struct ifm_arm_work *arm, const bool *without, double level);
void ifm_derive_step(const struct ifm_arm_work *arm);
void ifm_derive_latency(const struct ifm_arm_work *arm);
void ifm_derive_shape(const struct ifm_arm_work *arm);
/* The line through the logarithms of the arm's blocks that drift_percent is of, its interval at IFM_LEVEL. `mid_ns` has
 * room for every block of the cell, and gets the middle of each that the arm has; `n` says how many. */
IFM_CHECKED enum ifm_stat ifm_derive_trend(const struct ifm_arm_work *arm, double *mid_ns, size_t *n,
                                           struct ifm_slope *line);
/* The change points that change_points counts: measured samples of the arm before each, ascending. */
size_t ifm_derive_change_points(const struct ifm_arm_work *arm, struct ifm_arena *arena, size_t **before);
void ifm_derive_facts_of_arm(const struct ifm_arm_work *arm);
/* What a command's own columns say of an arm; nothing where the pass has no such columns. */
void ifm_derive_command(const struct ifm_arm_work *arm);
/* compare/processor.c: change_cpu_percent; nothing where steps are no programs. */
void ifm_derive_processor_change(const struct ifm_arm_work *arm);
void ifm_derive_cell_ceilings(const struct ifm_cell_work *work);
void ifm_derive_arm_ceilings(const struct ifm_arm_work *arm);
void ifm_derive_caches(const struct ifm_cell_work *work);
void ifm_derive_comparison(const struct ifm_arm_work *arm);
/* The level at which an interval of n blocks is computed to hold at `level`: wider where the run looked as it went. */
double ifm_derive_level_over_looks(const struct ifm_cell_work *work, double level, size_t n);
/* rivals.c: of a lossy arm, speedup_over_fastest and speedup_over_own; nothing where the baseline is these. */
void ifm_derive_rivals(const struct ifm_cell_work *work);
/* The ceiling that an arm was nearest to. False: none was measured beside it, or its rates are refused, where a share
 * above the ceiling shows no weakness. */
struct ifm_nearest {
    double share, high; /* the most that it may be */
    const char *ceiling;
    bool of_operations;
};
bool ifm_derive_nearest(const struct ifm_arm_work *base, struct ifm_nearest *out);
/* Rule 3: is the speed-up `value` of an arm over `base` beyond the ratio of their bytes or operations? It tells of the
 * weakness of `base` then, and gets the share of its ceiling that this reached as text, or is refused without one. */
bool ifm_derive_hold_speedup(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, struct ifm_value *value,
                             double *ratio);
/* Says so, once a cell, when there are several. */
void ifm_derive_say_family(const struct ifm_cell_work *work);
/* blocks.c: the mean time of a step in slot `k`. */
double ifm_derive_slot_step_ns(const struct ifm_record *record, size_t k);
/* blocks.c: whether the arm is compared with the baseline of its cell, and how many are. */
bool ifm_derive_is_compared(const struct ifm_arm_work *arm);
size_t ifm_derive_count_compared(const struct ifm_cell_work *work);
/* The level of one comparison of the cell, such that all of them hold at once with 95 %. */
double ifm_derive_compare_level(const struct ifm_cell_work *work);
/* compression.c: what an arm keeps, and what its output lost by it. The worst of the arm's checks: */
struct ifm_loss_fact ifm_derive_loss(const struct ifm_cell_work *work, const char *arm);
/* Rule 10: must the arm's loss be on record? A lossy arm that keeps nothing compressed has its error alone. */
bool ifm_derive_owes_loss(const struct ifm_arm *arm, const struct ifm_loss_fact *loss);
/* `error_rms` is the arm's error_rms_rel, in any state. */
void ifm_derive_compression(const struct ifm_arm_work *arm, const struct ifm_value *error_rms);
/* The bytes of a step against the baseline's, beside a compressed arm's comparison. */
void ifm_derive_bytes_ratio(const struct ifm_arm_work *arm);
/* Findings about compressed arms, once a cell: a weak baseline, help from caches, arms that another one dominates. */
void ifm_derive_say_compression(const struct ifm_cell_work *work);
/* Is the arm lossy, with a cache or weights of its own, and compared? Is what it shows withheld? */
bool ifm_derive_is_compressed(const struct ifm_arm_work *arm);
bool ifm_derive_is_withheld(const struct ifm_arm_work *arm);
/* compare/at_ceiling.c: speedup_at_ceiling of the compressed arms, and the finding where the baseline is weak. Below
 * this share of its read ceiling it leaves room for speed-ups that compression has not earned; at this share of the
 * ceiling of its operations it is limited by them. */
#define IFM_BASELINE_AT_LEAST 0.90
#define IFM_LIMITED_BY_OPERATIONS 0.70
void ifm_derive_at_ceiling(const struct ifm_cell_work *work);
/* Of compression.c: in per cent. */
double ifm_shown_below(double share, double bar);
/* Of compression.c: the baseline reaches so many per cent of the ceiling, "read", and what that `left` of each speed-up
 * would leave, NULL = unknown; `rest` ends the sentence. */
void ifm_derive_say_weak(const struct ifm_cell_work *work, double percent, const char *ceiling, double bar,
                         const char *left, const char *rest);
/* Does a gate on this cell ask for the metric? */
bool ifm_derive_is_wanted(const struct ifm_cell_work *work, enum ifm_metric_id metric);
/* counters.c: numbers from columns and facts that only some passes have; absent where a gate asks for one in vain. */
void ifm_derive_counters(const struct ifm_arm_work *arm);
void ifm_derive_counter_changes(const struct ifm_arm_work *arm);
/* counted.c: numbers of the pass of counters, per step over its ranges; absent where a gate asks for one in vain. */
void ifm_derive_counted(const struct ifm_arm_work *arm);
bool ifm_derive_is_counted(const struct ifm_cell_work *work); /* the cell was asked to count, or did */
/* limits.c: how near the arm is to each limit inside the multiprocessors, and what its warps wait for. */
void ifm_derive_limits(const struct ifm_arm_work *arm);
/* cpu_counted.c: the same of a processor's counters. */
void ifm_derive_cpu_counted(const struct ifm_arm_work *arm);
/* monitored.c: what the GPU's own monitor said of the windows of energy. */
void ifm_derive_monitored(const struct ifm_arm_work *arm);
bool ifm_derive_counts_cpu(const struct ifm_cell_work *work); /* the pass of counters is the processor's */
/* The record of the cell's pass of a kind; NULL = none. */
const struct ifm_record *ifm_derive_record_of(const struct ifm_cell_work *work, enum ifm_pass_kind kind);
/* Mean of `n` values, of so many `of`, with its t interval where they are enough. */
struct ifm_value ifm_derive_mean(const double *values, size_t n, const char *of);
/* guard.c. Time of samples over their steps, in the record of a pass; NaN without steps. */
double ifm_derive_step_in(const struct ifm_arm_work *arm, const struct ifm_record *record);
/* How much longer steps of the pass took than those of the latency pass, in per cent, with its interval. `last`: those
 * in the last sample of each slot, which alone was observed. */
struct ifm_value ifm_derive_slower(const struct ifm_arm_work *arm, const struct ifm_record *own, bool last,
                                   const char *of);
/* Why no number is made of that pass's times ("... while counters were read ..."); NULL = they are those of a step. */
const char *ifm_derive_too_slow(const struct ifm_arm_work *arm, const struct ifm_value *slower, const char *while_what);
void ifm_derive_say_slower(const struct ifm_arm_work *arm, const struct ifm_value *slower, const char *while_what);
/* traced.c: numbers of the pass trace, per step over its slots. */
void ifm_derive_traced(const struct ifm_arm_work *arm);
struct ifm_value ifm_derive_counted_hit_change(const struct ifm_arm_work *arm);
/* energy/energy.c: total_energy_j and power_mean_w of an arm, and what else the energy pass gives of it; nothing where
 * nothing was recorded and nobody asked. */
void ifm_derive_energy(const struct ifm_arm_work *arm);
/* energy/pass.c: every number of the arm's windows; false where the cell has no windows of an energy pass. */
bool ifm_derive_energy_pass(const struct ifm_arm_work *arm);
bool ifm_derive_has_energy_pass(const struct ifm_cell_work *work);
/* The change of the energy of a token, or of a step (`per_step`), by pairs of windows. */
struct ifm_value ifm_derive_energy_pass_change(const struct ifm_arm_work *arm, bool per_step);
/* One row for each sensor that can be integrated. */
void ifm_derive_energy_rows(const struct ifm_arm_work *arm);
/* clock.c: clock_sm_mhz and clock_sm_reported_mhz; nothing where nothing counts cycles and no gate asks. */
void ifm_derive_clock(const struct ifm_arm_work *arm);
/* effect.c: cliffs_delta, hedges_g and sign_flip_p. */
void ifm_derive_effects(const struct ifm_arm_work *arm, const bool *without);
/* places.c: of two CPUs on which programs were started, by how much those of either arm take longer on one. */
struct ifm_places {
    double change[2]; /* ln(time on the slow one / time on the fast one) before slot `until`, and from it on */
    size_t until;
    double moves; /* the part of the comparison, as a logarithm, of shares of slots that are surely unequal */
    int64_t slow, fast;
    const char *words; /* "by about 33 %, longer on CPU 0 than on CPU 1"; "" = none is found */
};
struct ifm_places ifm_derive_places(const struct ifm_arm_work *arm);
/* The part of ln(time) of a slot that is its CPU's. */
double ifm_derive_place_part(const struct ifm_places *places, const struct ifm_record *record, size_t slot);
/* carry.c: the part of a comparison, as a logarithm, that comes of which arm ran before which; zeros and "" = none is
 * visible. */
struct ifm_carried {
    struct ifm_places places; /* whose part `low` and `high` have too */
    double usual;             /* by the share of slots behind another arm */
    double low, high;         /* what it may be, were any part of the slots that count behind another; holds 0 */
    const char *words;        /* "" where disturbed slots hide it */
    const char *alternates;   /* "83.1 ms, 107 ms": times of even and odd slots, of both arms, look like it; "" = no */
    bool hidden;              /* a part of it cannot be told from the load */
};
struct ifm_carried ifm_derive_carried(const struct ifm_arm_work *arm);
/* Is it so much that a comparison shows it? */
bool ifm_derive_is_carried(const struct ifm_carried *carried);
/* Are so many slots of the arm or its baseline disturbed that nothing can be told of their order? */
bool ifm_derive_hides_order(const struct ifm_arm_work *arm);
/* What to type for slots in which an arm runs behind itself. Where the repeats are fixed, longer slots make fewer
 * blocks, which decide nothing where blocks differ: then with as many repeats as keep the blocks, or make many. */
const char *ifm_derive_longer_slots(const struct ifm_cell_work *work);
/* What to type for more slots in which an arm runs behind itself: these, or more blocks where slots are long. */
const char *ifm_derive_more_slots(const struct ifm_cell_work *work);
/* `taken`: the disturbed blocks take the word anyway, and say so. */
void ifm_derive_say_carried(const struct ifm_arm_work *arm, const struct ifm_carried *carried, bool changes_the_word,
                            bool taken);

/* Of what an interval must hold beside what it is of: either end is missed in a tenth of cells. */
#define IFM_BESIDE_LEVEL 0.8
/* alone.c: where ln(time of the arm / of `base`) lies, each of the two behind itself, by the slots of all blocks but
 * `without`: at IFM_BESIDE_LEVEL. False where slots begin with an untimed step, and where none or one of
 * an arm ran behind itself. */
bool ifm_derive_alone(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, const bool *without,
                      struct ifm_interval *out);

/* companion.c: what else the blocks recorded, for each arm that is compared. */
void ifm_derive_companions(const struct ifm_arm_work *arm);
/* Rule 8: ln(clock of the arm / of its baseline) inside the blocks where these differ, else 0; what else differs of
 * their operating points is said at once. */
struct ifm_clocks {
    double apart, own_khz, base_khz;
};
struct ifm_clocks ifm_derive_clocks(const struct ifm_arm_work *arm);
/* The same between any two arms, and says nothing. */
double ifm_derive_clocks_apart(const struct ifm_arm_work *arm, const struct ifm_arm_work *other);
/* `stands`: the word stands at one clock too. */
void ifm_derive_say_clocks(const struct ifm_arm_work *arm, const struct ifm_clocks *clocks, bool stands);
/* A column by block. `total` = its sum over the arm's measured slots of the block, `steps` = the steps between the
 * instrument's start and stop in them, `slots` = how many; `read` only where each of them was read. */
struct ifm_column_block {
    double total, steps, slots;
    bool read;
};
/* One for each block of the cell, in the arena; `*read` in how many the column was. -1: a column that there is not. */
struct ifm_column_block *ifm_derive_column_blocks(const struct ifm_arm_work *arm, int column, struct ifm_arena *arena,
                                                  size_t *read);
/* The amount per step that a rate or a ceiling of `kind` divides by time; 0 = none. */
double ifm_ceiling_amount(const struct ifm_arm *arm, enum ifm_ceiling kind);

/* ---- model.c ---- */
/* The least time of an output token, where the arm's settings name a model. */
void ifm_derive_model(const struct ifm_arm_work *arm, const struct ifm_value *step);

/* ---- roofs.c ---- */
/* Once it is known which arms caches serve. */
void ifm_derive_roofs(struct ifm_derivation *d);
/* ln of the arm's rate over its roof, over the arm's blocks; false when it cannot be formed. */
bool ifm_roof_share(const struct ifm_arm_work *arm, enum ifm_ceiling kind, struct ifm_log_mean *out);
/* The most that this share may be, by its interval over all blocks and over those that the machine did not disturb;
 * INFINITY where it disturbed too many, or the blocks give no interval. */
double ifm_roof_share_high(const struct ifm_arm_work *arm, enum ifm_ceiling kind);
/* How far the arm is above every probe, and surely is, as logarithms; 0 = it is not. */
double ifm_roof_excess(const struct ifm_arm_work *arm, enum ifm_ceiling kind, double *surely);
/* The roof of the arm's operations. */
enum ifm_ceiling ifm_roof_of_operations(const struct ifm_arm_work *arm);
/* ln of how far above its probes an arm is believed: up to the physical bound, or by IFM_RATE_TOLERANCE where that is
 * not known. */
double ifm_roof_reach(const struct ifm_roof *roof, const struct ifm_arm_work *arm, enum ifm_ceiling kind);
/* The core clock, Hz, in the round in which the roof's probe was fastest; 0 = not measured. */
double ifm_roof_clock(const struct ifm_roof *roof);

/* How much the best rates of rounds of ceilings differ, as the standard deviation `sd` of their logarithms; false below
 * two rounds. */
bool ifm_roof_spread(const struct ifm_roof *roof, struct ifm_log_mean *out);
/* How far a roof moved while the arms ran: what a kernel at it would have had from step to step.
 *
 * Rounds of probes lie before, between and after the blocks, so they share the arms' conditions. In each the probe of
 * the kind with the highest rate counts, by stretches of successive samples that move as much as one step of a kernel
 * does (`amount`; each sample begins one): what is shorter a step averages out. `low` and `high` are the 10th and the
 * 90th percentile of the rates of all stretches of all rounds (type 7 of Hyndman and Fan, The American Statistician 50,
 * 1996, 361-365), `moved` is high / low - 1. Of percentiles, so that one pause does not make them. False below two
 * rounds. */
struct ifm_roof_range {
    double low, high, moved; /* amount / ns */
    size_t rounds;
};
/* A roof that moved further in the run has no bound made of it: another minute would give another one. */
#define IFM_ROOF_STEADY 0.05
bool ifm_roof_range(const struct ifm_cell_work *work, enum ifm_ceiling kind, double amount, struct ifm_roof_range *out);
/* Of a step of a probe: what its ceiling is made of. */
double ifm_roof_fastest_ns(const struct ifm_arm_work *arm);
/* Is a probe's rate, ln(amount / ns), above what the device can do? */
bool ifm_roof_breaks(const struct ifm_arm_work *arm, enum ifm_ceiling kind, double log_rate, struct ifm_bound *bound);

/* ---- bounds.c ---- */
/* What the memory's bus carries by what driver or firmware say of it, which is what a datasheet has; 0 = not known.
 * `words`: how it is made. */
double ifm_bus_bytes_per_s(const struct ifm_derivation *d, const char **words);
struct ifm_bound ifm_bound_of(const struct ifm_arm_work *arm, enum ifm_ceiling kind);
/* What no arm does on a processor, whatever it calls and wherever its data lie: of IFM_CEILING_READ the loads of all
 * allowed cores, of IFM_CEILING_FLOPS all that they add and multiply, in tiles too. */
struct ifm_bound ifm_bound_without_probe(const struct ifm_arm_work *arm, enum ifm_ceiling kind);
/* The arm that set it, with its cell where that is another one. */
const char *ifm_roof_name(const struct ifm_roof *roof, const struct ifm_cell_work *asks, struct ifm_arena *arena);

/* Bytes below which a working set counts as cache-resident; 0 = ask the plan. */
double ifm_resident_below(const struct ifm_derivation *d);
void ifm_derive_find_caches(struct ifm_derivation *d);

/* gpu_state.c: what the GPU's clock, heat and memory went through in a cell; nothing where that was not recorded. */
void ifm_derive_gpu_state(const struct ifm_cell_work *work);

/* ---- rules ---- */
void ifm_rules_gpu(struct ifm_derivation *d); /* gpu_state.c: others on the GPU */
/* Rule 15: what the caller found when it planned again; before every other rule. */
void ifm_rules_plan(struct ifm_derivation *d);
/* And in the rows of sensors, when all are there. */
void ifm_rules_plan_rows(struct ifm_derivation *d);
void ifm_rules_run(struct ifm_derivation *d);
void ifm_rules_record(struct ifm_cell_work *work);
void ifm_rules_repeats(struct ifm_cell_work *work); /* repeats.c: blocks run again, and run.log */
void ifm_rules_journal(struct ifm_cell_work *work); /* journal.c: what run.log tells of the record, held against it */
void ifm_rules_clocks(struct ifm_derivation *d);    /* journal.c: when lines were written, and slots between them */
void ifm_rules_stop(struct ifm_cell_work *work);    /* stop.c: the stop decision, made again from the samples */
void ifm_rules_arms(struct ifm_cell_work *work);
void ifm_rules_command(struct ifm_cell_work *work); /* command.c: runs that failed are no samples */
IFM_CHECKED enum ifm_status ifm_rules_energy(struct ifm_cell_work *work, struct ifm_error *error);
void ifm_rules_time(struct ifm_cell_work *work);
/* Rule 3: which arms caches serve, for all cells before roofs are made; and no rate far above its roof. */
void ifm_rules_resident(struct ifm_cell_work *work);
void ifm_rules_ceiling(struct ifm_cell_work *work);

#endif
