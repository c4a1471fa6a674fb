/* Advice: what the specification says to do about a run in trouble, where its condition holds and with our parameters.
 *
 * One deviation: trimming is never advised. It lowers the printed variation and leaves that of the machine as it is. */
#include "judge/internal.h"

#include "model/machine_facts.h"
#include <math.h>
#include <string.h>

#define CV_PERCENT 5.0      /* above: too much variation */
#define MEMORY_PERCENT 50.0 /* of the read ceiling, below: memory is not made use of */
#define INTENSE 4           /* FLOP a byte, from which on computing is the limit where no ceiling says so */
#define DISTURBED 0.5       /* share of the blocks */
#define SHORT_NS 1e6        /* a sample shorter than this feels every interrupt */
/* A step shorter than this feels that its workers start and join: with two threads that takes 1 µs of a quiet machine
 * and 15 of a busy one, with many some more. */
#define FEELS_JOIN_NS 1e5

struct advising {
    struct ifm_checking c;
    struct ifm_advice *out;
    size_t n, capacity;
};

static void advise(struct advising *g, struct ifm_advice advice)
{
    IFM_ARENA_GROW(g->c.arena, g->out, g->n, g->capacity);
    g->out[g->n++] = advice;
}

static double number_of(const struct advising *g, const struct ifm_cell *cell, size_t arm, enum ifm_metric_id metric)
{
    const struct ifm_value *value = ifm_derived_value(g->c.derived, cell->name, cell->arms[arm].name, metric);
    return ifm_is_ok(value) ? value->number : NAN;
}

/* "; 2 more arms too" */
static const char *and_more(const struct advising *g, size_t n)
{
    return n < 2 ? "" : ifm_arena_printf(g->c.arena, "; %zu more arm%s too", n - 1, n == 2 ? "" : "s");
}

/* ---- variation ---- */

static bool was_steady(const struct advising *g, const struct ifm_cell *cell)
{
    IFM_EACH(event, g->c.events, warmup, cell->name, NULL)
        if (!IFM_FACTS(event, warmup)->steady)
            return false;
    return true;
}

static const double MANY_TIMES_PERCENT =
    30; /* no noise of a quiet machine: a few samples of several times the others */

/* Samples that are slow in blocks of which the machine disturbed hardly any. */
static bool is_own(const struct advising *g, const struct ifm_cell *cell, size_t arm)
{
    const double marked = number_of(g, cell, arm, IFM_M_BLOCKS_MARKED),
                 all = number_of(g, cell, arm, IFM_M_BLOCKS_COUNT);
    return 10 * marked <= all && number_of(g, cell, arm, IFM_M_LATENCY_CV_PERCENT) > MANY_TIMES_PERCENT;
}

static const char *against_variation(const struct advising *g, const struct ifm_cell *cell, size_t arm)
{
    double sample_ns = number_of(g, cell, arm, IFM_M_STEP_NS) * number_of(g, cell, arm, IFM_M_INNER_STEPS);
    const char *text = ifm_was_loaded(g->c.events) ? "end what else runs" : "";
    if (!was_steady(g, cell))
        text = ifm_arena_printf(g->c.arena, "%s%swarm up for longer (--warmup-cap above %.3g s)", text,
                                text[0] == '\0' ? "" : "; ", cell->measure.warmup_cap_s);
    if (sample_ns < SHORT_NS && !cell->arms[arm].gaps) /* there a sample is one step */
        text = ifm_arena_printf(g->c.arena, "%s%smore steps in a sample (--inner above %.0f)", text,
                                text[0] == '\0' ? "" : "; ", number_of(g, cell, arm, IFM_M_INNER_STEPS));
    if (text[0] == '\0' && is_own(g, cell, arm))
        text = "look at its slow samples: the machine was quiet, and some take much longer by themselves";
    else if (text[0] == '\0')
        text = number_of(g, cell, arm, IFM_M_MODES_COUNT) > 1
                   ? "look at the distribution: the time has several modes, and no mean describes it"
               : ifm_lock_is_possible(g->c.events) ? "a quieter machine, or its clocks locked"
                                                   : "a quieter machine";
    return ifm_arena_printf(g->c.arena, "%s; more samples or trimming leave the variation as it is", text);
}

static void look_at_variation(struct advising *g, const struct ifm_cell *cell)
{
    size_t n = 0, worst = 0;
    double most = CV_PERCENT;
    for (size_t a = 0; a < cell->n_arms; a++) {
        double cv = ifm_checks_arm(&cell->arms[a]) ? number_of(g, cell, a, IFM_M_LATENCY_CV_PERCENT) : NAN;
        n += cv > CV_PERCENT;
        worst = cv > most ? a : worst;
        most = fmax(most, cv);
    }
    if (n == 0)
        return;
    advise(g, (struct ifm_advice){"variation", cell->name, cell->arms[worst].name,
                                  ifm_arena_printf(g->c.arena, "coefficient of variation %.3g %%, above %.3g %%%s",
                                                   most, CV_PERCENT, and_more(g, n)),
                                  against_variation(g, cell, worst)});
}

