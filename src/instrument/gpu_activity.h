/* The instrument gpu_activity, in the process whose activity it records: what must be done before its device is opened,
 * and the rows of the slot that was recorded last.
 *
 * Thread rule: the driving thread. */
#ifndef IFM_INSTRUMENT_GPU_ACTIVITY_H
#define IFM_INSTRUMENT_GPU_ACTIVITY_H

#include "instrument/activity.h"
#include "model/catalog.h"

enum { IFM_TRACE_COLUMNS = 17 };
extern const struct ifm_column ifm_trace_columns[IFM_TRACE_COLUMNS];

/* Record this process from here on. Where that fails, slots have no numbers, and the instrument tells why. */
void ifm_gpu_activity_prepare(void);
/* Of the slot that was recorded last; none where it has no numbers. */
struct ifm_activity_rows ifm_gpu_activity_rows(void);

#endif
