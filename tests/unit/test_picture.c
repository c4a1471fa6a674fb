/* Pictures hold what the record holds: every sample once, every extreme, and the very things that derive's numbers are
 * of. Each is held against a plain computation over the record. */
#include "unit/picture_sample.h"

#include "unit/facts.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The samples of an arm in a phase, in time order: time of a step, and the start. Free them. */
struct plain {
    double *x;
    int64_t *start;
    size_t n;
};

static struct plain plain_of(const struct fixture *fx, size_t arm, uint32_t phase)
{
    const struct ifm_record *r = &fx->parts[0].record;
    struct plain p = {calloc(r->n_samples + 1, sizeof(double)), calloc(r->n_samples + 1, sizeof(int64_t)), 0};
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
            if (r->slots[k].arm == arm && r->slots[k].phase == phase) {
                p.start[p.n] = r->samples[i].start_ns;
                p.x[p.n++] = (double)r->samples[i].duration_ns / r->slots[k].inner;
            }
    return p;
}

static void plain_free(struct plain *p)
{
    free(p->x);
    free(p->start);
}

static double median_of(const double *x, size_t n)
{
    double *sorted = malloc(n * sizeof *sorted);
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    double median = n % 2 == 1 ? sorted[n / 2] : sorted[n / 2 - 1] + 0.5 * (sorted[n / 2] - sorted[n / 2 - 1]);
    free(sorted);
    return median;
}

/* Each bucket against the samples that it must hold: the next ones of its phase. */
static void hold_buckets(const struct ifm_picture_bucket *buckets, size_t n, const struct plain *p)
{
    size_t at = 0;
    for (size_t k = 0; k < n; k++) {
        const struct ifm_picture_bucket *b = &buckets[k];
        assert_true(b->n > 0 && at + b->n <= p->n);
        double low = INFINITY, high = 0;
        for (size_t i = at; i < at + b->n; i++) {
            low = fmin(low, p->x[i]);
            high = fmax(high, p->x[i]);
        }
        assert_true(b->start_ns == p->start[at] && b->end_ns >= p->start[at + b->n - 1]);
        assert_true(k == 0 || buckets[k - 1].end_ns <= b->start_ns);
        assert_true(b->low == low && b->high == high && b->median == median_of(p->x + at, b->n));
        at += b->n;
    }
    assert_int_equal(at, p->n);
}

static void hold_bins(const struct ifm_picture_arm *arm, const struct plain *p)
{
    size_t n = arm->n_bins, bins[IFM_PICTURE_BINS] = {0}, below = 0, above = 0;
    assert_true(n >= 1 && n <= IFM_PICTURE_BINS);
    for (size_t k = 0; k < n; k++)
        assert_true(arm->edges[k] < arm->edges[k + 1]);
    for (size_t i = 0; i < p->n; i++) {
        size_t k = 0;
        below += p->x[i] < arm->edges[0];
        above += p->x[i] > arm->edges[n];
        if (p->x[i] < arm->edges[0] || p->x[i] > arm->edges[n])
            continue;
        while (k + 1 < n && p->x[i] >= arm->edges[k + 1])
            k++;
        bins[k]++;
    }
    assert_int_equal(arm->below, below);
    assert_int_equal(arm->above, above);
    for (size_t k = 0; k < n; k++) {
        if (arm->bins[k] != bins[k])
            fail_msg("bin %zu of %zu holds %zu, not %zu", k, n, arm->bins[k], bins[k]);
        below += bins[k];
    }
    assert_int_equal(below + above, arm->n_samples);
    assert_true(arm->below <= p->n / 100 + 1 && arm->above <= p->n / 100 + 1);
}

static void hold_outliers(const struct fixture *fx, const struct ifm_picture_arm *arm, const struct plain *p)
{
    size_t count = (size_t)fx_value(fx, arm->arm->name, "outliers_count")->number, further = 0;
    double median = median_of(p->x, p->n), nearest = INFINITY;
    assert_int_equal(arm->n_outliers, count < IFM_PICTURE_OUTLIERS ? count : IFM_PICTURE_OUTLIERS);
    for (size_t k = 0; k < arm->n_outliers; k++) {
        size_t i = 0;
        while (i < p->n && p->start[i] != arm->outliers[k].start_ns)
            i++;
        assert_true(i < p->n && p->x[i] == arm->outliers[k].step_ns);
        assert_true(k == 0 || arm->outliers[k].start_ns > arm->outliers[k - 1].start_ns);
        nearest = fmin(nearest, fabs(p->x[i] - median));
    }
    for (size_t i = 0; i < p->n; i++)
        further += fabs(p->x[i] - median) > nearest;
    assert_true(arm->n_outliers == 0 || further < arm->n_outliers);
}

