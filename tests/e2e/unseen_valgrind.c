/* Preloaded by no_instructions_in_slot.sh: the command does not see that valgrind runs it, and measures. That test
 * counts instructions, and reads no time.
 *
 * Thread rule: every function may be called by any thread. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

__attribute__((visibility("default"))) char *getenv(const char *name);

__attribute__((visibility("default"))) char *getenv(const char *name)
{
    char *(*next)(const char *);
    void *symbol = dlsym(RTLD_NEXT, "getenv");
    memcpy(&next, &symbol, sizeof next);
    return strcmp(name, "LD_PRELOAD") == 0 || symbol == NULL ? NULL : next(name);
}
