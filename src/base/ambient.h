/* Ambient: what a call into somebody else's code must leave as it was: the locale of the process and of this thread,
 * and the control word of floating point (rounding, traps, flushing of denormals).
 *
 * A changed decimal point or rounding mode would alter every number that is written or computed afterwards. Thread
 * rule: of the calling thread; the process's locale belongs to the thread that drives. */
#ifndef IFM_BASE_AMBIENT_H
#define IFM_BASE_AMBIENT_H

#include <fenv.h>
#include <locale.h>

struct ifm_ambient {
    fenv_t floating;
    locale_t thread;
    char process[1024]; /* names of the locale's categories, as setlocale gives and takes them */
};

void ifm_ambient_save(struct ifm_ambient *out);
/* Put back what has changed since; returns its name for a message, or NULL when nothing has. */
const char *ifm_ambient_restore(const struct ifm_ambient *saved);

#endif
