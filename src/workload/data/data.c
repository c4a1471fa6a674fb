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

void ifm_data_says_code(const struct ifm_kernel *kernel, const struct ifm_openblas *blas, struct ifm_check *check)
{
    const char *name = kernel != NULL ? kernel->isa : blas != NULL ? blas->core : "";
    if (strlen(name) < sizeof check->isa) /* half a name is another name */
        snprintf(check->isa, sizeof check->isa, "%s", name);
}

bool ifm_data_computes(const struct ifm_machine *machine)
{
    return strcmp(machine->device, "fake") != 0;
}
