/* The work that every tool measures: `n` dependent additions, the loop of the workload `null`. */
#include <stdint.h>
#include <stdlib.h>

uint64_t spin(uint64_t n);

__attribute__((noinline)) uint64_t spin(uint64_t n)
{
    uint64_t value = n;
    for (uint64_t i = 0; i < n; i++) {
        value += i;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

#ifdef SPIN_MAIN
/* spin N: the same work as a program, for the tools that measure commands. */
int main(int argc, char **argv)
{
    spin(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
    return 0;
}
#endif
