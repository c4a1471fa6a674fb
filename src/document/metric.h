/* The body of docs/definitions.md, and of `explain --markdown`: the definition of every metric as text. */
#ifndef IFM_DOCUMENT_METRIC_H
#define IFM_DOCUMENT_METRIC_H

#include "base/text.h"
#include "model/metric.h"

void ifm_metrics_markdown(struct ifm_text *out);
/* "lower", "higher", or "none: ...": why, and what to gate instead. */
void ifm_metric_better(const struct ifm_metric *metric, struct ifm_text *out);

#endif
