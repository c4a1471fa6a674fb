/* Several sessions of one configuration as rows: how far each number repeats. Formats only. */
#ifndef IFM_PUBLISH_SESSIONS_H
#define IFM_PUBLISH_SESSIONS_H

#include "derive/compare/sessions.h"
#include "document/trust.h"
#include "publish/listing.h"

/* The members "quotable" ("yes", "no", "not answered"), "repeatable", "speedups", "epsilon_percent", "sessions" (run
 * ids), "original" (the run id, or null) and "span_s" (a number, or null) stand in the JSON form. `dirs` are the
 * sessions' folders. */
struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views,
                                        const char *const *dirs, size_t n, const struct ifm_run_view *original,
                                        double epsilon, struct ifm_arena *arena);
/* "repeatable", "not repeatable", "not answered". */
const char *ifm_repeatable_words(enum ifm_repeatable answer);
/* "; with care, as 1 of 4 runs says: biased (inferometer summary x-2)": what no noise explains belongs to the number,
 * be it of one run alone. The gravest word of the runs, how many have it, and the folder of the first; in its place,
 * unless that is "do not use", that memory changed its speed between runs, or that runs cannot tell how weak the
 * baseline is. "" = none of it. */
const char *ifm_sessions_caveat(const struct ifm_sessions *sessions, const enum ifm_trust_word *words,
                                const char *const *dirs, size_t n, struct ifm_arena *arena);
/* Which number may be quoted after `n` reruns, in a sentence: "quote int4 2.00x (1.98x to 2.03x over 4 runs); not
 * the time of f16". Of speed-ups, or where there are none of times. `caveat` ends it where one may
 * be, and over how long the runs were spread. */
const char *ifm_sessions_answer(const struct ifm_sessions *sessions, size_t n, double epsilon, const char *caveat,
                                struct ifm_arena *arena);

#endif
