/* Whether what a look of the stop rule answers stays answered when derive allows for all that may lie in it.
 *
 * The rule knows the means of the blocks; the interval of a comparison also holds what each arm takes behind itself,
 * what all blocks say where the disturbed ones are lopsided, and both ends of a drift. More blocks narrow the former,
 * and show a drift that was chance to be none, so a run goes on while they leave a gate or a word open. What more
 * blocks do not mend keeps no run going: what one arm left behind for the other, clocks that differ. Pure. */
#ifndef IFM_DERIVE_COMPARE_SETTLED_H
#define IFM_DERIVE_COMPARE_SETTLED_H

#include "model/event.h"
#include "sample/record.h"
#include "stats/stop_blocks.h"

/* Of the record up to its block `last`. */
bool ifm_derive_settled(const struct ifm_stop_blocks *rule, const struct ifm_events *events,
                        const struct ifm_record *record, uint32_t last);

#endif
