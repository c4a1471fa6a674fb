/* Several sessions of one configuration as rows: how far each number repeats. Formats only. */
#ifndef IFM_PUBLISH_SESSIONS_H
#define IFM_PUBLISH_SESSIONS_H

#include "derive/compare/sessions.h"
#include "publish/listing.h"

/* The members "repeatable", "epsilon_percent" and "sessions" (run ids) stand in the JSON form. */
struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views, size_t n,
                                        double epsilon, struct ifm_arena *arena);
/* "repeatable", "not repeatable", "not answered". */
const char *ifm_repeatable_words(enum ifm_repeatable answer);

#endif
