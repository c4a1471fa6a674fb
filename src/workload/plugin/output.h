/* Outputs of a plugin's arm, in memory that the lab gave it: so the lab can overwrite them, and a step that writes
 * nothing shows.
 *
 * Never touches memory that it did not give. Thread rule: one thread at a time. */
#ifndef IFM_WORKLOAD_PLUGIN_OUTPUT_H
#define IFM_WORKLOAD_PLUGIN_OUTPUT_H

#include "device/device.h"

struct ifm_plugin_output {
    struct ifm_plugin_part {
        unsigned char *at;
        size_t bytes;
    } * parts; /* of memory that is the arm's alone */
    size_t n;
    struct ifm_plugin_part out; /* NULL until a check has shown it */
    struct ifm_device *gpu;     /* in whose memory all that lies; NULL = the host's */
};

/* Remember memory of the arm. False without memory for that. */
bool ifm_plugin_output_may_lie(struct ifm_plugin_output *output, void *at, size_t bytes);
/* What a check shows. NULL, or why the lab cannot overwrite it. */
const char *ifm_plugin_output_lies(struct ifm_plugin_output *output, const void *at, size_t bytes);
/* Its bytes, and put them back. `to` and `from` are the host's. */
IFM_CHECKED enum ifm_status ifm_plugin_output_read(const struct ifm_plugin_output *output, void *to,
                                                   struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_plugin_output_write(const struct ifm_plugin_output *output, const void *from,
                                                    struct ifm_error *error);
/* Overwrite it by 0xff, which as floating point is NaN: all of it, or of a large one in the host's memory a word of
 * each page. Nothing before a check has shown it. A GPU that fails there says so at its next call. */
void ifm_plugin_output_spoil(const struct ifm_plugin_output *output, bool all);
void ifm_plugin_output_free(struct ifm_plugin_output *output);

#endif
