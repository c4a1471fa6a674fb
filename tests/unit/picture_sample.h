/* Pictures of a record in memory, for the tests of pictures and of the figures that they make. */
#ifndef TESTS_UNIT_PICTURE_SAMPLE_H
#define TESTS_UNIT_PICTURE_SAMPLE_H

#include "rules/fixture.h"

#include "derive/picture/picture.h"

struct drawn {
    const struct ifm_record *records[FX_CELLS];
    struct ifm_facts_view facts;
    struct ifm_picture *pictures;
};

/* After fx_derive. */
static inline void draw_pictures(struct fixture *fx, struct drawn *d)
{
    struct ifm_error error = {0};
    for (size_t c = 0; c < FX_CELLS; c++)
        d->records[c] = fx->parts[c].has_record ? &fx->parts[c].record : NULL;
    d->facts = (struct ifm_facts_view){
        .plan = &fx->plan, .events = events_of(fx->events, fx->arena), .records = d->records, .max_passes = 1};
    if (ifm_derive_pictures(&d->facts, fx->derived, fx->arena, &d->pictures, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

/* Sets the clock of the first cell anew, without gaps between samples: what follows a longer sample starts later. */
static inline void set_clock(struct fixture *fx)
{
    struct ifm_record *r = &fx->parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        r->slots[k].start_ns = now;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i].start_ns = now;
            now += r->samples[i].duration_ns;
        }
        r->slots[k].end_ns = now;
        now += 500;
    }
}

/* Changes the measured samples of an arm: `factor` from the fraction `from` on, of each one in `every`. */
static inline void scale_samples(struct fixture *fx, size_t arm, double from, size_t every, double factor)
{
    struct ifm_record *r = &fx->parts[0].record;
    size_t seen = 0, all = fx->blocks * 2 * fx->samples;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            if (r->slots[k].arm != arm || r->slots[k].phase != IFM_PHASE_MEASURE)
                continue;
            if ((double)seen >= from * (double)all && seen % every == 0)
                r->samples[i].duration_ns = (int64_t)((double)r->samples[i].duration_ns * factor);
            seen++;
        }
    set_clock(fx);
}

/* Marks the measured block number `which` of the first cell: `percent` of its first slot were stolen. */
static inline void disturb(struct fixture *fx, unsigned which, double percent)
{
    struct ifm_record *r = &fx->parts[0].record;
    size_t per_block = 2 * fx->cells[0].n_arms, k = (fx->warmup_blocks + which) * per_block;
    r->columns[k * FX_COLUMNS] = (int64_t)(percent / 100 * (double)(r->slots[k].end_ns - r->slots[k].start_ns));
}

#endif
