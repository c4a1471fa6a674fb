/* Two stamps of a GPU's multiprocessors -> cycles and time between them: the real mean clock.
 *
 * The driver's own reading of the clock is of one moment, and misleads at the power cap: it said 1980 MHz of an H200
 * that ran at 1760 (docs/maintain/energy.md). A counter of cycles may be reset when its multiprocessor sleeps, and
 * blocks may land on other multiprocessors the second time; so each is held against itself alone and against what is
 * possible, and the median is taken. Pure; no CUDA here. */
#ifndef IFM_DEVICE_STAMP_H
#define IFM_DEVICE_STAMP_H

#include "kernel/cuda/stamp.h"
#include <stddef.h>

/* Shorter, and the timer's tick would be worth more than a quarter of a percent. */
enum { IFM_STAMP_LEAST_NS = 400000 };

/* `n` stamps each; `most_khz`: the highest clock that the GPU has, 0 = not known. "" and the cycles and nanoseconds of
 * the multiprocessor whose clock is the median; or why there are none (static storage), and both are IFM_ABSENT. */
const char *ifm_stamp_between(const struct ifm_stamp *first, const struct ifm_stamp *second, size_t n,
                              unsigned most_khz, int64_t *cycles, int64_t *span_ns);

#endif
