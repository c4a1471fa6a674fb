/* Cachegrind: valgrind's simulated caches, as an instrument. What it counts is a model's answer, the same on every
 * machine and in every run: one thread, no prefetcher, two levels of the geometry that is asked for, addresses of the
 * program itself. It says nothing of time.
 *
 * It needs a whole program under valgrind, so no pass of a run can take it along; run/simulate.h starts one for an arm.
 * Here: where valgrind is, its arguments, and the file that it writes, which is not trusted. Thread rule: no shared
 * state. */
#ifndef IFM_INSTRUMENT_CACHEGRIND_H
#define IFM_INSTRUMENT_CACHEGRIND_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A level: a power of two of sets, each with `ways` lines of `line` bytes. */
struct ifm_cachegrind_cache {
    uint64_t bytes, ways, line;
};
struct ifm_cachegrind_geometry {
    struct ifm_cachegrind_cache first, last; /* of data and of instructions alike; the last level */
};

/* In the order of its file. */
enum ifm_cachegrind_event {
    IFM_CG_INSTRUCTIONS = 0,
    IFM_CG_INSTRUCTION_MISSES_1,
    IFM_CG_INSTRUCTION_MISSES_LAST,
    IFM_CG_READS,
    IFM_CG_READ_MISSES_1,
    IFM_CG_READ_MISSES_LAST,
    IFM_CG_WRITES,
    IFM_CG_WRITE_MISSES_1,
    IFM_CG_WRITE_MISSES_LAST,
    IFM_CG_EVENTS
};
struct ifm_cachegrind_counts {
    uint64_t events[IFM_CG_EVENTS];
};

/* "1MiB,16,64": size, ways, bytes of a line. IFM_USAGE where cachegrind would simulate another one. */
IFM_CHECKED enum ifm_status ifm_cachegrind_cache_parse(const char *text, const char *where, struct ifm_arena *arena,
                                                       struct ifm_cachegrind_cache *out, struct ifm_error *error);
/* The file that running valgrind executes. IFM_MISSING, with how to install it. */
IFM_CHECKED enum ifm_status ifm_cachegrind_find(char *path, size_t size, struct ifm_error *error);
/* The words in front of the program's own, ended by NULL, in the arena. `out` = the file that it writes. */
const char **ifm_cachegrind_arguments(const char *valgrind, const struct ifm_cachegrind_geometry *geometry,
                                      const char *out, struct ifm_arena *arena);
/* The counts of a whole program from the text of that file: the summary, which must be the sum of all lines. `function`
 * NULL, or the name of a function whose own counts are wanted alone. IFM_INVALID: it is no such file, or was cut. */
IFM_CHECKED enum ifm_status ifm_cachegrind_read(const char *text, size_t size, const char *function,
                                                struct ifm_cachegrind_counts *out, struct ifm_error *error);

/* This process itself is run by valgrind, so that what it times is simulated. */
bool ifm_cachegrind_is_around(void);

#endif
