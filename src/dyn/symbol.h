/* A function of a library that is open.
 *
 * Thread rule: any. */
#ifndef IFM_DYN_SYMBOL_H
#define IFM_DYN_SYMBOL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Writes the pointer to the function `name`, NULL where the library has none, into the function pointer at `function`.
 * dlsym returns an object pointer, which ISO C does not convert to a function pointer; POSIX gives both one size. */
static inline bool ifm_symbol_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

#endif
