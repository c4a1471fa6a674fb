/* Pictures of a record: buckets of time, outliers, changes, trend, and the ratios of blocks.
 *
 * What a number of derive is of (blocks, their logarithms, change points, the trend) is taken from the code that makes
 * that number; here it is only placed on the axis of time and thinned. */
#include "derive/picture/picture_bins.h"

#include <math.h>
#include <string.h>

/* The warm-up keeps its shape: it has buckets of its own, also where it is a thousandth of the samples. Where not each
 * sample can be shown, a bucket holds about so many or more, since few say little of a spread. */
enum { WARMUP_BUCKETS = 40, FEW_BUCKETS = 60, WORTH_A_BUCKET = 6 };

/* One picture in the making. */
struct sitter {
    const struct ifm_cell_work *work;
    const struct ifm_derived *derived;
    struct ifm_arena *arena, *scratch;
};

static const struct ifm_value *value_of(const struct sitter *s, const char *arm, enum ifm_metric_id metric)
{
    return ifm_derived_value(s->derived, s->work->cell->name, arm, metric);
}

static bool is_given(const struct sitter *s, const char *arm, enum ifm_metric_id metric)
{
    return ifm_is_ok(value_of(s, arm, metric));
}

/* ---- buckets ---- */

/* The samples of an arm, of its warm-up or of the rest, cut into buckets of `per`; a bucket ends where these do, so
 * that what a resumed run did before and after stays apart. */
struct cut {
    const struct ifm_record *record;
    size_t arm;
    bool warm;
    size_t per;
    bool whole; /* warm-ups that come again do not end a bucket: there are too many of them */
};

static bool is_warm(const struct ifm_slot *slot)
{
    return slot->phase == IFM_PHASE_WARMUP;
}

static bool is_of(const struct cut *cut, const struct ifm_slot *slot)
{
    return is_warm(slot) == cut->warm && slot->arm == cut->arm && slot->inner > 0;
}

/* How many buckets the cut makes. */
static size_t count_buckets(const struct cut *cut)
{
    size_t buckets = 0, pending = 0;
    for (size_t k = 0; k < cut->record->n_slots; k++) {
        const struct ifm_slot *slot = &cut->record->slots[k];
        if (is_of(cut, slot)) {
            pending += cut->record->first[k + 1] - cut->record->first[k];
        } else if (is_warm(slot) != cut->warm && !cut->whole) {
            buckets += (pending + cut->per - 1) / cut->per;
            pending = 0;
        }
    }
    return buckets + (pending + cut->per - 1) / cut->per;
}

static size_t count_samples(const struct cut *cut)
{
    size_t n = 0;
    for (size_t k = 0; k < cut->record->n_slots; k++)
        if (is_of(cut, &cut->record->slots[k]))
            n += cut->record->first[k + 1] - cut->record->first[k];
    return n;
}

/* The fewest samples to a bucket with which at most `room` are made. */
static void fit(struct cut *cut, size_t n, size_t room)
{
    cut->per = n > room ? (n + room - 1) / room : 1;
    size_t least = cut->per;
    while (count_buckets(cut) > room) {
        cut->per += 1 + cut->per / 8;
        if (cut->per > n && count_buckets(cut) > room) {
            cut->whole = true;
            cut->per = least;
        }
    }
}

static void close_bucket(struct ifm_picture_arm *out, double *values, double *scratch)
{
    struct ifm_picture_bucket *bucket = &out->buckets[out->n_buckets];
    if (bucket->n == 0)
        return;
    bucket->low = bucket->high = values[0];
    for (size_t i = 1; i < bucket->n; i++) {
        bucket->low = fmin(bucket->low, values[i]);
        bucket->high = fmax(bucket->high, values[i]);
    }
    bucket->median = ifm_picture_median(values, bucket->n, scratch);
    out->n_buckets++;
}

