/* run.log: the journal of facts, one JSON object a line.
 *
 * {"t_ns": <wall clock>, "stage": "<name>", "ok": true, "meta": {...}, "mono_ns": <CLOCK_MONOTONIC>, "prev": "<hash>"}
 * "prev" is the SHA-256 of the line before, without its newline (of nothing in the first line): a line that is
 * changed, removed or put in no longer fits the next one. Journals of older versions have neither of the two.
 * Appended line by line with one write each; a torn last line is cut off when the
 * run is resumed and ignored when it is read. Only `run` and a session write it. */
#ifndef IFM_SAMPLE_JOURNAL_H
#define IFM_SAMPLE_JOURNAL_H

#include "model/event.h"

struct ifm_journal;

/* Open for append; creates the file. Takes an exclusive lock: a second run in the same folder is IFM_USAGE. */
IFM_CHECKED enum ifm_status ifm_journal_open(const char *dir, struct ifm_journal **out, struct ifm_error *error);
/* Writes one line, with the clocks of now and the hash of the line before. */
IFM_CHECKED enum ifm_status ifm_journal_add(struct ifm_journal *journal, const struct ifm_event *event,
                                            struct ifm_error *error);
void ifm_journal_close(struct ifm_journal *journal);

/* All events; they live in `arena`. A torn last line is ignored; any other bad line is IFM_INVALID, by its number, and
 * so is one that does not follow the line before it. */
IFM_CHECKED enum ifm_status ifm_journal_read(const char *dir, struct ifm_arena *arena, const struct ifm_events **out,
                                             struct ifm_error *error);
/* Those of some stages alone, for who looks at thousands of journals; lines of others are passed over unread, and an
 * event's `line` counts those that were read. */
IFM_CHECKED enum ifm_status ifm_journal_glance(const char *dir, const enum ifm_stage *stages, size_t n,
                                               struct ifm_arena *arena, const struct ifm_events **out,
                                               struct ifm_error *error);

#endif
