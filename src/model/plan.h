/* The plan: what will run, in which order, and each arm's ledger as a fact.
 *
 * cell = one parameter combination on one device; arm = one variant under
 * comparison; pass = one execution of a cell with one set of instruments. The
 * plan is immutable once built, lives in one arena, is saved as plan.json, and is
 * all that `run` and `derive` know of the configuration. */
#ifndef IFM_MODEL_PLAN_H
#define IFM_MODEL_PLAN_H

#include "base/names.h"
#include "model/machine.h"
#include "model/pass.h"
#include "model/study.h"
#include <string.h>

/* The fewest operations and bytes of one step; what a rate divides by time. */
struct ifm_ledger {
    uint64_t flops;
    uint64_t bytes_read, bytes_written;
    uint64_t tokens_prompt, tokens_generated; /* never added together */
    uint64_t rows;
    uint64_t layers; /* a step takes its tokens through one of so many layers of a model; 0 = through all that it has */
};
/* Of `tokens` that a step works on, as many as it takes through the whole depth: through one of 32 layers a 32nd. */
static inline double ifm_ledger_whole(const struct ifm_ledger *ledger, uint64_t tokens)
{
    return (double)tokens / (double)(ledger->layers > 1 ? ledger->layers : 1);
}

/* A ceiling arm is a probe: it measures a limit of the device and is never compared with the baseline. */
enum ifm_role { IFM_ROLE_BASELINE = 0, IFM_ROLE_VARIANT, IFM_ROLE_CEILING };
/* What limit a stream arm measures; on a ceiling arm, which limit it stands for. */
enum ifm_ceiling {
    IFM_CEILING_NONE = 0,
    IFM_CEILING_READ,
    IFM_CEILING_WRITE,
    IFM_CEILING_COPY,
    IFM_CEILING_FLOPS,
    IFM_CEILING_MATRIX, /* matrix products on units of their own */
    IFM_CEILING_INT8,   /* byte products, summed in 32 bits */
    IFM_CEILING_CLOCK,  /* cycles of a core */
    IFM_CEILING_L1,     /* reads that a level of the caches serves */
    IFM_CEILING_L2,
    IFM_CEILING_L3,
    IFM_CEILINGS
};
static inline enum ifm_ceiling ifm_ceiling_of_level(int level)
{
    return level >= 3 ? IFM_CEILING_L3 : level == 2 ? IFM_CEILING_L2 : IFM_CEILING_L1;
}

struct ifm_arm {
    const char *name; /* unique in its cell */
    enum ifm_role role;
    enum ifm_ceiling ceiling;
    const char *workload;
    const char *variant;                /* of the workload: a probe shape; "" for none */
    const struct ifm_setting *settings; /* complete parameters of its workload, cell axes and arm overrides applied */
    size_t n_settings;
    const char *implementation;       /* who computes it, a row of its workload for the plan's device: "ours" */
    const char *title;                /* the same for people: "ours (AVX-512)" */
    const struct ifm_setting *chosen; /* what describe chose, as canonical text: layers, bytes, instruction sets */
    size_t n_chosen;
    const char *bits;         /* arms of a cell with equal texts have equal outputs, bit for bit; NULL = with no other;
                                 not saved: `equals` is */
    const char *remark;       /* what to tell beforehand, NULL = nothing; not saved */
    const char *idle;         /* paths of those settings that have no effect on this arm, each behind a space:
                                 " attention.batch attention.seq_len"; "" or NULL = each has one */
    struct ifm_ledger ledger; /* per step */
    uint64_t working_set;     /* bytes that steps touch before they touch the same again: of one step, or of all buffers
                                 that successive steps take in turn */
    uint64_t memory;          /* bytes that the arm allocates */
    uint64_t scratch;         /* of them, what holds none of its inputs and outputs; a library's own is not known */
    uint64_t stored;          /* bytes in which the arm keeps what it is about (a KV cache, weights), metadata, padding
                                 and uncompressed parts included; 0 = it keeps nothing that could be compressed */
    uint64_t stored_plain;    /* the same content as plain 16-bit values; 0 where `stored` is */
    bool integer;             /* multiplies codes as integers: the ledger's operations are held against the ceiling of
                                 byte products */
    bool matrix;              /* multiplies on a GPU's matrix units: they are held against the ceiling of those */
    bool lossy;               /* changes numerics: never shown without its error (rule 10) */
    bool has_oracle;          /* run records its error against an oracle in higher precision */
    double tolerance;         /* largest error that counts as correct; in the unit of the check */
    const char *feature;      /* what makes the arm different, "" for none; its runs are counted (rule 11) */
    const char *equals;       /* arm of this cell whose output it must equal, "" for none (rule 12) */
    double equal_bound;       /* 0 = bit for bit; else largest relative difference */
    bool fixed_inner;         /* one step is one sample, however short */
    bool gaps;                /* something untimed runs between its samples (hooks of a command, a caller's own code),
                                 so they do not meet; in cold mode no samples do */
};

