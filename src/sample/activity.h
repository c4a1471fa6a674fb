/* What a GPU did in the slot of a trace pass that was recorded last: samples/<cell>-trace-activity.csv.
 *
 * A row is a kernel, copy, fill, wait, call, or an end of a range: times in ns by the profiler's clock, a number that
 * joins a call with what it started, stream or thread, graph (0 = none), bytes, name without commas. The journal holds
 * the file's hash (`trace_file`). Thread rule: no shared state. */
#ifndef IFM_SAMPLE_ACTIVITY_H
#define IFM_SAMPLE_ACTIVITY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define IFM_ACTIVITY_COLUMNS "kind,start_ns,end_ns,correlation,place,graph,bytes,name"
#define IFM_ACTIVITY_HEADER "arm," IFM_ACTIVITY_COLUMNS

struct ifm_activity_line {
    unsigned arm;
    const char *kind;
    uint64_t start, end, correlation, place, graph, bytes;
    const char *name;
};

struct ifm_activity_file {
    struct ifm_activity_line *lines;
    size_t n;
};

/* One row, behind what the file wants in front of it; `numbers` in the order of the columns. */
void ifm_activity_write(FILE *file, const char *kind, const uint64_t numbers[static 6], const char *name);
char *ifm_activity_path(const char *dir, unsigned cell, struct ifm_arena *arena);
/* Parse the text of such a file in place; `with_arm`: rows begin with the number of an arm. IFM_INVALID names the line.
 */
IFM_CHECKED enum ifm_status ifm_activity_parse(char *text, const char *where, bool with_arm, struct ifm_arena *arena,
                                               struct ifm_activity_file *out, struct ifm_error *error);
/* Read, parse and hash. */
IFM_CHECKED enum ifm_status ifm_activity_read(const char *path, bool with_arm, struct ifm_arena *arena,
                                              struct ifm_activity_file *out, struct ifm_sha256 *sha256,
                                              struct ifm_error *error);

#endif
