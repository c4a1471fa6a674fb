/* Compiled alone, where the headers of CUPTI are: our declarations of its range profiler against theirs. The folder
 * tests/tidy/no_cpp has an empty header <string>, which cupti_profiler_host.h includes and does not use. */
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "dyn/cupti.h"

#define SAME_VALUE(name, value) _Static_assert((int)CUPTI_ERROR_##name == (value), #name);
IFM_CUPTI_ERRORS(SAME_VALUE)
_Static_assert(CUPTI_SUCCESS == IFM_CUPTI_SUCCESS, "success");
_Static_assert((int)CUPTI_PROFILER_TYPE_RANGE_PROFILER == IFM_CUPTI_TYPE_RANGE_PROFILER &&
                   (int)CUPTI_PROFILER_RANGE_PROFILING == IFM_CUPTI_API_RANGE_PROFILING &&
                   (int)CUPTI_UserRange == IFM_CUPTI_USER_RANGE && (int)CUPTI_UserReplay == IFM_CUPTI_USER_REPLAY &&
                   (int)CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED == IFM_CUPTI_UNSUPPORTED &&
                   (int)CUPTI_PROFILER_CONFIGURATION_DISABLED == IFM_CUPTI_DISABLED &&
                   (int)CUPTI_PROFILER_CONFIGURATION_SUPPORTED == IFM_CUPTI_SUPPORTED,
               "modes");

/* The size that the library is told, and each member behind the head at its place. */
#define SIZE(theirs, ours, last)                                                                                       \
    _Static_assert(theirs##_STRUCT_SIZE == IFM_CUPTI_SIZE(struct ifm_cupti_##ours, last), #theirs);
#define PLACE(theirs, member, ours, own)                                                                               \
    _Static_assert(offsetof(theirs, member) == offsetof(struct ifm_cupti_##ours, own) &&                               \
                       sizeof(((theirs *)0)->member) == sizeof(((struct ifm_cupti_##ours *)0)->own),                   \
                   #theirs "." #member);

SIZE(CUpti_Profiler_Initialize_Params, initialize, reserved)
SIZE(CUpti_Profiler_DeviceSupported_Params, supported, api)
PLACE(CUpti_Profiler_DeviceSupported_Params, cuDevice, supported, device)
PLACE(CUpti_Profiler_DeviceSupported_Params, isSupported, supported, all)
PLACE(CUpti_Profiler_DeviceSupported_Params, architecture, supported, architecture)
PLACE(CUpti_Profiler_DeviceSupported_Params, sli, supported, sli)
PLACE(CUpti_Profiler_DeviceSupported_Params, vGpu, supported, virtual_gpu)
PLACE(CUpti_Profiler_DeviceSupported_Params, confidentialCompute, supported, confidential)
PLACE(CUpti_Profiler_DeviceSupported_Params, cmp, supported, mining)
PLACE(CUpti_Profiler_DeviceSupported_Params, wsl, supported, wsl)
SIZE(CUpti_Device_GetChipName_Params, chip, name)
PLACE(CUpti_Device_GetChipName_Params, deviceIndex, chip, device)
SIZE(CUpti_Profiler_GetCounterAvailability_Params, availability, image)
PLACE(CUpti_Profiler_GetCounterAvailability_Params, ctx, availability, context)
PLACE(CUpti_Profiler_GetCounterAvailability_Params, counterAvailabilityImageSize, availability, bytes)
SIZE(CUpti_Profiler_Host_Initialize_Params, host_open, host)
PLACE(CUpti_Profiler_Host_Initialize_Params, profilerType, host_open, type)
PLACE(CUpti_Profiler_Host_Initialize_Params, pChipName, host_open, chip)
PLACE(CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage, host_open, availability)
SIZE(CUpti_Profiler_Host_Deinitialize_Params, host_close, host)
SIZE(CUpti_Profiler_Host_ConfigAddMetrics_Params, add_metrics, n)
PLACE(CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject, add_metrics, host)
PLACE(CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames, add_metrics, names)
SIZE(CUpti_Profiler_Host_GetConfigImageSize_Params, config_size, bytes)
SIZE(CUpti_Profiler_Host_GetConfigImage_Params, config_image, image)
PLACE(CUpti_Profiler_Host_GetConfigImage_Params, configImageSize, config_image, bytes)
SIZE(CUpti_Profiler_Host_GetNumOfPasses_Params, passes, n)
PLACE(CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage, passes, image)
SIZE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate, values)
PLACE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage, evaluate, data)
PLACE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex, evaluate, range)
PLACE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames, evaluate, names)
PLACE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics, evaluate, n)
SIZE(CUpti_RangeProfiler_Enable_Params, enable, range)
PLACE(CUpti_RangeProfiler_Enable_Params, ctx, enable, context)
SIZE(CUpti_RangeProfiler_Disable_Params, object, range)
SIZE(CUpti_RangeProfiler_Start_Params, object, range)
SIZE(CUpti_RangeProfiler_PopRange_Params, object, range)
SIZE(CUpti_RangeProfiler_GetCounterDataSize_Params, data_size, bytes)
PLACE(CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames, data_size, names)
PLACE(CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics, data_size, n)
PLACE(CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges, data_size, most_ranges)
PLACE(CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes, data_size, most_nodes)
SIZE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data_image, image)
PLACE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize, data_image, bytes)
SIZE(CUpti_RangeProfiler_SetConfig_Params, config, target_level)
PLACE(CUpti_RangeProfiler_SetConfig_Params, configSize, config, config_bytes)
PLACE(CUpti_RangeProfiler_SetConfig_Params, pConfig, config, config)
PLACE(CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize, config, data_bytes)
PLACE(CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage, config, data)
PLACE(CUpti_RangeProfiler_SetConfig_Params, range, config, ranges)
PLACE(CUpti_RangeProfiler_SetConfig_Params, replayMode, config, replay)
PLACE(CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass, config, most_ranges)
PLACE(CUpti_RangeProfiler_SetConfig_Params, numNestingLevels, config, levels)
PLACE(CUpti_RangeProfiler_SetConfig_Params, minNestingLevel, config, least_level)
PLACE(CUpti_RangeProfiler_SetConfig_Params, passIndex, config, pass)
SIZE(CUpti_RangeProfiler_Stop_Params, stop, all_submitted)
PLACE(CUpti_RangeProfiler_Stop_Params, passIndex, stop, pass)
PLACE(CUpti_RangeProfiler_Stop_Params, targetNestingLevel, stop, target_level)
SIZE(CUpti_RangeProfiler_PushRange_Params, push, name)
SIZE(CUpti_RangeProfiler_DecodeData_Params, decode, dropped)
SIZE(CUpti_RangeProfiler_GetCounterDataInfo_Params, info, ranges)
PLACE(CUpti_RangeProfiler_GetCounterDataInfo_Params, counterDataImageSize, info, bytes)
