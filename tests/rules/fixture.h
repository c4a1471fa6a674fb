/* A run in memory, honest until a test breaks it: one plan, one record a cell, one journal.
 *
 * Shared by the tests of derive, judge and the rules. A test starts a fixture, changes the plan, generates the record,
 * breaks what it wants to break, and derives. */
#ifndef IFM_TESTS_RULES_FIXTURE_H
#define IFM_TESTS_RULES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "derive/derive.h"
#include "judge/judge.h"
#include "sample/disturbed.h"
#include "unit/events.h"
#include "unit/facts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FX_CELLS = 3, FX_ARMS = 24, FX_BLOCKS = 400, FX_COLUMNS = 4 };

struct fx_cell {
    struct ifm_arm arms[FX_ARMS];
    double step_ns[FX_ARMS]; /* the truth of each arm */
    struct ifm_record record;
    bool has_record;
};

struct fixture {
    struct ifm_arena *arena;
    struct ifm_plan plan;
    struct ifm_cell cells[FX_CELLS];
    struct fx_cell parts[FX_CELLS];
    struct ifm_gate gates[8];
    json_t *events;
    unsigned blocks, samples, warmup_blocks;
    uint32_t inner;
    double noise, block_noise, ar, drift; /* of ln(duration); drift over the whole pass */
    uint64_t seed;
    bool stolen[FX_BLOCKS]; /* measured blocks of which the machine takes a tenth; under today's rules they are repeated
                             */
    struct ifm_derived *derived;
    struct ifm_verdict *verdict;
};

/* One cell "decode" with a baseline "base" and a variant "other", equally fast; 12 blocks. */
static inline struct ifm_arm *fx_add_arm(struct fixture *fx, unsigned cell, const char *name, enum ifm_role role,
                                         double step_ns)
{
    struct ifm_cell *c = &fx->cells[cell];
    size_t at = c->n_arms++;
    assert_true(at < FX_ARMS);
    struct ifm_arm *arm = &fx->parts[cell].arms[at];
    *arm = (struct ifm_arm){.name = name,
                            .role = role,
                            .workload = c->workload,
                            .variant = "",
                            .feature = "",
                            .equals = "",
                            .tolerance = 1e-5};
    fx->parts[cell].step_ns[at] = step_ns;
    return arm;
}

static inline void fx_add_cell(struct fixture *fx, const char *name, const char *workload)
{
    unsigned at = (unsigned)fx->plan.n_cells++;
    fx->cells[at] = (struct ifm_cell){.index = at,
                                      .name = name,
                                      .workload = workload,
                                      .threads = 1,
                                      .seed = 42 + at,
                                      .unsupported = "",
                                      .arms = fx->parts[at].arms,
                                      .measure = {.margin = 0.003, .mde = 0.005, .cap_s = 10}};
    fx->parts[at] = (struct fx_cell){0};
}

/* Steals `meta`. */
static inline void fx_event(struct fixture *fx, const char *stage, json_t *meta)
{
    assert_non_null(meta);
    json_array_append_new(fx->events,
                          json_pack("{s:i, s:s, s:b, s:o}", "t_ns", 1, "stage", stage, "ok", 1, "meta", meta));
}

static inline void fx_locks(struct fixture *fx, const char *when, const char *value, int locked)
{
    fx_event(fx, "locks",
             json_pack("{s:s, s:[{s:s, s:s, s:b, s:s}]}", "when", when, "knobs", "knob", "governor", "value", value,
                       "locked", locked, "reason", ""));
}

