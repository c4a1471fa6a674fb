/* Compiled alone, where the headers of CUPTI are: our layouts of its records against theirs. */
#include <cupti.h>
#include <cupti_activity.h>

#include "dyn/cupti_activity.h"
#include <stddef.h>

#define SAME_KIND(name, value) _Static_assert((int)CUPTI_ACTIVITY_KIND_##name == (value), #name);
IFM_CUPTI_KINDS(SAME_KIND)
_Static_assert((int)CUPTI_CB_DOMAIN_DRIVER_API == IFM_CUPTI_DOMAIN_DRIVER &&
                   (int)CUPTI_CB_DOMAIN_RUNTIME_API == IFM_CUPTI_DOMAIN_RUNTIME &&
                   (int)CUPTI_ACTIVITY_FLAG_MARKER_START == IFM_CUPTI_MARKER_START &&
                   (int)CUPTI_ACTIVITY_FLAG_MARKER_END == IFM_CUPTI_MARKER_END &&
                   (int)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == IFM_CUPTI_FLUSH_FORCED,
               "numbers");

#define PLACE(theirs, member, ours, own)                                                                               \
    _Static_assert(offsetof(theirs, member) == offsetof(struct ifm_cupti_##ours, own) &&                               \
                       sizeof(((theirs *)0)->member) == sizeof(((struct ifm_cupti_##ours *)0)->own),                   \
                   #theirs "." #member);
#define WITHIN(theirs, ours) _Static_assert(sizeof(theirs) >= sizeof(struct ifm_cupti_##ours), #theirs);
#define SPAN(theirs, ours)                                                                                             \
    PLACE(theirs, kind, ours, kind) PLACE(theirs, start, ours, start) PLACE(theirs, end, ours, end)

WITHIN(CUpti_ActivityKernel10, kernel)
SPAN(CUpti_ActivityKernel10, kernel)
PLACE(CUpti_ActivityKernel10, streamId, kernel, stream)
PLACE(CUpti_ActivityKernel10, correlationId, kernel, correlation)
PLACE(CUpti_ActivityKernel10, name, kernel, name)
PLACE(CUpti_ActivityKernel10, graphNodeId, kernel, node)
PLACE(CUpti_ActivityKernel10, graphId, kernel, graph)
SPAN(CUpti_ActivityMemcpy6, move)
PLACE(CUpti_ActivityMemcpy6, bytes, move, bytes)
PLACE(CUpti_ActivityMemcpy6, streamId, move, stream)
PLACE(CUpti_ActivityMemcpy6, correlationId, move, correlation)
PLACE(CUpti_ActivityMemcpy6, graphId, move, graph)
SPAN(CUpti_ActivityMemset4, move)
PLACE(CUpti_ActivityMemset4, bytes, move, bytes)
PLACE(CUpti_ActivityMemset4, streamId, move, stream)
PLACE(CUpti_ActivityMemset4, correlationId, move, correlation)
PLACE(CUpti_ActivityMemset4, graphId, move, graph)
SPAN(CUpti_ActivityAPI, call)
PLACE(CUpti_ActivityAPI, cbid, call, id)
PLACE(CUpti_ActivityAPI, threadId, call, thread)
PLACE(CUpti_ActivityAPI, correlationId, call, correlation)
SPAN(CUpti_ActivitySynchronization2, wait)
PLACE(CUpti_ActivitySynchronization2, correlationId, wait, correlation)
PLACE(CUpti_ActivitySynchronization2, streamId, wait, stream)
PLACE(CUpti_ActivityMarker2, kind, marker, kind)
PLACE(CUpti_ActivityMarker2, flags, marker, flags)
PLACE(CUpti_ActivityMarker2, timestamp, marker, timestamp)
PLACE(CUpti_ActivityMarker2, id, marker, id)
PLACE(CUpti_ActivityMarker2, objectId.pt.threadId, marker, thread)
PLACE(CUpti_ActivityMarker2, name, marker, name)
SPAN(CUpti_ActivityOverhead3, overhead)
