/* run.log: the journal of facts, one JSON object a line.
 *
 * {"t_ns": <wall clock>, "stage": "<name>", "ok": true, "meta": {...}}
 * Appended line by line with one write each; a torn last line is cut off when the
 * run is resumed and ignored when it is read. Only `run` writes it. */
#ifndef IFM_SAMPLE_JOURNAL_H
#define IFM_SAMPLE_JOURNAL_H

#include "base/json.h"
#include <stdbool.h>

struct ifm_journal;

/* Open for append; creates the file. Takes an exclusive lock: a second run in the same folder is IFM_USAGE. */
IFM_CHECKED enum ifm_status ifm_journal_open(const char *dir, struct ifm_journal **out, struct ifm_error *error);
/* Steals `meta` (may be NULL). */
IFM_CHECKED enum ifm_status ifm_journal_add_new(struct ifm_journal *journal, const char *stage, bool ok, json_t *meta,
                                                struct ifm_error *error);
void ifm_journal_close(struct ifm_journal *journal);

/* All events as a JSON array (new reference). A torn last line is ignored; any other bad line is IFM_INVALID. */
IFM_CHECKED enum ifm_status ifm_journal_read(const char *dir, json_t **events, struct ifm_error *error);

#endif