static inline void fx_start(struct fixture *fx)
{
    memset(fx, 0, sizeof *fx);
    fx->arena = ifm_arena_create();
    fx->plan = (struct ifm_plan){.run_id = "0123456789ab",
                                 .config_hash = "cafe",
                                 .seed = 1,
                                 .device = "fake",
                                 .cells = fx->cells,
                                 .gates = fx->gates};
    fx->blocks = 12;
    fx->samples = 20;
    fx->warmup_blocks = 1;
    fx->inner = 1;
    fx->noise = 0.01;
    fx->seed = 7;
    fx->events = json_array();
    fx_event(fx, "run_start",
             json_pack("{s:s, s:s, s:s}", "run_id", "0123456789ab", "config_hash", "cafe", "version", "x"));
    fx_locks(fx, "before", "performance", 1);
    fx_event(fx, "load", json_pack("{s:s, s:f}", "when", "before", "foreign_load", 0.0));
    fx_add_cell(fx, "decode", "decode");
    fx_add_arm(fx, 0, "base", IFM_ROLE_BASELINE, 100000);
    fx_add_arm(fx, 0, "other", IFM_ROLE_VARIANT, 100000);
}

static inline void fx_warmup(struct fixture *fx, const char *arm, int steady)
{
    fx_event(fx, "warmup",
             json_pack("{s:s, s:s, s:i, s:i, s:b, s:f, s:f, s:f, s:f}", "cell", "decode", "arm", arm, "steps", 50,
                       "windows", 2, "steady", steady, "tolerance", 0.01, "seconds", 1.0, "last_median_ns", 100.0,
                       "previous_median_ns", 100.0));
}

static inline void fx_stop_fact(struct fixture *fx, const char *cell, const char *reason)
{
    fx_event(fx, "stop",
             json_pack("{s:s, s:s, s:i, s:f, s:n, s:f}", "cell", cell, "reason", reason, "blocks", 12, "elapsed_s", 1e6,
                       "mde", "wanted_mde", 0.005));
}

