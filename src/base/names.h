/* Names and their numbers: a text is found among thousands without a walk past all of them.
 *
 * A list that many look-ups go to by text has such an index beside it, or is read in its own order: nothing may walk
 * all cells for each cell. Texts are copied. Lives in its arena. Thread rule: one thread. */
#ifndef IFM_BASE_NAMES_H
#define IFM_BASE_NAMES_H

#include "base/arena.h"
#include <stddef.h>
#include <stdint.h>

#define IFM_NO_NAME SIZE_MAX

struct ifm_names;

struct ifm_names *ifm_names_create(struct ifm_arena *arena);
/* The number of a name: how many others were added before it first was. */
size_t ifm_names_add(struct ifm_names *names, const char *name);
/* IFM_NO_NAME where it was never added. */
size_t ifm_names_find(const struct ifm_names *names, const char *name);
size_t ifm_names_count(const struct ifm_names *names);

#endif