static void fill_buckets(const struct cut *cut, struct ifm_arena *scratch, struct ifm_picture_arm *out)
{
    const struct ifm_record *record = cut->record;
    double *values = IFM_ARENA_ARRAY(scratch, double, cut->per), *spare = IFM_ARENA_ARRAY(scratch, double, cut->per);
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        if (is_warm(slot) != cut->warm && !cut->whole)
            close_bucket(out, values, spare);
        if (!is_of(cut, slot))
            continue;
        for (size_t i = record->first[k]; i < record->first[k + 1]; i++) {
            struct ifm_picture_bucket *bucket = &out->buckets[out->n_buckets];
            const struct ifm_sample *sample = &record->samples[i];
            if (bucket->n == 0)
                bucket->start_ns = sample->start_ns;
            bucket->end_ns = sample->start_ns + sample->duration_ns;
            values[bucket->n++] = (double)sample->duration_ns / (double)slot->inner;
            if (bucket->n == cut->per)
                close_bucket(out, values, spare);
        }
    }
    close_bucket(out, values, spare);
}

static void draw_buckets(const struct sitter *s, const struct ifm_arm_work *arm, struct ifm_picture_arm *out)
{
    struct cut warm = {.record = s->work->record, .arm = arm->index, .warm = true};
    struct cut rest = {.record = s->work->record, .arm = arm->index};
    size_t n_warm = count_samples(&warm), n_rest = count_samples(&rest);
    bool all_fit = n_warm + n_rest <= IFM_PICTURE_BUCKETS;
    size_t room = n_rest / WORTH_A_BUCKET > FEW_BUCKETS ? n_rest / WORTH_A_BUCKET : FEW_BUCKETS;
    out->buckets = IFM_ARENA_ARRAY(s->arena, struct ifm_picture_bucket, IFM_PICTURE_BUCKETS + 1);
    fit(&warm, n_warm, all_fit ? n_warm : WARMUP_BUCKETS);
    fill_buckets(&warm, s->scratch, out);
    out->n_warmup_buckets = out->n_buckets;
    size_t left = IFM_PICTURE_BUCKETS - out->n_warmup_buckets;
    fit(&rest, n_rest, all_fit || room > left ? left : room);
    fill_buckets(&rest, s->scratch, out);
}

/* ---- measured samples in time order ---- */

struct series {
    double *x; /* time of a step */
    size_t n;
    size_t *slots, *before; /* the arm's measured slots, and how many samples precede each */
    size_t n_slots;
};

static struct series series_of(const struct sitter *s, const struct ifm_arm_work *arm)
{
    const struct ifm_record *record = s->work->record;
    struct series series = {.x = IFM_ARENA_ARRAY(s->scratch, double, arm->n_samples + 1),
                            .slots = IFM_ARENA_ARRAY(s->scratch, size_t, arm->n_slots + 1),
                            .before = IFM_ARENA_ARRAY(s->scratch, size_t, arm->n_slots + 1)};
    struct cut cut = {.record = record, .arm = arm->index};
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        if (!is_of(&cut, slot))
            continue;
        series.slots[series.n_slots] = k;
        series.before[series.n_slots++] = series.n;
        for (size_t i = record->first[k]; i < record->first[k + 1]; i++)
            series.x[series.n++] = (double)record->samples[i].duration_ns / (double)slot->inner;
    }
    return series;
}