/* ---- memory ---- */

static const char *kernel_of(const struct advising *g, const struct ifm_cell *cell, const char *arm)
{
    const char *isa = "";
    IFM_EACH(event, g->c.events, check, cell->name, arm)
        isa = IFM_FACTS(event, check)->isa != NULL ? IFM_FACTS(event, check)->isa : isa;
    return isa;
}

static const char *for_memory(const struct advising *g, const struct ifm_cell *cell, size_t arm)
{
    const char *isa = kernel_of(g, cell, cell->arms[arm].name);
    struct ifm_device_facts device = ifm_device_facts_of(g->c.events, cell->name);
    int64_t allowed = ifm_fingerprint_of(g->c.events).cpus_allowed;
    if (ifm_was_loaded(g->c.events))
        return "end what else runs: it takes the memory's time too";
    if (strcmp(isa, "scalar") == 0 || strcmp(isa, "sse2") == 0)
        return ifm_arena_printf(g->c.arena, "its kernel is %s: take a wider one (--isa auto)", isa);
    if (allowed > (int64_t)cell->threads)
        return ifm_arena_printf(g->c.arena, "%u of %lld CPUs worked: --threads 0 takes all of them", cell->threads,
                                (long long)allowed);
    if (device.buffer_bytes > 0 && device.huge_page_bytes < device.buffer_bytes)
        return ifm_arena_printf(g->c.arena, "huge pages back %.0f %% of its buffers: --huge-pages, and free memory",
                                100.0 * (double)device.huge_page_bytes / (double)device.buffer_bytes);
    if (number_of(g, cell, arm, IFM_M_STEP_NS) < FEELS_JOIN_NS)
        return "more bytes in a step (longer sequences, more of them), so that starting and joining the workers costs "
               "less";
    return "its kernel has room: neither reading nor arithmetic limits it (perf shows what it waits for, of a GPU "
           "--counters)";
}

/* The largest share of a ceiling of operations; NaN where none is known. */
static double share_of_operations(const struct advising *g, const struct ifm_cell *cell, size_t arm)
{
    const struct ifm_ledger *ledger = &cell->arms[arm].ledger;
    const double known = number_of(g, cell, arm, IFM_M_CEILING_FLOPS_PERCENT);
    const double bytes = (double)ledger->bytes_read + (double)ledger->bytes_written;
    return isnan(known) && (double)ledger->flops >= INTENSE * bytes ? INFINITY : known;
}

/* How much larger a share of the read ceiling may be, of what there was of that when it was lowest. */
static double read_lowered(const struct advising *g, const struct ifm_cell *cell)
{
    const double *all = g->c.derived->read_lowered;
    return all == NULL ? 1 : all[cell - g->c.plan->cells];
}

/* The share of the read ceiling, where memory is what limits the arm, and neither arithmetic nor the ceiling itself
 * holds it back; else NaN. */
static double unused_share(const struct advising *g, const struct ifm_cell *cell, size_t arm)
{
    const double share = ifm_checks_arm(&cell->arms[arm]) ? number_of(g, cell, arm, IFM_M_CEILING_READ_PERCENT) : NAN;
    const double operations = share_of_operations(g, cell, arm);
    return share * read_lowered(g, cell) < MEMORY_PERCENT && !(operations >= MEMORY_PERCENT || operations > share)
               ? share
               : NAN;
}

static void look_at_memory(struct advising *g, const struct ifm_cell *cell)
{
    size_t n = 0, worst = 0;
    double least = MEMORY_PERCENT;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const double share = unused_share(g, cell, a);
        if (isnan(share))
            continue;
        n++;
        worst = share < least ? a : worst;
        least = fmin(least, share);
    }
    if (n == 0)
        return;
    const double lowered = read_lowered(g, cell);
    const char *to = lowered > 1 ? ifm_arena_printf(g->c.arena, " to %.3g", least * lowered) : "";
    advise(g, (struct ifm_advice){"memory", cell->name, cell->arms[worst].name,
                                  ifm_arena_printf(g->c.arena, "reads at %.3g%s %% of its ceiling, below %.3g %%%s",
                                                   least, to, MEMORY_PERCENT, and_more(g, n)),
                                  for_memory(g, cell, worst)});
}

