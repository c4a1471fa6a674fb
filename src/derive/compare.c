/* Comparisons: each variant against the baseline of its cell, paired by block. */
#include "derive/internal.h"

#include "stats/sequential.h"
#include <math.h>
#include <string.h>

/* Arms whose mean clocks differ by more than this share are not compared (rule 8). */
#define CLOCK_BAND 0.02

struct comparison {
    size_t n;
    struct ifm_log_mean mean; /* of ln(time of arm / time of baseline) */
    struct ifm_interval at95, at90;
    const char *word;
};

/* Faster or slower when the 95 % interval lies wholly beyond the margin; equivalent when the 90 % interval lies wholly
 * inside it (two one-sided tests at 5 %); else undecided. */
static const char *decide(const struct comparison *c, double margin)
{
    double edge = log1p(margin);
    if (c->at95.high < -edge)
        return "faster";
    if (c->at95.low > edge)
        return "slower";
    if (c->at90.low > -edge && c->at90.high < edge)
        return "equivalent";
    return "undecided";
}

/* The level at which an interval of n blocks is computed to hold at `level`: wider where the run looked as it went. */
static double level_over_looks(const struct ifm_cell_work *work, double level, size_t n)
{
    const struct ifm_measure *measure = &work->cell->measure;
    if (measure->stop == IFM_STOP_GROUP && n > 0)
        (void)!ifm_stats_sequential_level(level, n, measure->blocks_max, &level);
    return level;
}

static bool compare(const struct ifm_cell_work *work, const struct ifm_arm_work *arm, bool unmarked,
                    struct comparison *out)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    *out = (struct comparison){.n = ifm_pair_logs(work, arm, work->baseline, unmarked, logs, NULL)};
    bool made = ifm_log_mean_of(logs, out->n, hypot(arm->quantum, work->baseline->quantum), &out->mean) &&
                ifm_log_mean_interval(&out->mean, level_over_looks(work, 0.95, out->n), &out->at95) &&
                ifm_log_mean_interval(&out->mean, level_over_looks(work, 0.90, out->n), &out->at90);
    ifm_arena_destroy(scratch);
    if (made)
        out->word = decide(out, work->cell->measure.margin);
    return made;
}

static struct ifm_value change_value(const struct comparison *c, const char *word)
{
    struct ifm_value value = ifm_value_real(100.0 * expm1(c->mean.mean), (int64_t)c->n, "blocks");
    ifm_value_bracket(&value, 100.0 * expm1(c->at95.low), 100.0 * expm1(c->at95.high), IFM_LEVEL);
    value.text = word;
    return value;
}

/* The effect that this many blocks of this noise would show with 80 % probability at the 5 % level. */
static struct ifm_value mde_value(const struct comparison *c)
{
    double t975, t80, df = c->mean.n_effective - 1.0;
    if (ifm_stats_t_quantile(0.975, df, &t975) != IFM_STAT_OK || ifm_stats_t_quantile(0.8, df, &t80) != IFM_STAT_OK)
        return ifm_value_absent("no quantile of t for these blocks", "", (int64_t)c->n, "blocks");
    return ifm_value_real(100.0 * expm1((t975 + t80) * c->mean.sd / sqrt(c->mean.n_effective)), (int64_t)c->n,
                          "blocks");
}

/* How many times fewer bytes or operations the arm has than the baseline: what its design can explain; 0 = no ledger.
 */
static double explained(const struct ifm_arm *base, const struct ifm_arm *arm)
{
    double best = 0.0;
    static const enum ifm_ceiling kinds[] = {IFM_CEILING_COPY, IFM_CEILING_FLOPS};
    for (size_t i = 0; i < 2; i++) {
        double a = ifm_ceiling_amount(base, kinds[i]), b = ifm_ceiling_amount(arm, kinds[i]);
        if (a > 0 && b > 0)
            best = fmax(best, a / b);
    }
    return best;
}

