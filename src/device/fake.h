/* The fake device: a scripted clock, so that the whole pipeline runs without hardware or noise.
 *
 * Its clock advances only when a step is "run": `ifm_fake_advance` adds the scripted duration of the arm
 * that is running. The script is text, `key=value` pairs separated by ';', e.g.
 *   "step_ns=1000; noise=0.01; drift=0.0; ar=0.0; arm.slow.step_ns=2000; die_after_slots=17"
 * step_ns: median duration of a step; noise: standard deviation of ln(duration) per sample; slot_noise: the same
 * per slot; drift: relative change over 1e9 ns of fake time; ar: lag-1 autocorrelation of the noise; warmup: relative
 * excess of an arm's first step, decaying over 50 steps; mark_ns: what a mark costs (20); die_after_slots=N: raise
 * SIGKILL when the N-th hold starts (crash tests; not again in a resumed run). `arm.<name>.<key>` overrides one arm,
 * for every key but the last two. A flush takes 1 ms. A "sample" of the noise is one call of ifm_fake_advance, a
 * "slot" one hold. Deterministic for a seed. */
#ifndef IFM_DEVICE_FAKE_H
#define IFM_DEVICE_FAKE_H

#include "device/device.h"
#include <stdint.h>

/* Called by a workload's step when it runs on the fake device: advance the clock by `steps` scripted steps of `arm`. */
void ifm_fake_advance(struct ifm_device *device, const char *arm, uint64_t steps);
bool ifm_device_is_fake(const struct ifm_device *device);

#endif
