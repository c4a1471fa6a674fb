/* What an arm gives up for its speed, in words: bytes, error and rule 3's share stand together, since none of them
 * stands alone (rule 10). It formats derived numbers and computes none. */
#ifndef IFM_DOCUMENT_OUTCOME_H
#define IFM_DOCUMENT_OUTCOME_H

#include "base/arena.h"
#include "derive/derive.h"

/* "3.71x fewer bytes, output error 7.9 %, KL 0.021"; "" for an arm without a ratio of bytes: one that stores nothing,
 * or is compared with nothing. A number that is not there is said to be so, never left out. */
const char *ifm_outcome_price(const struct ifm_derived *derived, const char *cell, const char *arm,
                              struct ifm_arena *arena);

#endif