/* How near the baseline was to a ceiling, as words; NULL when no ceiling was measured beside it. */
static const char *baseline_share(struct ifm_derivation *d, const struct ifm_cell_work *work)
{
    const struct ifm_arm_work *base = work->baseline, *ceiling;
    struct ifm_log_mean read = {0}, flops = {0};
    bool has_read = !base->cache_resident && ifm_ceiling_share(work, base, IFM_CEILING_READ, &read, &ceiling);
    bool has_flops = ifm_ceiling_share(work, base, IFM_CEILING_FLOPS, &flops, &ceiling);
    if (!has_read && !has_flops)
        return NULL;
    bool by_read = has_read && (!has_flops || read.mean >= flops.mean);
    return ifm_arena_printf(d->arena, "baseline at %.1f %% of its %s ceiling",
                            100.0 * exp(by_read ? read.mean : flops.mean), by_read ? "read" : "flops");
}

/* Rule 3: a speed-up beyond the byte and FLOP ratio tells of the baseline's weakness; it is shown only with it. */
static struct ifm_value speedup_value(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                      const struct ifm_arm_work *arm, const struct comparison *c)
{
    struct ifm_value value = ifm_value_real(exp(-c->mean.mean), (int64_t)c->n, "blocks");
    ifm_value_bracket(&value, exp(-c->at95.high), exp(-c->at95.low), IFM_LEVEL);
    double ratio = explained(work->baseline->arm, arm->arm);
    if (ratio == 0.0 || value.low <= fmax(1.0, ratio) * (1.0 + work->cell->measure.margin))
        return value;
    const char *share = baseline_share(d, work);
    if (share == NULL) {
        const char *reason = ifm_arena_printf(
            d->arena,
            "a speed-up of %.3g is beyond the byte and FLOP ratio %.3g, and no ceiling shows how weak the baseline is",
            value.number, ratio);
        value = ifm_value_refused(d->arena, "rule-03", reason);
        value.remedy = "take ceilings along (ceilings: read, flops)";
    } else {
        value.text = share;
    }
    ifm_derive_find_fault(
        d, IFM_SEVERITY_NOTE, "rule-03", work->cell->name, arm->arm->name,
        "the speed-up is beyond the byte and FLOP ratio %.3g of the two arms (%s): it is not the gain of "
        "moving or computing less",
        ratio, share != NULL ? share : "no ceiling was measured");
    return value;
}

static void emit_absent(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                        struct ifm_value value)
{
    ifm_derive_emit(d, work, arm, IFM_M_CHANGE, value);
    ifm_derive_emit(d, work, arm, IFM_M_SPEEDUP, value);
    ifm_derive_emit(d, work, arm, IFM_M_MDE, value);
}

/* Rule 2: the decision must be the same without the blocks that the machine disturbed. */
static const char *word_without_marked(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                       const struct ifm_arm_work *arm, const struct comparison *all)
{
    if (work->n_marked == 0)
        return all->word;
    struct comparison rest;
    bool made = compare(work, arm, true, &rest);
    ifm_derive_emit(d, work, arm, IFM_M_CHANGE_WITHOUT_MARKED,
                    made ? change_value(&rest, rest.word)
                         : ifm_value_absent(ifm_needs_blocks(d->arena, rest.n), "", (int64_t)rest.n, "blocks"));
    if (!made) {
        ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-02", work->cell->name, arm->arm->name,
                              "%zu of %zu blocks are marked as disturbed by the machine; too few are left to check the "
                              "decision without them",
                              work->n_marked, work->n_blocks);
        return all->word;
    }
    if (strcmp(rest.word, all->word) == 0)
        return all->word;
    ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-02", work->cell->name, arm->arm->name,
                          "%s over all blocks but %s without the %zu that the machine disturbed: undecided", all->word,
                          rest.word, work->n_marked);
    return "undecided";
}

/* Mean clock of the CPU over the arm's measured slots, kHz; 0 where it was not read back in each of them. */
static double mean_clock_khz(const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    const struct ifm_record *record = work->record;
    int column = ifm_derive_column(record, "cpu_khz");
    double sum = 0.0;
    size_t n = 0;
    for (size_t k = 0; column >= 0 && k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arm->index)
            continue;
        if (slot->columns[column] == IFM_ABSENT)
            return 0.0;
        sum += (double)slot->columns[column];
        n++;
    }
    return n == 0 ? 0.0 : sum / (double)n;
}

