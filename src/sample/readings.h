/* The raw readings of one sensor of power over the energy pass of one cell: append-only, in time order.
 *
 * One file in <run>/samples/: <cell>-power-<device>-<source>.csv
 *   t_ns,half_ns,energy_uj      of a counter: joules since its first reading, in uJ
 *   t_ns,half_ns,power_uw       of a sensor of watts, in uW
 * The quantity had that value at some time within t_ns +- half_ns, counted as the samples' times are. Integers in their
 * shortest form; times ascend (equal ones are allowed), a counter's values too. A torn last row (no newline) does not
 * count: the reader ignores it, the writer cuts it off. After an interruption a counter restarts at 0; the writer then
 * adds the file's last value, so that values never decrease.
 *
 * Thread rule: one writer. */
#ifndef IFM_SAMPLE_READINGS_H
#define IFM_SAMPLE_READINGS_H

#include "base/error.h"
#include "base/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ifm_reading {
    int64_t t_ns, half_ns;
    int64_t micro; /* uJ or uW */
};

/* ---- writing ---- */
struct ifm_readings_writer;
/* Create the file with its header, or with `resume` reopen one that is there. `joules`: a counter. */
IFM_CHECKED enum ifm_status ifm_readings_open(const char *dir, unsigned cell, const char *device, const char *source,
                                              bool joules, bool resume, struct ifm_readings_writer **out,
                                              struct ifm_error *error);
/* Append with one write; what a failed write left is cut off again. Readings that go back in time, or of a counter that
 * goes back, are left out and counted in `*left_out`. */
IFM_CHECKED enum ifm_status ifm_readings_append(struct ifm_readings_writer *writer, const struct ifm_reading *readings,
                                                size_t n, size_t *left_out, struct ifm_error *error);
/* Time of the last reading in the file; -1 without one. What is appended must not lie before it. */
int64_t ifm_readings_end_ns(const struct ifm_readings_writer *writer);
IFM_CHECKED enum ifm_status ifm_readings_sync(struct ifm_readings_writer *writer, struct ifm_error *error);
void ifm_readings_close(struct ifm_readings_writer *writer); /* NULL is allowed */
/* Rename every file of readings of the cell to <cell>-power-<device>-<source>-before-<times>.csv, as
 * ifm_recorder_set_aside does with records. `any` = there was one. Nothing is overwritten: IFM_USAGE. */
IFM_CHECKED enum ifm_status ifm_readings_set_aside(const char *dir, unsigned cell, unsigned times, bool *any,
                                                   struct ifm_error *error);

/* ---- reading ---- */
struct ifm_readings {
    bool joules;
    struct ifm_reading *list;
    size_t n;
};
/* Parse and check: header, integers and their ranges, order. IFM_INVALID names file and line; a missing file is
 * IFM_MISSING. `sha256` (may be NULL) is of all its bytes. */
IFM_CHECKED enum ifm_status ifm_readings_load(const char *dir, unsigned cell, const char *device, const char *source,
                                              struct ifm_readings *out, struct ifm_sha256 *sha256,
                                              struct ifm_error *error);
/* The same on text in memory; messages name `where`. */
IFM_CHECKED enum ifm_status ifm_readings_parse(const char *text, size_t size, const char *where,
                                               struct ifm_readings *out, struct ifm_error *error);
void ifm_readings_free(struct ifm_readings *readings); /* an empty one ({0}) is allowed */

#endif
