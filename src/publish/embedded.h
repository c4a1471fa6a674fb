/* Texts that the build embeds in the command. The generated source joins data/metrics/ in name order, one blank line
 * between two files. */
#ifndef IFM_PUBLISH_EMBEDDED_H
#define IFM_PUBLISH_EMBEDDED_H

#include <stddef.h>

extern const char ifm_embedded_metrics[];
extern const size_t ifm_embedded_metrics_size;

#endif
