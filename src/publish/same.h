/* Same: what a published file says against what the record gives, value by value. Integers, names and words exactly,
 * reals within 1e-12; the first difference is the error. */
#ifndef IFM_PUBLISH_SAME_H
#define IFM_PUBLISH_SAME_H

#include "base/arena.h"
#include "base/json.h"

struct ifm_same {
    const char *file; /* its name */
    /* False: another version wrote the file. Rows are found by what they are about, whatever their order; sentences for
     * people and notes are left out, and all else must be there as the record gives it. */
    bool words;
    struct ifm_arena *arena;
};

IFM_CHECKED enum ifm_status ifm_same_trees(const struct ifm_same *same, const json_t *file, const json_t *record,
                                           struct ifm_error *error);
/* Byte by byte but for reals; `words` changes nothing here. */
IFM_CHECKED enum ifm_status ifm_same_texts(const struct ifm_same *same, const char *file, size_t size,
                                           const struct ifm_text *record, struct ifm_error *error);
/* CSV with a header: a tree of rows, whose fields are texts. NULL: it is no such table. New reference. */
json_t *ifm_same_table(const char *text, size_t size);

#endif
