/* Saving and putting back the locale and the floating point environment. */
#include "base/ambient.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Rounding, traps and flushing; not the flags, which every operation may raise. */
static uint64_t control_of(const fenv_t *floating)
{
#if defined(__x86_64__)
    const uint32_t FLAGS = 0x3f;
    return (uint64_t)floating->__control_word << 32 | (floating->__mxcsr & ~FLAGS);
#elif defined(__aarch64__)
    return floating->__fpcr;
#else
    (void)floating;
    return (uint64_t)fegetround();
#endif
}

void ifm_ambient_save(struct ifm_ambient *out)
{
    const char *names = setlocale(LC_ALL, NULL);
    fegetenv(&out->floating);
    out->thread = uselocale((locale_t)0);
    snprintf(out->process, sizeof out->process, "%s", names == NULL ? "C" : names);
}

const char *ifm_ambient_restore(const struct ifm_ambient *saved)
{
    struct ifm_ambient now;
    ifm_ambient_save(&now);
    bool floating = control_of(&now.floating) != control_of(&saved->floating);
    bool locale = now.thread != saved->thread || strcmp(now.process, saved->process) != 0;
    if (floating)
        fesetenv(&saved->floating);
    if (locale) {
        uselocale(saved->thread);
        setlocale(LC_ALL, saved->process);
    }
    if (floating && locale)
        return "the locale and the floating point environment";
    return locale ? "the locale" : floating ? "the floating point environment" : NULL;
}