static void hold_arm(const struct fixture *fx, const struct ifm_picture_arm *arm, size_t index)
{
    struct plain warm = plain_of(fx, index, IFM_PHASE_WARMUP), rest = plain_of(fx, index, IFM_PHASE_MEASURE);
    assert_string_equal(arm->withheld, "");
    assert_int_equal(arm->n_samples, rest.n);
    assert_true(arm->n_buckets <= IFM_PICTURE_BUCKETS && arm->n_warmup_buckets <= arm->n_buckets);
    hold_buckets(arm->buckets, arm->n_warmup_buckets, &warm);
    hold_buckets(arm->buckets + arm->n_warmup_buckets, arm->n_buckets - arm->n_warmup_buckets, &rest);
    if (warm.n + rest.n <= IFM_PICTURE_BUCKETS)
        assert_int_equal(arm->n_buckets, warm.n + rest.n);
    hold_bins(arm, &rest);
    hold_outliers(fx, arm, &rest);
    plain_free(&warm);
    plain_free(&rest);
}

static void a_picture_holds_every_sample(void **state)
{
    (void)state;
    static const struct {
        unsigned blocks, samples, warmup_blocks;
        uint32_t inner;
        double noise, scale;
        size_t every;
    } table[] = {{12, 20, 1, 1, 0.01, 1, 1},   {6, 3, 1, 1, 0.05, 1, 1},    {7, 1, 0, 1, 0.3, 1, 1},
                 {12, 40, 1, 1, 0.01, 9, 20},  {12, 40, 3, 4, 0.2, 30, 3},  {30, 200, 2, 1, 1.5, 1, 1},
                 {12, 6, 0, 1, 0.01, 100, 70}, {9, 333, 40, 7, 0, 1, 1},    {12, 20, 1, 1, 0, 2, 2},
                 {6, 10, 2, 1, 0.001, 0.1, 5}, {40, 250, 1, 1, 0.01, 1, 1}, {6, 12, 1, 1, 0.02, 1, 1}};
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++)
        for (unsigned seed = 0; seed < 5; seed++) {
            struct fixture fx;
            struct drawn d;
            fx_start(&fx);
            fx.seed = 900 + seed;
            fx.blocks = table[t].blocks;
            fx.samples = table[t].samples;
            fx.warmup_blocks = table[t].warmup_blocks;
            fx.inner = table[t].inner;
            fx.noise = table[t].noise;
            fx_generate(&fx);
            scale_samples(&fx, 1, 0, table[t].every, table[t].scale);
            fx_end_events(&fx);
            fx_derive(&fx);
            draw_pictures(&fx, &d);
            assert_ptr_equal(d.pictures[0].cell, &fx.cells[0]);
            for (size_t a = 0; a < 2; a++)
                hold_arm(&fx, &d.pictures[0].arms[a], a);
            fx_stop(&fx);
        }
}

/* Samples that are all alike lie in the middle of one bin of a tick. */
static void a_constant_has_one_narrow_bin(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.noise = 0;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture_arm *arm = &d.pictures[0].arms[0];
    assert_int_equal(arm->n_bins, 1);
    assert_true(arm->edges[0] < 100000 && arm->edges[0] >= 99999);
    assert_true(fabs(arm->edges[0] + arm->edges[1] - 200000) < 1e-6);
    fx_stop(&fx);
}

/* The block ratios are those that the comparison is made of: their geometric mean is the speed-up. */
static void ratios_are_those_of_the_comparison(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.parts[0].step_ns[1] = 80000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture_arm *other = &d.pictures[0].arms[1];
    assert_int_equal(d.pictures[0].arms[0].n_ratios, 0);
    assert_int_equal(other->n_ratios, fx.blocks);
    double sum = 0;
    for (size_t k = 0; k < other->n_ratios; k++) {
        assert_int_equal(other->ratio_blocks[k], k);
        sum += log(other->ratios[k]);
    }
    double speedup = fx_value(&fx, "other", "speedup")->number, time[2] = {0, 0};
    const struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; r->slots[k].phase == IFM_PHASE_MEASURE && i < r->first[k + 1]; i++)
            time[r->slots[k].arm] += (double)r->samples[i].duration_ns;
    assert_true(fabs(time[0] / time[1] / speedup - 1) < 1e-12);
    assert_true(speedup > 1.2 && fabs(exp(sum / fx.blocks) / speedup - 1) < 1e-4); /* a ratio of means, not of blocks */
    fx_stop(&fx);
}

