/* Metric definitions: data/metrics/ embedded in the command. `explain` prints them, docs/definitions.md is made of them.
 *
 * A file holds records separated by a blank line; a record holds `key: value` lines, a value may go on in lines that
 * start with a space. Keys: id, unit, better (lower|higher|none), scope (arm|cell|run), formula, source, limits, prose. */
#ifndef IFM_PUBLISH_METRIC_H
#define IFM_PUBLISH_METRIC_H

#include "base/arena.h"
#include "base/text.h"

struct ifm_metric {
    const char *id, *unit, *better, *scope, *formula, *source, *limits, *prose;
};

/* All definitions in file order; parsed once from the embedded text into `arena`. */
IFM_CHECKED enum ifm_status ifm_metrics_load(struct ifm_arena *arena, const struct ifm_metric **out, size_t *n,
                                             struct ifm_error *error);
/* The body of docs/definitions.md. */
IFM_CHECKED enum ifm_status ifm_metrics_markdown(struct ifm_text *out, struct ifm_error *error);

#endif
