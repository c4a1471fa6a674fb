/* What helps against a cause, in words that can be typed where there is something to type. Pure; thread rule: no shared
 * state. */
#ifndef IFM_DOCUMENT_REMEDY_H
#define IFM_DOCUMENT_REMEDY_H

#include "document/document.h"

/* `of`: the rule of a cause, or "". A session has no flags: `session`, NULL where that is the same. `otherwise`:
 * what is left where clocks cannot be locked on the machine of the run. */
struct ifm_remedy {
    const char *of, *command, *session, *otherwise;
};

/* Its text for this run. */
const char *ifm_remedy_in(const struct ifm_remedy *remedy, const struct ifm_publication *from);
/* The option that measures more blocks of the cell: "a larger --repeats" where these ended it, else "a longer --cap".
 */
const char *ifm_remedy_of_few(const struct ifm_publication *from, const char *cell);
/* "--repeats 12", which holds as many blocks as an interval needs; else "measure more blocks, with a larger --repeats".
 */
const char *ifm_remedy_more_blocks(const struct ifm_publication *from, const char *name, struct ifm_arena *arena);
/* What the kind of the finding behind a cause (NULL = none is) asks for, else what most often helps against what its
 * rule finds; "" = the cause names an option itself. */
const char *ifm_remedy_for(const char *cause, const char *rule, const struct ifm_finding *finding,
                           const struct ifm_publication *from, struct ifm_arena *arena);
/* What measures for longer: twice as long. */
const char *ifm_remedy_longer(const struct ifm_publication *from, struct ifm_arena *arena);

#endif