/* What may not be compared has no ratios either. */
static void refused_comparisons_have_no_ratios(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.parts[0].arms[1].ledger.tokens_generated = 4; /* rule 12: another amount of work */
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-12");
    assert_int_equal(d.pictures[0].arms[1].n_ratios, 0);
    assert_true(d.pictures[0].arms[1].n_buckets > 0);
    fx_stop(&fx);
}

static void marked_blocks_are_those_of_derive(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx_generate(&fx);
    disturb(&fx, 3, 12);
    disturb(&fx, 4, 4); /* too little */
    disturb(&fx, 7, 50);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture *picture = &d.pictures[0];
    const struct ifm_record *r = &fx.parts[0].record;
    size_t marked = 0;
    assert_int_equal(picture->n_blocks, fx.blocks);
    for (size_t b = 0; b < picture->n_blocks; b++) {
        const struct ifm_picture_block *block = &picture->blocks[b];
        size_t first = 4 * (b + fx.warmup_blocks);
        assert_int_equal(block->block, b + fx.warmup_blocks);
        assert_true(block->start_ns == r->slots[first].start_ns && block->end_ns == r->slots[first + 3].end_ns);
        assert_facts(block->cause, b == 3 ? "stolen time 12 %" : b == 7 ? "stolen time 50 %" : "");
        assert_int_equal(block->marked, b == 3 || b == 7);
        marked += block->marked;
    }
    assert_true((double)marked == fx_value(&fx, "base", "blocks_marked")->number);
    assert_true(picture->start_ns == r->slots[0].start_ns && picture->end_ns == r->slots[r->n_slots - 1].end_ns);
    assert_int_equal(picture->n_warmups, 1);
    assert_true(picture->warmups[0].start_ns == picture->start_ns);
    assert_true(picture->warmups[0].end_ns == r->slots[3].end_ns);
    fx_stop(&fx);
}

static void changes_are_those_that_are_counted(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.samples = 700; /* above what change points look at one by one */
    fx_generate(&fx);
    scale_samples(&fx, 1, 0.5, 1, 1.1);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    assert_string_equal(fx_value(&fx, "other", "change_points")->text, "slow-down: after 8400 of 16800 samples");
    struct plain p = plain_of(&fx, 1, IFM_PHASE_MEASURE);
    assert_int_equal(d.pictures[0].arms[1].n_changes, 1);
    assert_true(d.pictures[0].arms[1].changes[0] == p.start[8400]);
    assert_int_equal(d.pictures[0].arms[0].n_changes, 0);
    plain_free(&p);
    fx_stop(&fx);
}

/* Both ends lie on the line whose rise over the blocks' middles is the drift. */
static void the_trend_is_that_of_the_drift(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.drift = 0.2;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture_arm *arm = &d.pictures[0].arms[0];
    struct plain p = plain_of(&fx, 0, IFM_PHASE_MEASURE);
    const struct ifm_record *r = &fx.parts[0].record;
    double middle[2] = {0}; /* of the first and the last block */
    for (size_t k = 4; k < r->n_slots; k++)
        if (r->slots[k].arm == 0 && (k < 8 || k + 4 >= r->n_slots))
            middle[k >= 8] += 0.25 * (double)(r->slots[k].start_ns + r->slots[k].end_ns);
    double rise = log1p(fx_value(&fx, "base", "drift_percent")->number / 100) / (middle[1] - middle[0]);
    double drawn = log(arm->drift_end / arm->drift_start) / (double)(p.start[p.n - 1] - p.start[0]);
    assert_true(rise > 0 && fabs(drawn / rise - 1) < 1e-9);
    assert_true(fabs(arm->drift_start / 100000 - 1) < 0.05);
    plain_free(&p);
    fx_stop(&fx);
}

/* An arm whose step time a rule withholds, and a cell without a record: the reason, and nothing drawn. */
static void what_is_withheld_is_not_drawn(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx_add_cell(&fx, "lost", "decode");
    fx_add_arm(&fx, 1, "base", IFM_ROLE_BASELINE, 100000);
    fx_generate_cell(&fx, 0);
    fx.parts[0].arms[1].feature = "staging"; /* rule 11: never said to have run */
    fx_event(&fx, "feature",
             json_pack("{s:s, s:s, s:s, s:i}", "cell", "decode", "arm", "other", "feature", "staging", "runs", 0));
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture_arm *other = &d.pictures[0].arms[1], *lost = &d.pictures[1].arms[0];
    assert_true(fx_value(&fx, "other", "step_ns")->state != IFM_STATE_OK);
    assert_string_equal(other->withheld, fx_value(&fx, "other", "step_ns")->reason);
    assert_true(other->n_buckets == 0 && other->n_bins == 0 && other->n_ratios == 0 && other->n_outliers == 0);
    assert_string_equal(d.pictures[0].arms[0].withheld, "");
    assert_true(d.pictures[0].arms[0].n_buckets > 0);
    assert_true(lost->withheld[0] != '\0' && lost->n_buckets == 0 && d.pictures[1].n_blocks == 0);
    assert_true(d.pictures[1].start_ns == 0 && d.pictures[1].end_ns == 0);
    fx_stop(&fx);
}

