/* The body of docs/definitions.md, and of `explain --markdown`: the definition of every metric as text. */
#ifndef IFM_PUBLISH_METRIC_H
#define IFM_PUBLISH_METRIC_H

#include "base/text.h"

void ifm_metrics_markdown(struct ifm_text *out);

#endif
