/* Text files that the build puts into the command (cmake/embed.cmake).
 *
 * Owns nothing: constant data made from web/; data/gates/ is in
 * model/embedded.h. Each array ends with a zero byte that its size does not
 * count, so that it can be read as a string. */
#ifndef IFM_DOCUMENT_EMBEDDED_H
#define IFM_DOCUMENT_EMBEDDED_H

#include "model/embedded.h"

/* Each file of web/, under its base name ("report.js"). */
extern const struct ifm_embedded_file ifm_embedded_web[];

#endif