const char *ifm_advise_memory(const struct ifm_plan *plan, const struct ifm_derived *derived,
                              const struct ifm_events *events, const struct ifm_cell *cell, const struct ifm_arm *arm,
                              struct ifm_arena *arena)
{
    const struct advising g = {.c = {.plan = plan, .derived = derived, .events = events, .arena = arena}};
    const size_t at = (size_t)(arm - cell->arms);
    return isnan(unused_share(&g, cell, at)) ? NULL : for_memory(&g, cell, at);
}

/* ---- fit ---- */

static const char *shape_of(const char *workload)
{
    static const struct {
        const char *workload, *words;
    } shapes[] = {{"decode", "fewer tokens (--kv-len) or sequences (--batch)"},
                  {"attention", "fewer sequences (--batch, or a larger --scale)"},
                  {"gemm", "smaller matrices"}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(shapes[i].workload, workload) == 0)
            return shapes[i].words;
    return "a smaller shape";
}

/* Too little of it; an illegal memory access is another matter. */
static bool lacks_memory(const char *text)
{
    return text != NULL && strstr(text, "memory") != NULL && strstr(text, "memory access") == NULL;
}

static void look_at_fit(struct advising *g, const struct ifm_cell *cell)
{
    const struct ifm_event_cell_failed *event = IFM_LAST(g->c.events, cell_failed, cell->name, NULL);
    bool failed = event != NULL && (lacks_memory(event->reason) || lacks_memory(event->remedy));
    bool unfit = lacks_memory(cell->unsupported);
    if (!failed && !unfit)
        return;
    bool copies = cell->measure.isolation != IFM_ISOLATION_SHARED;
    advise(g, (struct ifm_advice){"fit", cell->name, "", unfit ? cell->unsupported : event->reason,
                                  ifm_arena_printf(g->c.arena, "%s%s", shape_of(cell->workload),
                                                   copies ? "; --isolation shared needs less" : "")});
}

/* ---- consistency ---- */

/* A line fits a burst too: only what derive says to drift does; NULL = the arm does not. */
static const struct ifm_finding *drift_of(const struct advising *g, const struct ifm_cell *cell, size_t arm)
{
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(g->c.derived, cell->name, f)) != NULL;)
        if (f->kind == IFM_FINDING_TIME_DRIFTS && strcmp(f->arm, cell->arms[arm].name) == 0)
            return f;
    return NULL;
}

static void look_at_consistency(struct advising *g, const struct ifm_cell *cell)
{
    size_t drifting = 0, worst = 0;
    double marked = 0, blocks = 0, most = 0;
    const bool has_threads = strcmp(cell->workload, "command") != 0 && strcmp(cell->workload, "session") != 0;
    for (size_t a = 0; a < cell->n_arms; a++) {
        if (!ifm_checks_arm(&cell->arms[a]))
            continue;
        double own = number_of(g, cell, a, IFM_M_BLOCKS_MARKED), all = number_of(g, cell, a, IFM_M_BLOCKS_COUNT);
        double drift = drift_of(g, cell, a) != NULL ? fabs(number_of(g, cell, a, IFM_M_DRIFT_PERCENT)) : 0;
        if (own > DISTURBED * all && own > marked) {
            marked = own;
            blocks = all;
        }
        drifting += drift > 0;
        worst = drift > most ? a : worst;
        most = fmax(most, drift);
    }
    if (marked > 0)
        advise(g, (struct ifm_advice){
                      "consistency", cell->name, "",
                      ifm_arena_printf(g->c.arena, "%.0f of %.0f blocks disturbed by the machine", marked, blocks),
                      has_threads ? "end what else runs, or leave it a CPU (--threads)" : "end what else runs"});
    else if (drifting > 0)
        advise(g, (struct ifm_advice){
                      "consistency", cell->name, cell->arms[worst].name,
                      ifm_arena_printf(g->c.arena, "the step time drifts by %.3g %% over the pass%s",
                                       number_of(g, cell, worst, IFM_M_DRIFT_PERCENT), and_more(g, drifting)),
                      !drift_of(g, cell, worst)->of_one ? "run it again, or on a quieter machine"
                      : ifm_lock_is_possible(g->c.events)
                          ? "a longer warm-up (--warmup, --warmup-cap), locked clocks (inferometer lock)"
                          : "a longer warm-up (--warmup, --warmup-cap)"});
}

void ifm_advise(const struct ifm_plan *plan, const struct ifm_derived *derived, const struct ifm_events *events,
                struct ifm_arena *arena, struct ifm_advice **out, size_t *n)
{
    static void (*const looks[])(struct advising *, const struct ifm_cell *) = {
        look_at_variation,
        look_at_memory,
        look_at_fit,
        look_at_consistency,
    };
    struct advising g = {.c = {.plan = plan, .derived = derived, .events = events, .arena = arena}};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        for (size_t k = 0; k < plan->n_cells; k++)
            looks[i](&g, &plan->cells[k]);
    *out = g.out;
    *n = g.n;
}
