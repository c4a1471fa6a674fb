/* Several sessions of one configuration as rows: how far each number repeats. Formats only. */
#ifndef IFM_PUBLISH_SESSIONS_H
#define IFM_PUBLISH_SESSIONS_H

#include "derive/compare/sessions.h"
#include "publish/listing.h"

/* The members "repeatable", "speedups", "epsilon_percent", "sessions" (run ids) and "original" (the run id, or null)
 * stand in the JSON form. `dirs` are the sessions' folders. */
struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views,
                                        const char *const *dirs, size_t n, const struct ifm_run_view *original,
                                        double epsilon, struct ifm_arena *arena);
/* "repeatable", "not repeatable", "not answered". */
const char *ifm_repeatable_words(enum ifm_repeatable answer);
/* The answer in a sentence, what matters first: "speed-ups repeatable within ±5 % over 4 runs; times not repeatable";
 * of speed-ups that a session lacks "over 3 of 4 runs". */
const char *ifm_sessions_words(const struct ifm_sessions *sessions, double epsilon, struct ifm_arena *arena);

#endif
