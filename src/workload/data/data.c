/* What workloads share when they describe their arms and say what ran. */
#include "workload/data/data.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

uint64_t ifm_data_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t ifm_data_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

const char *ifm_data_isa_why_not(const char *isa, const struct ifm_machine *machine, struct ifm_arena *arena)
{
    if (strcmp(isa, "auto") == 0)
        return NULL;
    struct ifm_text known = {0};
    bool found = false;
    for (size_t i = 0; i < machine->n_isas; i++) {
        found = found || strcmp(machine->isas[i], isa) == 0;
        ifm_text_printf(&known, "%s%s", i > 0 ? ", " : "", machine->isas[i]);
    }
    const char *reason =
        found ? NULL
              : ifm_arena_printf(arena, "this machine does not support the instruction set %s (it has: %s)", isa,
                                 known.data != NULL ? known.data : "none reported");
    ifm_text_free(&known);
    return reason;
}

const struct ifm_kernel *ifm_data_kernel(const char *op, const char *isa, const struct ifm_machine *machine)
{
    if (strcmp(isa, "auto") != 0)
        return ifm_kernel_find(op, isa);
    const struct ifm_kernel *found = NULL;
    for (size_t i = 0; i < machine->n_isas && found == NULL; i++)
        found = ifm_kernel_find(op, machine->isas[i]);
    return found;
}

const char *ifm_data_title(const char *who, const char *isa, struct ifm_arena *arena)
{
    static const char *const words[][2] = {
        {"avx512vnni", "AVX-512 VNNI"}, {"avx512", "AVX-512"}, {"avx2", "AVX2"}, {"sse2", "SSE2"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], isa) == 0)
            isa = words[i][1];
    return isa[0] == '\0' ? who : ifm_arena_printf(arena, "%s (%s)", who, isa);
}

void ifm_data_says_code(const char *name, struct ifm_check *check)
{
    if (strlen(name) < sizeof check->isa)
        snprintf(check->isa, sizeof check->isa, "%s", name);
}