static inline void fx_end_events(struct fixture *fx)
{
    fx_locks(fx, "after", "performance", 1);
    fx_event(fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
}

static inline void fx_check(struct fixture *fx, const char *arm, const char *when, double error, const char *hash)
{
    fx_event(fx, "check",
             json_pack("{s:s, s:s, s:b, s:f, s:f, s:i, s:b, s:s, s:s}", "cell", "decode", "arm", arm, "done", 1,
                       "error_rms_rel", error / 2, "error_max_rel", error, "values", 64, "finite", 1, "output_xxh3",
                       hash, "when", when));
}

/* The same with what compression did; steals `loss`. */
static inline void fx_check_loss(struct fixture *fx, const char *arm, const char *when, json_t *loss)
{
    assert_non_null(loss);
    fx_check(fx, arm, when, 1e-7, "cc");
    json_t *event = json_array_get(fx->events, json_array_size(fx->events) - 1);
    json_object_set_new(json_object_get(event, "meta"), "loss", loss);
}

/* `plain` bytes of 16-bit values, kept in `stored` bytes, and a step that moves `moved` bytes. */
static inline void fx_store(struct fixture *fx, size_t arm, uint64_t stored, uint64_t plain, uint64_t moved)
{
    struct ifm_arm *a = &fx->parts[0].arms[arm];
    a->stored = stored;
    a->stored_plain = plain;
    a->lossy = stored < plain;
    a->working_set = moved;
    a->ledger = (struct ifm_ledger){.bytes_read = moved, .flops = 1000000, .tokens_generated = 1};
}

static inline void fx_free_record(struct ifm_record *record)
{
    free(record->slots);
    free(record->samples);
    free(record->first);
    free(record->columns);
    free(record->column_names);
    memset(record, 0, sizeof *record);
}

static inline void fx_allocate(struct fixture *fx, unsigned cell)
{
    static char steal[] = "steal_ns", switches[] = "context_switches_involuntary", delay[] = "run_delay_ns",
                khz[] = "cpu_khz";
    struct ifm_record *r = &fx->parts[cell].record;
    size_t in_blocks = ifm_plan_count_in_blocks(&fx->cells[cell]), apart = fx->cells[cell].n_arms - in_blocks;
    size_t slots = 2 * in_blocks * (fx->blocks + fx->warmup_blocks) + (apart > 0 ? 2 * apart : 0);
    fx_free_record(r);
    r->n_slots = slots;
    r->n_samples = slots * fx->samples;
    r->n_columns = FX_COLUMNS;
    r->slots = calloc(slots + 1, sizeof *r->slots);
    r->samples = calloc(r->n_samples + 1, sizeof *r->samples);
    r->first = calloc(slots + 1, sizeof *r->first);
    r->columns = calloc(slots * FX_COLUMNS + 1, sizeof *r->columns);
    r->column_names = calloc(FX_COLUMNS, sizeof *r->column_names);
    assert_true(r->slots && r->samples && r->first && r->columns && r->column_names);
    r->column_names[0] = steal;
    r->column_names[1] = switches;
    r->column_names[2] = delay;
    r->column_names[3] = khz;
    for (size_t k = 0; k < slots; k++) /* as in most virtual machines */
        r->columns[k * FX_COLUMNS + 2] = r->columns[k * FX_COLUMNS + 3] = IFM_ABSENT;
}

/* The phase of a block and the order of its slots; with ceilings apart, the first and the last are rounds of these.
 * `repeated` blocks before it were run again. */
static inline uint32_t fx_order(const struct fixture *fx, const struct ifm_cell *cell, unsigned block,
                                unsigned repeated, unsigned *order, size_t *n)
{
    bool without[FX_ARMS] = {false};
    unsigned rounds = cell->ceilings_apart ? 1 : 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        without[a] = !ifm_plan_in_blocks(cell, a);
    if (cell->ceilings_apart && (block == 0 || block == fx->blocks + fx->warmup_blocks + 1)) {
        *n = ifm_plan_round(cell, NULL, block == 0 ? 0 : 1, order);
        return IFM_PHASE_CEILING;
    }
    block -= rounds;
    bool warm = block < fx->warmup_blocks;
    *n = ifm_plan_order_without(cell, without, warm ? 0 : block - fx->warmup_blocks - repeated, order);
    return warm ? IFM_PHASE_WARMUP : IFM_PHASE_MEASURE;
}

/* A block is complete: what the machine did to it, and what the run did about it. */
static inline void fx_end_block(struct fixture *fx, const struct ifm_cell *cell, struct ifm_slot *slots, size_t n,
                                struct ifm_repeats *repeats)
{
    char text[IFM_CAUSE_TEXT];
    if (n == 0 || slots[0].phase != IFM_PHASE_MEASURE)
        return;
    const bool stolen = repeats->blocks < FX_BLOCKS && fx->stolen[repeats->blocks];
    for (size_t i = 0; stolen && i < n; i++)
        ((int64_t *)slots[i].columns)[0] = (slots[i].end_ns - slots[i].start_ns) / 10;
    if (ifm_repeats_take(repeats, slots, n) == IFM_BLOCK_REPEATED)
        fx_event(fx, "repeated",
                 json_pack("{s:s, s:s, s:i, s:s}", "cell", cell->name, "pass", "latency", "block", (int)slots[0].block,
                           "reason", ifm_cause_text(IFM_CAUSE_STOLEN, 0.1, text)));
}

/* Every slot of the plan's order, back to back, from each arm's true step time. */
static inline void fx_generate_cell(struct fixture *fx, unsigned cell)
{
    struct fx_cell *part = &fx->parts[cell];
    struct ifm_record *r = &part->record;
    unsigned order[2 * FX_ARMS], block = 0;
    uint32_t phase = 0;
    size_t first = 0, n = 0;
    struct ifm_repeats repeats = {.wanted = fx->plan.rules >= IFM_PLAN_RULES_REPEATS, .cap_ns = 1e18};
    struct ifm_random random = ifm_random_start(fx->seed, 77 + cell);
    fx_allocate(fx, cell);
    repeats.columns = ifm_cause_columns_of((const char *const *)r->column_names, r->n_columns);
    fx->cells[cell].measure.cap_s = repeats.wanted ? 1e9 : fx->cells[cell].measure.cap_s;
    int64_t now = 1000;
    double memory = 0.0;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        if (k == first + n) {
            fx_end_block(fx, &fx->cells[cell], &r->slots[first], n, &repeats);
            block += n > 0;
            first = k;
            phase = fx_order(fx, &fx->cells[cell], block, repeats.repeated, order, &n);
            memory = fx->ar * memory + sqrt(1 - fx->ar * fx->ar) * fx->block_noise * ifm_random_normal(&random);
        }
        unsigned arm = order[k - first];
        *slot = (struct ifm_slot){.block = block,
                                  .phase = phase,
                                  .arm = arm,
                                  .samples = fx->samples,
                                  .inner = fx->inner,
                                  .start_ns = now,
                                  .columns = &r->columns[k * FX_COLUMNS]};
        r->first[k] = k * fx->samples;
        for (unsigned i = 0; i < fx->samples; i++) {
            double wobble =
                fx->noise * ifm_random_normal(&random) + memory + fx->drift * (double)k / (double)r->n_slots;
            double ns = part->step_ns[arm] * fx->inner * exp(wobble);
            r->samples[r->first[k] + i] = (struct ifm_sample){now, (int64_t)llround(ns)};
            now += (int64_t)llround(ns); /* hot samples follow each other without a gap */
        }
        slot->end_ns = now;
        now += 500;
    }
    fx_end_block(fx, &fx->cells[cell], &r->slots[first], n, &repeats);
    r->first[r->n_slots] = r->n_samples;
    part->has_record = true;
}

