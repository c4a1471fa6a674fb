/* Reading facts out of run.log's events. */
#ifndef IFM_DOCUMENT_FACTS_H
#define IFM_DOCUMENT_FACTS_H

#include <jansson.h>
#include <stdbool.h>

/* `meta` of the first event of a stage, borrowed; NULL when there is none. */
const json_t *ifm_event_meta(const json_t *events, const char *stage);

/* When the run began, by the wall clock of its first event: "2026-01-31 12:00 UTC"; "" without events. */
const char *ifm_event_date(const json_t *events, char buffer[32]);

/* The data or unified cache of `level` as the system reports it, bytes; 0 when it does not. */
double ifm_event_reported_cache(const json_t *events, int level);

/* The GPU that the cell ran on; "" when it ran on none, or the journal does not say. */
const char *ifm_event_gpu(const json_t *events, const char *cell);

/* The first GPU of the run's machine, by the device that was opened or by the fingerprint, and its driver's version; ""
 * when the journal does not say. */
const char *ifm_event_gpu_name(const json_t *events);
const char *ifm_event_gpu_driver(const json_t *events);

/* The processor's model name; "" when the journal does not say. */
const char *ifm_event_machine(const json_t *events);
/* What the run measured: the GPU of a run on `device` "cuda", else the processor; "" as above. */
const char *ifm_event_measured(const json_t *events, const char *device);

#endif
