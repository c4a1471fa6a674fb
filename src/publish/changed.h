/* Whether a run changed against another: a sentence that answers, and the few rows that it rests on. Formats only;
 * every number and every word is derive's. All rows with all notes are those of publish/comparison.h. */
#ifndef IFM_PUBLISH_CHANGED_H
#define IFM_PUBLISH_CHANGED_H

#include "publish/comparison.h"

/* Of one run against its reference; the sentences stand before the table, in the order of the calls. `several`: of many
 * runs each row names its own. */
struct ifm_listing ifm_changed_begin(struct ifm_arena *arena);
void ifm_changed_add(struct ifm_listing *listing, const struct ifm_comparison_runs *runs,
                     const struct ifm_between *between, bool several, struct ifm_text *sentences);

#endif
