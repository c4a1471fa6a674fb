/* Preloaded by no_allocation_in_slot.sh: counts allocations inside timed slots.
 *
 * A slot lies between two getrusage calls of the driving thread (the os instrument's bracket). While it is open, a call
 * of the allocator from any thread is counted. At exit each process adds a line with its counts
 * to the file that IFM_ALLOC_REPORT names. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static atomic_int slot_is_open;
static atomic_long slots, allocations, outside;

static void count(void)
{
    atomic_fetch_add_explicit(atomic_load(&slot_is_open) ? &allocations : &outside, 1, memory_order_relaxed);
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    static int (*real)(__rusage_who_t, struct rusage *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "getrusage");
    int ended = atomic_exchange(&slot_is_open, 0);
    int result = real(who, usage);
    if (ended)
        atomic_fetch_add(&slots, 1);
    else
        atomic_store(&slot_is_open, 1);
    return result;
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count();
    return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
    count();
    return __libc_realloc(block, size);
}

void free(void *block)
{
    if (block != NULL)
        count();
    __libc_free(block);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("IFM_ALLOC_REPORT");
    FILE *file = path == NULL ? NULL : fopen(path, "a");
    if (file == NULL)
        return;
    fprintf(file, "%ld %ld %ld\n", atomic_load(&slots), atomic_load(&allocations), atomic_load(&outside));
    fclose(file);
}
