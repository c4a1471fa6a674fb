/* One sentence about a compressed arm: speed, bytes and error together, since none of them stands alone (rule 10). It
 * formats derived numbers and computes none. */
#ifndef IFM_PUBLISH_COMPRESSION_H
#define IFM_PUBLISH_COMPRESSION_H

#include "base/arena.h"
#include "derive/derive.h"

/* "3.42x faster at 3.71x fewer bytes; output error 7.9 %, KL 0.021". "" for an arm without a ratio of bytes: one that
 * stores nothing, or is compared with nothing. A number that is not there is said to be so, never left out. */
const char *ifm_compression_sentence(const struct ifm_derived *derived, const char *cell, const char *arm,
                                     struct ifm_arena *arena);
/* Its second half alone: "3.71x fewer bytes, output error 7.9 %, KL 0.021"; for lines that tell the speed themselves.
 */
const char *ifm_compression_price(const struct ifm_derived *derived, const char *cell, const char *arm,
                                  struct ifm_arena *arena);

#endif
