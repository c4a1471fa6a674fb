/* The GPUs of this machine and their state, as NVML reports them. Reads only.
 *
 * Each field that cannot be read is {"absent": reason, "remedy"?}; a GPU that fails is {"index", "absent", ...}, and
 * the others are still listed. UUIDs are given only as unsalted SHA-256; serial numbers are never read. The energy
 * counter is not read here, because the call takes milliseconds: src/power reads it. Source: NVML API Reference Guide
 * (NVIDIA); docs/maintain/method.md says what was seen on a real one. Thread rule: no shared state; NVML's functions
 * may be called from any thread. */
#ifndef IFM_HOST_GPU_H
#define IFM_HOST_GPU_H

#include "base/json.h"
#include "dyn/nvml.h"
#include <stdint.h>

/* ---- facts that stay: gpu.c ---- */
/* {"driver", "nvml", "cuda_driver_api", "devices": [...], "devices_sha256"} (new reference). Each device: index, name,
 * architecture, compute_capability, uuid_sha256, pcie_max {generation, width}, vbios, memory_bytes, bar1_bytes,
 * max_clock_mhz {graphics, sm, memory}, power_limit_w {default, set, enforced, min, max}, slowdown_temperature_c,
 * persistence, compute_mode, ecc {current, pending}, mig {current, pending}, nvlinks {links, active}. */
json_t *ifm_gpu_facts(const struct ifm_nvml *nvml);

/* ---- the state now: gpu_state.c ---- */
/* One object a GPU (new reference): index, measured (it is the one at PCI bus id `bus`; NULL or unknown = no such
 * member), read_ns (now on the lab's clock, minus `zero_ns`), clock_mhz {sm, memory}, pstate, temperature_c {gpu,
 * memory}, power_w, event_reasons [names], pcie {generation, width}, accumulators_from ("fields", "violation status"),
 * accumulators {name: ns}, ecc_errors {corrected, uncorrected} since the driver was loaded, remapped_rows, or
 * retired_pages, and processes {compute, graphics, foreign}. */
json_t *ifm_gpu_state(const struct ifm_nvml *nvml, const char *bus, int64_t zero_ns);

/* ---- shared by the two and by the doctor ---- */
/* The number of GPUs that NVML reports; negative = unknown. */
int ifm_gpu_count(const struct ifm_nvml *nvml);
/* Why a reading is absent, as {"absent", "remedy"?}: what NVML returned, or IFM_NVML_LACKS. */
json_t *ifm_gpu_lack(const struct ifm_nvml *nvml, int result);
/* Steals `value`: what was read, or why it was not. */
json_t *ifm_gpu_answer(const struct ifm_nvml *nvml, int result, json_t *value);
/* A reading that is one number, of a function that may be NULL; `which` one of its clocks or temperatures. */
typedef int ifm_gpu_number_fn(ifm_nvml_device device, unsigned *value);
typedef int ifm_gpu_choice_fn(ifm_nvml_device device, int which, unsigned *value);
json_t *ifm_gpu_number(const struct ifm_nvml *nvml, ifm_gpu_number_fn *function, ifm_nvml_device device);
json_t *ifm_gpu_choice(const struct ifm_nvml *nvml, ifm_gpu_choice_fn *function, ifm_nvml_device device, int which);
/* The same in watts, of milliwatts. */
json_t *ifm_gpu_watts(const struct ifm_nvml *nvml, ifm_gpu_number_fn *function, ifm_nvml_device device);
/* {"generation", "width"} of its link. */
json_t *ifm_gpu_pcie(const struct ifm_nvml *nvml, ifm_gpu_number_fn *generation, ifm_gpu_number_fn *width,
                     ifm_nvml_device device);
/* One field of nvmlDeviceGetFieldValues; its result. */
int ifm_gpu_field(const struct ifm_nvml *nvml, ifm_nvml_device device, struct ifm_nvml_field *field);
/* GPU `index`; false: `object` now says why it is absent. */
bool ifm_gpu_open(const struct ifm_nvml *nvml, unsigned index, ifm_nvml_device *device, json_t *object);
/* An array for `n` GPUs, or why there is none. */
json_t *ifm_gpu_list(int n);
/* The reasons why the clock of one GPU is reduced now (new reference), or why they are unknown. */
json_t *ifm_gpu_event_reasons(const struct ifm_nvml *nvml, ifm_nvml_device device);

#endif
