/* The fake device: a scripted clock, so that the whole pipeline runs without hardware or noise.
 *
 * Its clock advances only when a step is "run": `ifm_fake_advance` adds the scripted duration of the arm
 * that is running. The script is text, `key=value` pairs separated by ';', e.g.
 *   "step_ns=1000; noise=0.01; drift=0.0; ar=0.0; arm.slow.step_ns=2000; die_after_slots=17"
 * step_ns: median duration of a step; noise: standard deviation of ln(duration) per sample; slot_noise: the same
 * per slot; slow: share of samples that take slow_times as long; drift: relative change over 1e9 ns of fake time; ar:
 * lag-1 autocorrelation of the noise; warmup: relative excess of an arm's first step, decaying over 50 steps; mark_ns:
 * what a mark costs (20); die_after_slots=N: raise SIGKILL when the N-th hold starts (crash tests; not again in a
 * resumed run). `arm.<name>.<key>` overrides one arm, for every key but those of the whole device. Beside the time a
 * script can hold what instruments and checks read: l2_hit: share of the L2 accesses of a step (1000) that hit;
 * energy_j: energy of a step, which varies with its duration; idle_w, limit_w, energy_period_ns (of the whole device):
 * what its energy sensor is said to idle at, to be limited to, and how often it speaks; cpu_khz: the clock; steal:
 * share of a slot that the hypervisor took; steal_slots: the share of slots that it took it of, drawn by the seed,
 * whose steps then last that much longer (1, the default: of all, and none lasts longer); quality: score of the arm's
 * check, in percent; error: its relative error against an oracle. What is not scripted is absent. A flush takes 1 ms. A
 * "sample" of the noise is one call of ifm_fake_advance, a "slot" one hold. Deterministic for a seed. */
#ifndef IFM_DEVICE_FAKE_H
#define IFM_DEVICE_FAKE_H

#include "device/device.h"
#include <stdint.h>

/* Called by a workload's step when it runs on the fake device: advance the clock by `steps` scripted steps of `arm`. */
void ifm_fake_advance(struct ifm_device *device, const char *arm, uint64_t steps);
bool ifm_device_is_fake(const struct ifm_device *device);

/* The scripted columns, of all steps since the last hold: IFM_ABSENT where the script does not give them for the arm
 * that ran. */
enum ifm_fake_column {
    IFM_FAKE_L2_HITS,
    IFM_FAKE_L2_ACCESSES,
    IFM_FAKE_ENERGY_UJ,
    IFM_FAKE_CPU_KHZ,
    IFM_FAKE_STEAL_NS,
    IFM_FAKE_COLUMNS
};
void ifm_fake_columns(struct ifm_device *device, int64_t *values);
/* Whether a script gives any of these columns to any arm; false for one that cannot be parsed. */
bool ifm_fake_script_has_columns(const char *script);
/* IFM_USAGE: the script cannot be parsed. */
IFM_CHECKED enum ifm_status ifm_fake_script_check(const char *script, struct ifm_error *error);
/* The scripted facts of the energy sensor; below zero = not scripted. False when the script has none of them. */
bool ifm_fake_energy(const struct ifm_device *device, double *idle_w, double *limit_w, double *period_ns);
/* The scripted outcome of the arm's check; below zero = not scripted. */
void ifm_fake_check(struct ifm_device *device, const char *arm, double *quality_percent, double *error_rel);

#endif
