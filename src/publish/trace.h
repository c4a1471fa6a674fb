/* Rows of a trace as events that Chrome's trace viewer and Perfetto open. Thread rule: no shared state. */
#ifndef IFM_PUBLISH_TRACE_H
#define IFM_PUBLISH_TRACE_H

#include "base/text.h"
#include "sample/activity.h"
#include <stdbool.h>

/* `first`: no event was written yet; a process for each arm, from `process` on. Times count from each arm's first row.
 * `names` of the `n` arms. */
void ifm_trace_events(const struct ifm_activity_file *file, unsigned process, const char *const *names, size_t n,
                      bool *first, struct ifm_text *out);
void ifm_trace_begin(struct ifm_text *out);
void ifm_trace_end(struct ifm_text *out);

#endif