static inline void fx_generate(struct fixture *fx)
{
    for (unsigned c = 0; c < fx->plan.n_cells; c++)
        fx_generate_cell(fx, c);
}

static inline enum ifm_status fx_try_derive(struct fixture *fx, struct ifm_error *error)
{
    const struct ifm_record *records[FX_CELLS];
    for (size_t c = 0; c < FX_CELLS; c++)
        records[c] = fx->parts[c].has_record ? &fx->parts[c].record : NULL;
    struct ifm_facts_view facts = {.plan = &fx->plan, .records = records, .max_passes = 1};
    IFM_TRY(events_try(fx->events, fx->arena, &facts.events, error));
    return ifm_derive(&facts, fx->arena, &fx->derived, error);
}

/* What follows from a finding is typed where it is said: here, and nowhere else, its words are held against that. */
static inline void fx_hold_kinds_to_words(const struct ifm_derived *derived)
{
    static const struct {
        const char *words;
        enum ifm_finding_kind kind;
    } told[] = {{" reaches only ", IFM_FINDING_WEAK_BASELINE},
                {"is served by caches and the baseline's by memory", IFM_FINDING_CACHES},
                {"depends on which arm ran before", IFM_FINDING_ORDER},
                {"whether the order of slots matters", IFM_FINDING_ORDER_HIDDEN},
                {"alternates from slot to slot", IFM_FINDING_ALTERNATES},
                {"the time depends on the CPU", IFM_FINDING_ALTERNATES},
                {"typical and what is paid disagree", IFM_FINDING_TYPICAL},
                {" MHz and its baseline at ", IFM_FINDING_CLOCKS},
                {"and not the machine", IFM_FINDING_DISTURBS},
                {"other programs took up to", IFM_FINDING_LOAD},
                {" is shared: ", IFM_FINDING_SHARED_GPU},
                {"blocks, has ", IFM_FINDING_FEW_BLOCKS},
                {"warm-up ended", IFM_FINDING_WARM_UP},
                {"had not settled when", IFM_FINDING_WARM_UP},
                {"no steady state", IFM_FINDING_UNSTEADY},
                {"itself drifts", IFM_FINDING_RATIO_DRIFTS},
                {"the step time drifts", IFM_FINDING_TIME_DRIFTS},
                {"the time of a run drifts", IFM_FINDING_TIME_DRIFTS},
                {" (CUSUM ", IFM_FINDING_TIME_CHANGES},
                {" rises and falls within the run", IFM_FINDING_TIME_CHANGES},
                {"(measure.energy_windows)", IFM_FINDING_FEW_WINDOWS},
                {" is too short for ", IFM_FINDING_SHORT_WINDOWS},
                {"the output must equal", IFM_FINDING_OUTPUT},
                {"the output changed", IFM_FINDING_OUTPUT},
                {"set of buffers gave another", IFM_FINDING_OUTPUT},
                {"no step used", IFM_FINDING_NOTHING_RAN},
                {"a run that fails", IFM_FINDING_FAILED_RUNS},
                {" modes (", IFM_FINDING_MODES},
                {"maybe its own doing", IFM_FINDING_LOPSIDED}};
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *f = &derived->findings[i];
        enum ifm_finding_kind kind = IFM_FINDING_OTHER;
        if (f->severity == IFM_SEVERITY_NOTE && f->kind == IFM_FINDING_OTHER)
            continue; /* from notes nothing follows but of order and clocks */
        for (size_t k = 0; k < sizeof told / sizeof *told && kind == IFM_FINDING_OTHER; k++)
            kind = strstr(f->text, told[k].words) != NULL ? told[k].kind : kind;
        if (f->kind != kind || f->takes_word != (strstr(f->text, "undecided") != NULL) ||
            (f->weak.share != NULL) != (kind == IFM_FINDING_WEAK_BASELINE))
            fail_msg("\"%s\" is told as %s, takes_word %d", f->text, ifm_finding_name(f->kind), f->takes_word);
    }
}

