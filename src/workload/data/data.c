/* What workloads share when they describe their arms and say what ran. */
#include "workload/data/data.h"

#include "base/hash.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

enum ifm_status ifm_data_check_memory(uint64_t needed, const struct ifm_machine *machine, const char *where,
                                      const char *hint, const char *what, struct ifm_error *error)
{
    char need[48], have[48];
    if (needed <= machine->memory_available)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, hint, "%s %s of memory, but %s are available", what,
                    needed == UINT64_MAX ? "more than 16 EiB" : ifm_format_human((double)needed, "B", need),
                    ifm_format_human((double)machine->memory_available, "B", have));
}

uint64_t ifm_data_most_memory(const struct ifm_arm_list *arms)
{
    uint64_t most = 0;
    for (size_t i = 0; i < arms->n; i++)
        most = arms->items[i].memory > most ? arms->items[i].memory : most;
    return most;
}

void *ifm_data_aligned(size_t bytes)
{
    const size_t line = 64;
    return aligned_alloc(line, (bytes + line) / line * line);
}

struct copies {
    unsigned char *first;
    size_t bytes;
    uint64_t count;
};

static void copy_part(void *arg, unsigned index, unsigned count)
{
    const struct copies *copies = arg;
    const size_t from = copies->bytes * index / count, to = copies->bytes * (index + 1) / count;
    for (uint64_t i = 1; i < copies->count; i++)
        memcpy(copies->first + i * copies->bytes + from, copies->first + from, to - from);
}

void ifm_data_copy(struct ifm_device *device, unsigned threads, void *first, size_t bytes, uint64_t count)
{
    struct copies copies = {first, bytes, count};
    if (count > 1)
        device->ops->parallel(device, threads, copy_part, &copies);
}

bool ifm_data_is_known(const struct ifm_data_known *known, uint64_t inputs, const void *outputs, size_t bytes)
{
    return known->check.done && known->inputs == inputs && known->check.output_xxh3 == ifm_xxh3(outputs, bytes);
}

bool ifm_data_finite(const float *values, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(values[i]);
    return finite;
}

void ifm_data_checked(const void *outputs, size_t bytes, bool finite, const char *code, struct ifm_check *check)
{
    check->done = true;
    check->finite = finite;
    check->output_xxh3 = ifm_xxh3(outputs, bytes);
    if (strlen(code) < sizeof check->isa)
        snprintf(check->isa, sizeof check->isa, "%s", code);
}

/* The worse of two, where both report a loss. NaN does not apply; a negative divergence is infinite. */
static void take_loss(struct ifm_check *out, const struct ifm_check *check)
{
    out->has_loss = out->has_loss && check->has_loss;
    out->loss_rms_rel = fmax(out->loss_rms_rel, check->loss_rms_rel);
    out->loss_p99_rel = fmax(out->loss_p99_rel, check->loss_p99_rel);
    out->loss_cosine = fmin(out->loss_cosine, check->loss_cosine);
    out->loss_kl = out->loss_kl < 0 || check->loss_kl < 0 ? -1.0 : fmax(out->loss_kl, check->loss_kl);
    out->loss_tv = fmax(out->loss_tv, check->loss_tv);
}

void ifm_data_take_worse(struct ifm_check *out, const struct ifm_check *check)
{
    out->done = out->done && check->done;
    out->finite = out->finite && check->finite;
    out->error_rms_rel = fmax(out->error_rms_rel, check->error_rms_rel);
    out->error_max_rel = fmax(out->error_max_rel, check->error_max_rel);
    out->has_part = out->has_part && check->has_part;
    out->error_part = fmax(out->error_part, check->error_part);
    out->has_rows = out->has_rows && check->has_rows;
    out->error_row = fmax(out->error_row, check->error_row);
    out->error_bias = fmax(out->error_bias, check->error_bias);
    out->sets_differ = out->sets_differ || check->sets_differ;
    take_loss(out, check);
}

void ifm_data_take_layer(struct ifm_check *out, const struct ifm_check *check, bool first)
{
    if (first)
        *out = *check;
    ifm_data_take_worse(out, check);
    out->sets_differ = out->sets_differ || check->output_xxh3 != out->output_xxh3;
}
