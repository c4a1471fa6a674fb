/* Text files that the build puts into the command (cmake/embed.cmake).
 *
 * Owns nothing: constant data made from data/metrics/ and web/. Each array ends with a zero byte that its size does not
 * count, so that it can be read as a string. */
#ifndef IFM_PUBLISH_EMBEDDED_H
#define IFM_PUBLISH_EMBEDDED_H

#include <stddef.h>

/* All files of data/metrics/ in the order of their names, a blank line after each. */
extern const char ifm_embedded_metrics[];
extern const size_t ifm_embedded_metrics_size;

/* Each file of web/, under its base name ("report.js"); the row after the last has no name. */
struct ifm_embedded_file {
    const char *name;
    const char *data;
    size_t size;
};
extern const struct ifm_embedded_file ifm_embedded_web[];

#endif