/* A resumed run warms up again: no bucket reaches over that. */
static void a_resumed_run_has_two_warm_ups(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.cells[0].n_arms = 1;
    fx.samples = 53; /* no multiple of a bucket */
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 10; k < 12; k++)
        r->slots[k].phase = IFM_PHASE_WARMUP;
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture *picture = &d.pictures[0];
    const struct ifm_picture_arm *arm = &picture->arms[0];
    assert_int_equal(picture->n_warmups, 2);
    assert_true(picture->warmups[1].start_ns == r->slots[10].start_ns);
    assert_true(picture->warmups[1].end_ns == r->slots[11].end_ns);
    assert_true(picture->warmups[0].end_ns == r->slots[1].end_ns);
    hold_arm(&fx, arm, 0);
    for (size_t k = 0; k < arm->n_buckets; k++) {
        bool before = arm->buckets[k].end_ns <= r->slots[10].start_ns;
        bool behind = arm->buckets[k].start_ns >= r->slots[12].start_ns;
        bool within =
            arm->buckets[k].start_ns >= r->slots[10].start_ns && arm->buckets[k].end_ns <= r->slots[11].end_ns;
        assert_true(before || behind || within);
    }
    fx_stop(&fx);
}

/* A run that stops at every other block: phases no longer part buckets, and each sample is still in one. */
static void phases_without_end_fit_a_picture(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.cells[0].n_arms = 1;
    fx.blocks = 399;
    fx.samples = 3;
    fx_generate(&fx);
    for (size_t k = 0; k < fx.parts[0].record.n_slots; k++)
        fx.parts[0].record.slots[k].phase = k / 2 % 2 == 0 ? IFM_PHASE_WARMUP : IFM_PHASE_MEASURE;
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    assert_int_equal(d.pictures[0].n_warmups, 200);
    assert_int_equal(d.pictures[0].n_blocks, 200);
    assert_true(d.pictures[0].arms[0].n_buckets > IFM_PICTURE_BUCKETS / 2);
    hold_arm(&fx, &d.pictures[0].arms[0], 0);
    fx_stop(&fx);
}

/* A clock of 40 ns: no bin between two that hold samples is empty because no sample can lie there. */
static void a_coarse_clock_makes_no_comb(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.samples = 200;
    fx.parts[0].step_ns[0] = 4000;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t i = 0; i < r->n_samples; i++)
        r->samples[i].duration_ns = 40 * ((r->samples[i].duration_ns + 20) / 40);
    set_clock(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture_arm *arm = &d.pictures[0].arms[0];
    hold_arm(&fx, arm, 0);
    assert_true(arm->n_bins >= 3);
    for (size_t k = 0; k < arm->n_bins; k++) {
        assert_true(arm->bins[k] > 0 && arm->edges[k + 1] - arm->edges[k] > 39.9);
        assert_true(fabs(remainder(arm->edges[k] - 20, 40)) < 1e-6);
    }
    fx_stop(&fx);
}

/* Equal samples are one bin around them. */
static void equal_samples_are_one_bin(void **state)
{
    (void)state;
    struct fixture fx;
    struct drawn d;
    fx_start(&fx);
    fx.noise = 0;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    draw_pictures(&fx, &d);
    const struct ifm_picture_arm *arm = &d.pictures[0].arms[0];
    assert_true(arm->n_bins == 1 && arm->bins[0] == arm->n_samples && arm->edges[0] < 100000);
    assert_true(arm->edges[1] > 100000 && arm->n_outliers == 0 && arm->below + arm->above == 0);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_holds_every_sample),       cmocka_unit_test(a_constant_has_one_narrow_bin),
        cmocka_unit_test(ratios_are_those_of_the_comparison), cmocka_unit_test(refused_comparisons_have_no_ratios),
        cmocka_unit_test(marked_blocks_are_those_of_derive),  cmocka_unit_test(changes_are_those_that_are_counted),
        cmocka_unit_test(the_trend_is_that_of_the_drift),     cmocka_unit_test(what_is_withheld_is_not_drawn),
        cmocka_unit_test(a_resumed_run_has_two_warm_ups),     cmocka_unit_test(phases_without_end_fit_a_picture),
        cmocka_unit_test(a_coarse_clock_makes_no_comb),       cmocka_unit_test(equal_samples_are_one_bin),
    };
    return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
