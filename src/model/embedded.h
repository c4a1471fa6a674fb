/* Files that the build puts into the command (cmake/embed.cmake), as those who read them see them.
 *
 * Owns nothing: constant data. Each text ends with a zero byte that its size does not count. */
#ifndef IFM_MODEL_EMBEDDED_H
#define IFM_MODEL_EMBEDDED_H

#include <stddef.h>

/* A file under its base name; the row after the last has no name. */
struct ifm_embedded_file {
    const char *name;
    const char *data;
    size_t size;
};

/* data/counters/: which counters of a GPU are read together, a file for the chips of a generation. */
extern const struct ifm_embedded_file ifm_embedded_counters[];
/* data/gates/: NAME.yaml is the gates preset NAME, classes.txt the tables of classes. */
extern const struct ifm_embedded_file ifm_embedded_gates[];
/* data/models/: NAME.json is the config.json of the model NAME, as far as its shape goes. */
extern const struct ifm_embedded_file ifm_embedded_models[];
/* data/words.txt alone. */
extern const struct ifm_embedded_file ifm_embedded_words[];
/* Each file of web/, under its base name ("report.js"). */
extern const struct ifm_embedded_file ifm_embedded_web[];

#endif
