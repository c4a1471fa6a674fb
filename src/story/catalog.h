/* What planning needs besides the configuration: shared by prepare.c, which plans for this machine, and replan.c, which
 * plans again for the machine that was recorded. */
#ifndef IFM_STORY_CATALOG_H
#define IFM_STORY_CATALOG_H

#include "config/config.h"
#include "model/catalog.h"

#if defined(__x86_64__)
#define IFM_STORY_ARCH "x86_64"
#elif defined(__aarch64__)
#define IFM_STORY_ARCH "aarch64"
#else
#define IFM_STORY_ARCH "other"
#endif

/* The device of a resolved configuration: "cpu". */
const char *ifm_story_device(const struct ifm_config *config);
/* The most threads that a value of device.threads asks for; 0 as soon as one value wants every CPU. */
unsigned ifm_story_threads(const struct ifm_study *study);
/* The workloads and instruments of this build for `machine`. `own` replaces the workloads; NULL = the registry's.
 * Everything lives in the arena. */
void ifm_story_catalog(const struct ifm_config *config, const struct ifm_machine *machine,
                       const struct ifm_workload_entry *own, struct ifm_arena *arena, struct ifm_catalog *out);

#endif