/* Of a plugin without a check: nothing shows that a step does its work, so no comparison and no gate rests on it. */
#define IFM_PLUGIN_IMPLEMENTATION "plugin"
static inline bool ifm_arm_unchecked(const struct ifm_arm *arm)
{
    return !arm->has_oracle && arm->implementation != NULL &&
           strcmp(arm->implementation, IFM_PLUGIN_IMPLEMENTATION) == 0;
}
/* Computed by a library, which may sum in another order each time. */
static inline bool ifm_arm_of_library(const struct ifm_arm *arm)
{
    return arm->implementation != NULL &&
           (strcmp(arm->implementation, "cudnn") == 0 || strcmp(arm->implementation, "cublaslt") == 0);
}
#define IFM_UNCHECKED "the arm is unchecked: its plugin has no check, so nothing shows that a step does its work"

/* What tables call the arm: its name, with what its title adds to it: "ours (AVX-512)". A name that a title only begins
 * with, as "t" begins "the program", is another word. */
static inline const char *ifm_arm_label(const struct ifm_arm *arm)
{
    const size_t length = strlen(arm->name);
    const bool begins = arm->title != NULL && strncmp(arm->title, arm->name, length) == 0;
    return begins && strncmp(arm->title + length, " (", 2) == 0 ? arm->title : arm->name;
}

struct ifm_pass {
    enum ifm_pass_kind kind;
    const char *const *instruments;
    size_t n_instruments;
    const char *const *columns; /* per-slot columns that the instruments add, in file order */
    const char *const *column_units;
    size_t n_columns;
};

enum { IFM_MOST_ARMS = 128 }; /* in a cell */

struct ifm_cell {
    unsigned index;
    const char *name; /* "decode kv_len=4096", unique in the plan */
    const char *workload;
    const struct ifm_setting *axes; /* the swept settings of this cell, in axis order */
    size_t n_axes;
    unsigned threads;
    struct ifm_measure measure;
    uint64_t seed; /* of data and order: the study's and the replica; before rules 9 mixed with the index */
    const struct ifm_arm *arms;
    size_t n_arms;
    const struct ifm_pass *passes; /* the first is the latency pass */
    size_t n_passes;
    const char *unsupported; /* "" or why this device cannot run the cell; such a cell is absent, not dropped */
    bool cache_resident;     /* hot, and an arm's working set is below 4 x the reported last-level cache */
    bool ceilings_apart;     /* ceilings that are taken along have rounds of their own between the blocks; false = they
                                are slots of every block, as where nothing but probes is measured, and in older plans */
};

/* Of the rules by which a plan is made of a configuration and a machine. Whoever changes what planning gives counts up,
 * and lets the planner give what it gave before where the machine's `rules` are earlier. A leaf that no number is made
 * of may be named in story/replan.c instead: there a plan of earlier rules is not held to it. */
#define IFM_PLAN_RULES 22
/* Since these a run repeats the blocks that the machine disturbed (sample/disturbed.h). */
#define IFM_PLAN_RULES_REPEATS 4
/* Since these blocks end no sooner than ceilings are a small part of a cell's time (stats/stop_blocks.h). */
#define IFM_PLAN_RULES_LEAST 5
/* Since these a block of one row that is repeated is followed by its mirror image (sample/disturbed.h). */
#define IFM_PLAN_RULES_MIRROR 6
/* Since these a block is repeated only where the fewest blocks fit behind it (sample/disturbed.h). */
#define IFM_PLAN_RULES_REPEATS_FIT 8
/* Since these --counters has a pass on a processor too (instrument/perf.c). */
#define IFM_PLAN_RULES_CPU_COUNTERS 12
/* Since these a pass of counters has columns of tf32 and of 8-bit integers (model/counter_sets.c). */
#define IFM_PLAN_RULES_TF32_INT8 15
/* Since these a GPU's own monitor is read in windows of energy (instrument/gpu_monitor.c). */
#define IFM_PLAN_RULES_MONITOR 15
/* Since these a pass of counters has columns of what limits a kernel: "limits_", "waits_" (model/counter_sets.c). */
#define IFM_PLAN_RULES_LIMITS 16
/* Since these counters of a slot with something between its samples are of its last sample (run/cell/slot.c). */
#define IFM_PLAN_RULES_LAST_SAMPLE 17
/* Since these a pass of traces tells kernels of graphs, launches and waits apart (instrument/gpu_activity.c). */
#define IFM_PLAN_RULES_LAUNCH_TIME 17
/* Since these a gate whose answer no unseen slow step could change ends a run before slow ones must have been seen
 * (stats/stop_blocks.c). */
#define IFM_PLAN_RULES_EARLY 18
/* Since these a look ends nothing where what derive allows for leaves an answer open (stats/stop_blocks.h). */
#define IFM_PLAN_RULES_SETTLED 19
/* Since these whose doing a disturbance is does not hang on how long a slot is (derive/compare/aside.c). */
#define IFM_PLAN_RULES_LENGTHS 21