static inline void fx_derive(struct fixture *fx)
{
    struct ifm_error error = {0};
    enum ifm_status status = fx_try_derive(fx, &error);
    if (status != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    fx_hold_kinds_to_words(fx->derived);
}

static inline void fx_gate(struct fixture *fx, const char *metric, const char *arm, int op, double threshold,
                           bool interval)
{
    fx->gates[fx->plan.n_gates++] = (struct ifm_gate){.name = metric,
                                                      .metric = metric,
                                                      .arm = arm,
                                                      .cell = "",
                                                      .op = op,
                                                      .threshold = threshold,
                                                      .interval = interval,
                                                      .classes = ""};
}

static inline void fx_judge(struct fixture *fx)
{
    fx->verdict = ifm_judge(&fx->plan, fx->derived, fx->arena);
}

static inline void fx_stop(struct fixture *fx)
{
    for (unsigned c = 0; c < FX_CELLS; c++)
        fx_free_record(&fx->parts[c].record);
    json_decref(fx->events);
    ifm_arena_destroy(fx->arena);
}

/* A number of the first cell that must exist. */
static inline const struct ifm_value *fx_value(const struct fixture *fx, const char *arm, const char *metric)
{
    const struct ifm_number *number = ifm_derived_find(fx->derived, fx->cells[0].name, arm, ifm_metric_of(metric));
    if (number == NULL)
        fail_msg("no number %s of arm %s", metric, arm);
    return &number->value;
}

static inline void fx_expect(const struct fixture *fx, const char *arm, const char *metric, enum ifm_state state,
                             const char *reason)
{
    const struct ifm_value *value = fx_value(fx, arm, metric);
    if (value->state != state || !facts_stand(value->reason, reason, NULL))
        fail_msg("%s of %s: state %d, reason \"%s\"; wanted %d, \"%s\"", metric, arm, value->state, value->reason,
                 state, reason);
    if (value->state != IFM_STATE_OK) { /* a number that may not be printed is not there to be printed */
        assert_true(value->number == 0.0);
        assert_false(value->has_interval);
    }
}

/* The first finding of a rule whose text holds all `facts` (unit/facts.h); NULL when there is none. */
static inline const struct ifm_finding *fx_finding(const struct fixture *fx, const char *rule, const char *facts)
{
    for (size_t i = 0; i < fx->derived->n_findings; i++)
        if (strcmp(fx->derived->findings[i].rule, rule) == 0 && facts_stand(fx->derived->findings[i].text, facts, NULL))
            return &fx->derived->findings[i];
    return NULL;
}

static inline size_t fx_invalid(const struct fixture *fx)
{
    size_t n = 0;
    for (size_t i = 0; i < fx->derived->n_findings; i++)
        n += fx->derived->findings[i].severity == IFM_SEVERITY_INVALID;
    return n;
}

#endif
