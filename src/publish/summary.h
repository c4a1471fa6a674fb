/* A summary to paste: at most IFM_SUMMARY_BYTES of plain ASCII that survives a chat, an e-mail and Markdown. */
#ifndef IFM_PUBLISH_SUMMARY_H
#define IFM_PUBLISH_SUMMARY_H

#include "base/text.h"
#include "publish/publish.h"

enum { IFM_SUMMARY_BYTES = 1024 };

/* Whole lines, the last newline included. Arms that do not fit are dropped, the least important first ("and N more"):
 * slower before faster, undecided and equivalent, then those without an answer; larger changes first. Names longer than
 * 40 bytes are cut. Nothing private: no host, user or path. */
void ifm_summary_compose(const struct ifm_publication *publication, struct ifm_text *out);
/* The first 12 hex digits of SHA-256 over the environment's fingerprint without our own build and what changes
 * from minute to minute (load, free memory, one clock reading). "" when the journal holds none. `hex` holds 13 bytes.
 */
const char *ifm_summary_environment(const struct ifm_events *events, char *hex);

#endif
