/* What the writer and the reader of a record share: headers, names, and the rules that rows obey.
 *
 * Private to src/sample. Both use the same rules, so that whatever is written can be read. A rule returns NULL when it
 * holds, else a sentence. */
#ifndef IFM_SAMPLE_RECORD_PRIVATE_H
#define IFM_SAMPLE_RECORD_PRIVATE_H

#include "sample/append.h"
#include "sample/record.h"
#include <stdbool.h>

#define IFM_SAMPLES_HEADER "slot,start_ns,duration_ns"
#define IFM_SLOTS_HEADER "block,phase,arm,samples,inner,start_ns,end_ns"
#define IFM_SLOT_FIELDS 7

/* "<dir>/samples/<cell>-<pass><suffix>", malloc'd. The suffix of the samples is ".csv", of the slots "-slots.csv". */
char *ifm_record_path(const char *dir, unsigned cell, const char *pass, const char *suffix);
/* The header row of the slots file with its newline, malloc'd. */
char *ifm_slots_header(const char *const *columns, size_t n_columns);
/* Parse the slots file alone, without its samples and without the rule of the last block's size. */
IFM_CHECKED enum ifm_status ifm_record_parse_slots(const char *text, size_t size, const char *where,
                                                   struct ifm_record *out, struct ifm_error *error);

/* ---- rows as text ---- */

enum {
    IFM_SAMPLE_ROW = 20 + 1 + 20 + 1 + 20 + 1,  /* longest row of the samples file */
    IFM_SLOT_ROW = 5 * (10 + 1) + 2 * (20 + 1), /* ... of the slots file, before the columns */
    IFM_SLOT_COLUMN = 20 + 1,
};

/* The longest text of a block in either file. */
static inline size_t ifm_record_block_bytes(size_t n_slots, size_t n_samples, size_t n_columns)
{
    size_t slots = n_slots * (IFM_SLOT_ROW + n_columns * IFM_SLOT_COLUMN), samples = n_samples * IFM_SAMPLE_ROW;
    return slots > samples ? slots : samples;
}

/* Both return the end of what they wrote. */
char *ifm_record_put_samples(char *at, uint64_t first_slot, const struct ifm_slot *slots, size_t n_slots,
                             const struct ifm_sample *samples);
char *ifm_record_put_slot(char *at, const struct ifm_slot *slot, size_t n_columns);

/* The value of the chain before the first block, and after one more. */
struct ifm_sha256 ifm_record_chain_start(const char *slots_header);
struct ifm_sha256 ifm_record_chain_end(const struct ifm_record *record); /* behind the last block */
void ifm_record_chain_step(struct ifm_sha256 *chain, const struct ifm_sha256 *samples, const struct ifm_sha256 *slots);

#define IFM_RECORD_LIMIT ((size_t)1 << 34) /* largest file that is read, bytes */
#define IFM_RECORD_COLUMNS 4096            /* of instruments, in a slots file */

/* The state of blocks while slots are read one by one. Starts as {0}. */
struct ifm_block_walk {
    bool any;
    uint32_t block, phase;
    size_t slots;             /* of the block that is open */
    size_t slots_per_block;   /* of measured blocks; 0 = not known yet */
    size_t slots_per_warm_up; /* likewise */
    size_t slots_per_round;   /* of ceilings; likewise */
};

/* A measured block has one row of slots or two, a warm-up block one. Call it when a block ends. */
static inline const char *ifm_block_end(struct ifm_block_walk *walk)
{
    if (!walk->any)
        return NULL;
    size_t *known = walk->phase == IFM_PHASE_CEILING  ? &walk->slots_per_round
                    : walk->phase == IFM_PHASE_WARMUP ? &walk->slots_per_warm_up
                                                      : &walk->slots_per_block;
    if (*known == 0)
        *known = walk->slots;
    size_t row = walk->slots_per_warm_up, block = walk->slots_per_block;
    bool fits = row == 0 || block == 0 || block == row || block == 2 * row;
    return fits && walk->slots == *known ? NULL : "the block that ends here has more or fewer slots than its kind has";
}

static inline const char *ifm_block_step(struct ifm_block_walk *walk, const struct ifm_slot *slot)
{
    if (slot->phase > IFM_PHASE_CEILING)
        return "the phase is neither 0 (warm-up) nor 1 (measure) nor 2 (ceilings)";
    if (walk->any && slot->block == walk->block) {
        walk->slots++;
        return slot->phase == walk->phase ? NULL : "the phase changes inside a block";
    }
    const char *problem = ifm_block_end(walk);
    if (problem != NULL)
        return problem;
    if (slot->block != (walk->any ? walk->block + 1 : 0))
        return "the block number is neither the last one nor the one after it";
    walk->any = true;
    walk->block = slot->block;
    walk->phase = slot->phase;
    walk->slots = 1;
    return NULL;
}

struct ifm_recorder {
    struct ifm_append samples, slots;
    size_t n_columns;
    struct ifm_block_walk walk;
    uint64_t next_slot;
    int64_t end_ns; /* of the last slot; 0 without one */
    struct ifm_sha256 chain;
    char *buffer; /* one block of one file, as text */
    size_t capacity;
};

/* Check the names and open both files, with `flags` added to open(2)'s. */
IFM_CHECKED enum ifm_status ifm_recorder_open(const char *dir, unsigned cell, const char *pass,
                                              const char *const *columns, size_t n_columns, int flags,
                                              struct ifm_recorder **out, struct ifm_error *error);

/* `earliest_ns`: the end of the slot before, 0 for the first. */
static inline const char *ifm_slot_rule(const struct ifm_slot *slot, int64_t earliest_ns)
{
    if (slot->samples == 0)
        return "the slot has no samples";
    if (slot->inner == 0)
        return "inner is 0: a sample has at least one step";
    if (slot->start_ns < earliest_ns)
        return "time goes backwards: the slot starts before the one before it ends";
    if (slot->end_ns < slot->start_ns)
        return "time goes backwards: the slot ends before it starts";
    return NULL;
}

/* `earliest_ns`: the end of the sample before, the start of the slot for its first. Written without a sum of
 * times, which might overflow. */
static inline const char *ifm_sample_rule(const struct ifm_sample *sample, const struct ifm_slot *slot,
                                          int64_t earliest_ns)
{
    if (sample->duration_ns < 0)
        return "the duration is negative";
    if (sample->start_ns < slot->start_ns || sample->start_ns > slot->end_ns)
        return "the sample starts outside its slot";
    if (sample->start_ns < earliest_ns)
        return "time goes backwards: the sample starts before the one before it ends";
    if (sample->duration_ns > slot->end_ns - sample->start_ns)
        return "the sample ends after its slot";
    return NULL;
}

#endif
