/* Text files that the build puts into the command (cmake/embed.cmake).
 *
 * Owns nothing: constant data made from data/metrics/ and web/; data/gates/ is in
 * model/embedded.h. Each array ends with a zero byte that its size does not
 * count, so that it can be read as a string. */
#ifndef IFM_DOCUMENT_EMBEDDED_H
#define IFM_DOCUMENT_EMBEDDED_H

#include "model/embedded.h"

/* All files of data/metrics/ in the order of their names, a blank line after each. */
extern const char ifm_embedded_metrics[];
extern const size_t ifm_embedded_metrics_size;

/* Each file of web/, under its base name ("report.js"). */
extern const struct ifm_embedded_file ifm_embedded_web[];

#endif