/* When the measured sample number `at` of the arm began; at < n. */
static int64_t time_of(const struct ifm_record *record, const struct series *series, size_t at)
{
    size_t low = 0, high = series->n_slots;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (series->before[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return record->samples[record->first[series->slots[low]] + at - series->before[low]].start_ns;
}

/* What outliers_count counts lies further from the median than anything else: those are the `count` furthest, and the
 * first of them are drawn. */
static void draw_outliers(const struct sitter *s, const struct series *series, double median, size_t count,
                          struct ifm_picture_arm *out)
{
    size_t picked[IFM_PICTURE_OUTLIERS], n = 0, nearest = 0;
    size_t room = count < IFM_PICTURE_OUTLIERS ? count : IFM_PICTURE_OUTLIERS;
    double least = 0;
    for (size_t i = 0; i < series->n && room > 0; i++) {
        double off = fabs(series->x[i] - median);
        if (n == room && !(off > least))
            continue;
        picked[n < room ? n++ : nearest] = i;
        least = INFINITY;
        for (size_t k = 0; k < n; k++) {
            double here = fabs(series->x[picked[k]] - median);
            nearest = here < least ? k : nearest;
            least = fmin(least, here);
        }
    }
    for (size_t k = 1; k < n; k++) /* in time order again */
        for (size_t j = k; j > 0 && picked[j - 1] > picked[j]; j--) {
            size_t later = picked[j - 1];
            picked[j - 1] = picked[j];
            picked[j] = later;
        }
    out->outliers = IFM_ARENA_ARRAY(s->arena, struct ifm_picture_outlier, n + 1);
    out->n_outliers = n;
    for (size_t k = 0; k < n; k++)
        out->outliers[k] =
            (struct ifm_picture_outlier){time_of(s->work->record, series, picked[k]), series->x[picked[k]]};
}

static void draw_changes(const struct sitter *s, const struct ifm_arm_work *arm, const struct series *series,
                         struct ifm_picture_arm *out)
{
    const struct ifm_value *changes = value_of(s, arm->arm->name, IFM_M_CHANGE_POINTS);
    if (!ifm_is_ok(changes) || !(changes->number > 0))
        return;
    size_t *before;
    size_t n = ifm_derive_change_points(arm, s->scratch, &before);
    out->changes = IFM_ARENA_ARRAY(s->arena, int64_t, n + 1);
    for (size_t k = 0; k < n; k++)
        if (before[k] < series->n)
            out->changes[out->n_changes++] = time_of(s->work->record, series, before[k]);
}

static void draw_trend(const struct sitter *s, const struct ifm_arm_work *arm, const struct series *series,
                       struct ifm_picture_arm *out)
{
    struct ifm_slope line;
    size_t n;
    double *mid = IFM_ARENA_ARRAY(s->scratch, double, s->work->n_blocks + 1);
    if (series->n == 0 || !is_given(s, arm->arm->name, IFM_M_DRIFT_PERCENT) ||
        ifm_derive_trend(arm, mid, &n, &line) != IFM_STAT_OK)
        return;
    double first = (double)time_of(s->work->record, series, 0);
    double last = (double)time_of(s->work->record, series, series->n - 1);
    out->drift_start = exp(line.intercept + line.slope * first);
    out->drift_end = exp(line.intercept + line.slope * last);
}

static void draw_ratios(const struct sitter *s, const struct ifm_arm_work *arm, struct ifm_picture_arm *out)
{
    const struct ifm_cell_work *work = s->work;
    if (!ifm_derive_is_compared(arm) || !is_given(s, arm->arm->name, IFM_M_CHANGE_PERCENT))
        return;
    out->ratios = IFM_ARENA_ARRAY(s->arena, double, work->n_blocks + 1);
    out->ratio_blocks = IFM_ARENA_ARRAY(s->arena, size_t, work->n_blocks + 1);
    out->n_ratios = ifm_pair_logs(work->baseline, arm, NULL, out->ratios, NULL);
    for (size_t k = 0; k < out->n_ratios; k++)
        out->ratios[k] = exp(out->ratios[k]);
    for (size_t b = 0, k = 0, measured = 0; b < work->n_blocks && k < out->n_ratios; b++) {
        if (work->baseline->present[b] && arm->present[b])
            out->ratio_blocks[k++] = measured;
        measured += !work->is_round[b];
    }
}

static void draw_arm(struct sitter *s, const struct ifm_arm_work *arm, struct ifm_picture_arm *out)
{
    const char *name = arm->arm->name;
    const struct ifm_value *step = value_of(s, name, IFM_M_STEP_NS),
                           *outliers = value_of(s, name, IFM_M_OUTLIERS_COUNT);
    out->arm = arm->arm;
    out->n_samples = arm->n_samples;
    out->withheld = step == NULL ? "no step time was derived" : step->state == IFM_STATE_OK ? "" : step->reason;
    if (!ifm_is_ok(step) || s->work->record == NULL)
        return;
    s->scratch = ifm_arena_create();
    struct series series = series_of(s, arm);
    double *spare = IFM_ARENA_ARRAY(s->scratch, double, series.n + 1);
    memcpy(spare, series.x, series.n * sizeof *spare);
    draw_buckets(s, arm, out);
    double median = ifm_picture_bins(spare, series.n, 1.0 / (double)arm->inner_high, s->arena, out);
    if (ifm_is_ok(outliers))
        draw_outliers(s, &series, median, (size_t)outliers->number, out);
    draw_changes(s, arm, &series, out);
    draw_trend(s, arm, &series, out);
    draw_ratios(s, arm, out);
    ifm_arena_destroy(s->scratch);
}

/* ---- the cell ---- */

static void draw_blocks(const struct sitter *s, struct ifm_picture *out)
{
    const struct ifm_record *record = s->work->record;
    out->blocks = IFM_ARENA_ARRAY(s->arena, struct ifm_picture_block, s->work->n_measured + 1);
    size_t from = 0, b = 0;
    for (size_t k = 0; k < record->n_slots && b < s->work->n_blocks; k++) {
        const struct ifm_slot *slot = &record->slots[k], *next = slot + 1;
        if (is_warm(slot)) {
            from = k + 1;
            continue;
        }
        if (k + 1 < record->n_slots && next->phase == slot->phase && next->block == slot->block)
            continue;
        bool marked = s->work->marked[b];
        if (!s->work->is_round[b++]) {
            const uint32_t number = (uint32_t)out->n_blocks + 1;
            out->blocks[out->n_blocks++] =
                (struct ifm_picture_block){number, record->slots[from].start_ns, slot->end_ns, marked,
                                           marked ? ifm_derive_mark_cause(record, from, k + 1, s->arena) : ""};
        }
        from = k + 1;
    }
}

static void draw_warmups(const struct sitter *s, struct ifm_picture *out)
{
    const struct ifm_record *record = s->work->record;
    size_t capacity = 0;
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        if (slot->phase != IFM_PHASE_WARMUP)
            continue;
        if (k == 0 || slot[-1].phase != IFM_PHASE_WARMUP) {
            IFM_ARENA_GROW(s->arena, out->warmups, out->n_warmups, capacity);
            out->warmups[out->n_warmups++].start_ns = slot->start_ns;
        }
        out->warmups[out->n_warmups - 1].end_ns = slot->end_ns;
    }
}

static void draw_cell(struct sitter *s, struct ifm_picture *out)
{
    const struct ifm_cell_work *work = s->work;
    out->cell = work->cell;
    out->arms = IFM_ARENA_ARRAY(s->arena, struct ifm_picture_arm, work->cell->n_arms + 1);
    if (work->record != NULL && work->record->n_slots > 0) {
        out->start_ns = work->record->slots[0].start_ns;
        out->end_ns = work->record->slots[work->record->n_slots - 1].end_ns;
        draw_blocks(s, out);
        draw_warmups(s, out);
    }
    for (size_t a = 0; a < work->cell->n_arms; a++)
        draw_arm(s, &work->arms[a], &out->arms[a]);
}

enum ifm_status ifm_derive_pictures(const struct ifm_facts_view *facts, const struct ifm_derived *derived,
                                    struct ifm_arena *arena, struct ifm_picture **out, struct ifm_error *error)
{
    size_t n_cells = facts->plan->n_cells;
    struct ifm_derivation d = {.plan = facts->plan, .facts = facts, .arena = arena};
    d.out = IFM_ARENA_NEW(arena, struct ifm_derived);
    d.cells = IFM_ARENA_ARRAY(arena, struct ifm_cell_work, n_cells + 1);
    *out = IFM_ARENA_ARRAY(arena, struct ifm_picture, n_cells + 1);
    if (facts->events == NULL)
        return ifm_fail(error, IFM_INVALID, "run.log", NULL, "there is no journal");
    IFM_TRY(ifm_derive_read(&d, error));
    for (size_t c = 0; c < n_cells; c++) {
        struct sitter s = {.work = &d.cells[c], .derived = derived, .arena = arena};
        draw_cell(&s, &(*out)[c]);
    }
    return IFM_OK;
}
