/* The raw record of one cell and pass: append-only, in time order, whole blocks.
 *
 * Two files in <run>/samples/:
 *   <cell>-<pass>.csv        slot,start_ns,duration_ns           one row a sample
 *   <cell>-<pass>-slots.csv  block,phase,arm,samples,inner,start_ns,end_ns,<instrument columns>
 * Row k of the slots file (from 0) is slot k; its samples are the next `samples`
 * rows of the first file. An empty field of an instrument is an absent value, never
 * zero. Times count from the start of the run, also in a run that was resumed.
 *
 * Blocks count from 0, warm-up blocks and rounds of ceilings too. A measured block has
 * slots_per_block slots (twice its arms, or once), a warm-up block has one slot an arm; a
 * round has a slot of each ceiling.
 * Warm-up may take several blocks, and a resumed run warms up again, so that
 * warm-up blocks may follow measured ones. A block is written samples first, slots
 * second, each with one write; it counts only when its last slot row is complete,
 * so a torn tail is recognised and cut off.
 *
 * Integers stand in their shortest form, so that reading and writing a record
 * again gives the same bytes.
 *
 * This module must never alter, sort or drop a sample. Thread rule: one writer. */
#ifndef IFM_SAMPLE_RECORD_H
#define IFM_SAMPLE_RECORD_H

#include "base/error.h"
#include "base/hash.h"
#include "model/facts.h"
#include <stddef.h>
#include <stdint.h>

enum ifm_phase {
    IFM_PHASE_WARMUP = 0,
    IFM_PHASE_MEASURE = 1,
    IFM_PHASE_CEILING = 2 /* a round of the ceilings that a cell takes along */
};

struct ifm_sample {
    int64_t start_ns, duration_ns; /* the duration is of `inner` steps, the slot's */
};

struct ifm_slot {
    uint32_t block; /* counts warm-up blocks too */
    uint32_t phase; /* enum ifm_phase */
    uint32_t arm;   /* index into the cell's arms */
    uint32_t samples;
    uint32_t inner;           /* steps in a sample */
    int64_t start_ns, end_ns; /* of the timed part of the slot */
    const int64_t *columns;   /* n_columns of the record */
};

/* ---- writing ---- */
struct ifm_recorder;

/* Create the two files with their header rows, and <run>/samples/ when it is missing. A file that exists already is
 * IFM_USAGE. */
IFM_CHECKED enum ifm_status ifm_recorder_create(const char *dir, unsigned cell, const char *pass,
                                                const char *const *columns, size_t n_columns, struct ifm_recorder **out,
                                                struct ifm_error *error);
/* Reopen for append after an interruption: cut both files back to the last whole block whose samples are all there, and
 * report the next block number and the time at which the record ends (0 and 0 when nothing is whole). A missing or
 * empty file, or one that ends inside its header, gets its header. Anything that an interruption cannot cause (a wrong
 * header, a bad row before the tail, a block of another size) is IFM_INVALID, and nothing is cut. */
IFM_CHECKED enum ifm_status ifm_recorder_resume(const char *dir, unsigned cell, const char *pass,
                                                const char *const *columns, size_t n_columns, size_t slots_per_block,
                                                size_t slots_per_warm_up, size_t slots_per_round,
                                                struct ifm_recorder **out, uint32_t *next_block, int64_t *end_ns,
                                                struct ifm_error *error);
/* Append one block: all its slots, in order; samples holds the samples of all its slots, in slot order. A block that
 * the reader would refuse is IFM_INTERNAL and is not written. When a write fails (IFM_INTERNAL: what and where) both
 * files are cut back to the last whole block, and the recorder can go on. */
IFM_CHECKED enum ifm_status ifm_recorder_append(struct ifm_recorder *recorder, const struct ifm_slot *slots,
                                                size_t n_slots, const struct ifm_sample *samples, size_t n_samples,
                                                struct ifm_error *error);
/* The value of the chain (below) behind the last block. */
const struct ifm_sha256 *ifm_recorder_chain(const struct ifm_recorder *recorder);
IFM_CHECKED enum ifm_status ifm_recorder_sync(struct ifm_recorder *recorder, struct ifm_error *error);
void ifm_recorder_close(struct ifm_recorder *recorder); /* NULL is allowed */
/* Rename what there is of the two files to <cell>-<pass>-before-<times>[-slots].csv: they stay in the folder as they
 * are, and are no longer the record. `any` = there was one. Nothing is overwritten: IFM_USAGE. */
IFM_CHECKED enum ifm_status ifm_recorder_set_aside(const char *dir, unsigned cell, const char *pass, unsigned times,
                                                   bool *any, struct ifm_error *error);

/* ---- reading ---- */
struct ifm_record {
    struct ifm_slot *slots;
    size_t n_slots;
    struct ifm_sample *samples;
    size_t n_samples;
    size_t *first;    /* first[k] = index of slot k's first sample; first[n_slots] = n_samples */
    int64_t *columns; /* n_slots x n_columns; slots[k].columns points into it */
    char **column_names;
    size_t n_columns;
};
/* Parse and check both files: headers, integers and their ranges, numbers of fields and rows, no torn last row, block
 * numbers, phases and block sizes, time order (a slot starts at or after the end of the one before, a sample likewise
 * inside its slot), samples and inner not 0. IFM_INVALID names file and line. */
IFM_CHECKED enum ifm_status ifm_record_load(const char *dir, unsigned cell, const char *pass, struct ifm_record *out,
                                            struct ifm_error *error);
/* The same on text in memory; messages name "<where>.csv" and "<where>-slots.csv". On failure `out` is empty. */
IFM_CHECKED enum ifm_status ifm_record_parse(const char *samples, size_t samples_size, const char *slots,
                                             size_t slots_size, const char *where, struct ifm_record *out,
                                             struct ifm_error *error);
void ifm_record_free(struct ifm_record *record); /* an empty record ({0}) is allowed */

/* ---- the chain ---- */
/* A hash chain over the blocks of a record: its value behind a block is the SHA-256 of its value before it and of the
 * hashes of the block's rows in both files, in hexadecimal; it starts with the hash of the header rows. The journal
 * holds the value behind each block, so that no block can be changed, removed or put in in these files alone. */
size_t ifm_record_count_blocks(const struct ifm_record *record); /* warm-up blocks too */
/* The values behind every block: values[ifm_record_count_blocks()]. */
void ifm_record_chain(const struct ifm_record *record, struct ifm_sha256 *values);

#endif
