/* Metric definitions: data/metrics/ embedded in the command. `explain` prints them, docs/definitions.md is made of
 * them.
 *
 * A file holds records separated by a blank line; a record holds `key: value` lines, a value may go on in lines that
 * start with a space. A line that starts with # is a comment. Keys, all required: id, unit, better (lower|higher|none),
 * scope (arm|cell|run), formula, source, limits, prose. */
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
/* The same on text in memory. `where` names the text; an error adds the line. Unknown, missing and repeated keys, a
 * repeated id and a word outside a key's choices are IFM_INVALID. */
IFM_CHECKED enum ifm_status ifm_metrics_parse(const char *text, size_t size, const char *where, struct ifm_arena *arena,
                                              const struct ifm_metric **out, size_t *n, struct ifm_error *error);
/* The definition of `id`, or NULL. */
const struct ifm_metric *ifm_metric_find(const struct ifm_metric *metrics, size_t n, const char *id);
/* The body of docs/definitions.md. */
IFM_CHECKED enum ifm_status ifm_metrics_markdown(struct ifm_text *out, struct ifm_error *error);
/* The same of given definitions. */
void ifm_metrics_markdown_of(const struct ifm_metric *metrics, size_t n, struct ifm_text *out);

#endif