/* Rule 8, observed locks: where the arms ran at different clocks, the difference belongs to the operating point. */
static const char *word_with_clocks(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                    const struct ifm_arm_work *arm, const char *word)
{
    double own = mean_clock_khz(work, arm), base = mean_clock_khz(work, work->baseline);
    if (own <= 0.0 || base <= 0.0) {
        if (work->cell->measure.locks == IFM_LOCKS_REQUIRED)
            return word; /* the locks themselves are read back */
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "rule-08", work->cell->name, arm->arm->name,
                              "the clocks of this arm and of its baseline could not be read back and compared");
        return word;
    }
    if (fabs(own / base - 1.0) <= CLOCK_BAND)
        return word;
    ifm_derive_find_fault(
        d, IFM_SEVERITY_WARNING, "rule-08", work->cell->name, arm->arm->name,
        "the arm ran at %.0f MHz and its baseline at %.0f MHz, more than %.0f %% apart: undecided, as "
        "the difference belongs to the clock",
        own / 1000.0, base / 1000.0, 100.0 * CLOCK_BAND);
    return "undecided";
}

/* The amount of work that two arms disagree on, as words; NULL when they deliver the same. */
static const char *other_amount(struct ifm_derivation *d, const struct ifm_arm *arm, const struct ifm_arm *base)
{
    const struct ifm_ledger *a = &arm->ledger, *b = &base->ledger;
    const struct {
        uint64_t own, base;
        const char *what;
    } amounts[] = {{a->tokens_generated, b->tokens_generated, "generated tokens"},
                   {a->tokens_prompt, b->tokens_prompt, "prompt tokens"},
                   {a->rows, b->rows, "rows"}};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        if (amounts[i].own != amounts[i].base)
            return ifm_arena_printf(d->arena,
                                    "a step of %s does %llu %s and one of the baseline %llu: a ratio of their times "
                                    "compares no speeds",
                                    arm->name, (unsigned long long)amounts[i].own, amounts[i].what,
                                    (unsigned long long)amounts[i].base);
    return NULL;
}

/* Rule 12: what is compared must have done the same work. Another amount of it is refused; the same amount by another
 * computation, whose outputs nothing holds to be equal, is said. A lossy arm has its error beside it (rule 10). */
static bool did_the_same(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    const struct ifm_arm *own = arm->arm, *base = work->baseline->arm;
    const char *amount = other_amount(d, own, base);
    if (amount != NULL) {
        struct ifm_value refused = ifm_value_refused(d->arena, "rule-12", amount);
        refused.remedy = "compare their rates, or give both arms the same shape";
        emit_absent(d, work, arm, refused);
        ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-12", work->cell->name, own->name, "%s", amount);
        return false;
    }
    if (!own->lossy && memcmp(&own->ledger, &base->ledger, sizeof own->ledger) != 0)
        ifm_derive_find_fault(
            d, IFM_SEVERITY_NOTE, "rule-12", work->cell->name, own->name,
            "the arm and its baseline compute different things (their bytes or operations differ, and "
            "no output is held to be equal): two workloads are compared, not two implementations");
    return true;
}

static bool is_compared(const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    return work->baseline != NULL && arm != work->baseline && arm->is_variant && !ifm_derive_is_cache_probe(arm->arm) &&
           arm->arm->ceiling == work->baseline->arm->ceiling;
}

void ifm_derive_comparison(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    if (!is_compared(work, arm))
        return;
    const char *broken = work->record == NULL  ? work->missing
                         : arm->broken != NULL ? arm->broken
                                               : work->baseline->broken;
    if (work->record == NULL || broken != NULL) {
        emit_absent(d, work, arm, ifm_value_absent(broken, work->remedy, 0, "blocks"));
        return;
    }
    if (!did_the_same(d, work, arm))
        return;
    struct comparison c;
    if (!compare(work, arm, false, &c)) {
        emit_absent(d, work, arm,
                    ifm_value_absent(ifm_needs_blocks(d->arena, c.n), "measure more blocks (measure.blocks_min)",
                                     (int64_t)c.n, "blocks"));
        return;
    }
    const char *word = word_with_clocks(d, work, arm, word_without_marked(d, work, arm, &c));
    ifm_derive_emit(d, work, arm, IFM_M_CHANGE, change_value(&c, word));
    ifm_derive_emit(d, work, arm, IFM_M_SPEEDUP, speedup_value(d, work, arm, &c));
    ifm_derive_emit(d, work, arm, IFM_M_MDE, mde_value(&c));
}