struct ifm_plan {
    const char *run_id; /* first 12 hex digits of SHA-256 over config hash, seed and start time */
    const char *config_hash;
    uint64_t seed;
    const char *device;
    unsigned rules;                    /* IFM_PLAN_RULES of who planned; 0 = a version that did not say */
    const struct ifm_machine *machine; /* what was planned for; NULL = a version that did not say */
    struct ifm_cell *cells;
    size_t n_cells;
    const struct ifm_gate *gates;
    size_t n_gates;
    const struct ifm_names *by_name; /* of the cells, whose names are all different; NULL = look-ups walk them */
};

/* Once the list of cells is whole. */
void ifm_plan_index(struct ifm_plan *plan, struct ifm_arena *arena);
/* By name, path or role; NULL without one. */
const struct ifm_cell *ifm_plan_cell(const struct ifm_plan *plan, const char *name);
const struct ifm_arm *ifm_cell_arm(const struct ifm_cell *cell, const char *name);
const struct ifm_arm *ifm_cell_baseline(const struct ifm_cell *cell);
const char *ifm_arm_setting(const struct ifm_arm *arm, const char *path);
/* Are its steps runs of a program, with no hook between two of them? Then a window of energy is of whole runs. */
bool ifm_arm_runs_programs(const struct ifm_arm *arm);
/* Of an arm that has gaps: what runs between its samples, and `remedy`, what to measure that has none. */
const char *ifm_arm_between(const struct ifm_arm *arm, const char **remedy);
bool ifm_cell_runs_programs(const struct ifm_cell *cell); /* all of its arms but for ceilings */

const char *ifm_pass_name(const struct ifm_pass *pass);
/* Are the steps of the cell runs of other programs? Then their processor time is a column. */
bool ifm_cell_counts_programs(const struct ifm_cell *cell);
/* The cell's pass of this kind, or NULL. */
const struct ifm_pass *ifm_plan_pass(const struct ifm_cell *cell, enum ifm_pass_kind kind);
/* Whether its pass of counters was planned with this column. */
bool ifm_plan_counts(const struct ifm_cell *cell, const char *column);

/* The order of the slots in measured block `block` (0, 1, ...; warm-up blocks do not count, so that a resumed run goes
 * on in the same order): 2 * n_arms indices, a row and its mirror image, so that linear drift cancels inside the block.
 * With two arms the row is drawn at random; with n > 2 the rows of n successive blocks are those of a Williams square,
 * in random order and with the arms' numbers permuted anew. n_arms <= IFM_MOST_ARMS. Pure; the same for every build. */
void ifm_plan_order(const struct ifm_cell *cell, unsigned block, unsigned *order);

/* The same of the arms that are left when those marked in `without` are not run: 2 * the rest, by their numbers in the
 * cell. Returns how many. */
size_t ifm_plan_order_without(const struct ifm_cell *cell, const bool *without, unsigned block, unsigned *order);

/* Rows in a block of a pass, where calibration gave the cell's latency pass so many: windows of programs' energy may be
 * slots of that pass. */
unsigned ifm_plan_rows(const struct ifm_cell *cell, enum ifm_pass_kind kind, unsigned rows);
/* The same where a block is `rows` rows: 2 as above; 1 = the mirror image of a row is the next block, for steps so long
 * that six blocks of two rows would take longer than anybody waits. Returns how many slots the block has. */
size_t ifm_plan_order_rows(const struct ifm_cell *cell, const bool *without, unsigned rows, unsigned block,
                           unsigned *order);

/* Has the arm slots in measured blocks? Ceilings apart have not. */
bool ifm_plan_in_blocks(const struct ifm_cell *cell, size_t arm);
size_t ifm_plan_count_in_blocks(const struct ifm_cell *cell);
/* The order of round `round` (0, 1, ...) of ceilings apart: each once, and another first each time. Returns how many.
 */
size_t ifm_plan_round(const struct ifm_cell *cell, const bool *without, unsigned round, unsigned *order);

/* Does measure.isolation concern the arm? Not a ceiling that is taken along: it is compared with nothing. */
bool ifm_plan_isolates(const struct ifm_cell *cell, size_t arm);
enum { IFM_MOST_BUFFER_SETS = 4 };
/* Under IFM_ISOLATION_BUFFERS: the set of buffers that each arm works in during measured block `block`, n_arms numbers.
 * The n arms that it isolates take the sets 0 .. n-1 by a cyclic shift drawn at random; the others
 * always have set n. Returns n. Pure. */
unsigned ifm_plan_sets(const struct ifm_cell *cell, unsigned block, unsigned *sets);
/* How often the memory of an arm exists at once: once for each set of buffers that it works in. */
unsigned ifm_plan_copies(const struct ifm_cell *cell, size_t arm);
/* Bytes of the cell; UINT64_MAX where they are more. Arms with one ledger work on the same data and share it; the
 * rest adds up. In sets of buffers they share it inside each set, in processes of their own not at all. */
uint64_t ifm_plan_memory(const struct ifm_cell *cell);

#endif
