/* A right kernel is accepted at any small shape: of few rows, what their errors have in common by chance is no bias.
 * Decode, each format, over many seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/cpu/isa.h"
#include "opened.h"
#include "planted.h"
#include "serial_device.h"

#include <stdio.h>

enum { SETTINGS = 10, TEXT = 16 };

/* Whether a kernel is right at so many shapes is asked once; a sanitizer sees one of thirteen, of each length. */
#ifdef SANITIZED
enum { EACH = 13 };
#else
enum { EACH = 1 };
#endif

struct shape {
    unsigned batch, kv_heads, group, dim, tokens;
};

/* Open, step, check; what rule 10 says of it. */
static void accepts(const struct ifm_machine *machine, const struct shape *s, const char *outliers, uint64_t seed)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct serial serial = {.device.ops = &serial_ops};
    char batch[TEXT], heads[TEXT], kv_heads[TEXT], dim[TEXT], tokens[TEXT];
    snprintf(batch, sizeof batch, "%u", s->batch);
    snprintf(heads, sizeof heads, "%u", s->kv_heads * s->group);
    snprintf(kv_heads, sizeof kv_heads, "%u", s->kv_heads);
    snprintf(dim, sizeof dim, "%u", s->dim);
    snprintf(tokens, sizeof tokens, "%u", s->tokens);
    const struct ifm_setting settings[SETTINGS] = {{"decode.batch", batch},
                                                   {"decode.q_heads", heads},
                                                   {"decode.kv_heads", kv_heads},
                                                   {"decode.head_dim", dim},
                                                   {"decode.kv_len", tokens},
                                                   {"decode.layers", "1"},
                                                   {"decode.format", "int8,e4m3,half4,int4,int2"},
                                                   {"decode.compress", "1,2,4,8"},
                                                   {"decode.outliers", outliers},
                                                   {"decode.isa", "auto"}};
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    if (ifm_workload_decode.describe(settings, SETTINGS, machine, arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s", error.message);
    assert_null(why_not);
    give_settings(&arms, settings, SETTINGS);
    for (size_t i = 0; i < arms.n; i++) {
        struct opened opened;
        struct ifm_check check = {0};
        if (open_arm_on(&ifm_workload_decode, &arms.items[i], "cpu", &serial.device, 2, seed, arena, &opened, &error) !=
            IFM_OK)
            fail_msg("%s", error.message);
        opened.by->spoil(opened.state, true);
        opened.by->step(opened.state, 1);
        assert_int_equal(opened.by->check(opened.state, &check, &error), IFM_OK);
        const double t = arms.items[i].tolerance;
        if (!accepted(&check, t))
            fail_msg("%s, outliers %s, %u x %u x %u heads of %u, %u tokens, seed %llu: max %g (of %g), row %g, bias "
                     "%g, part %g",
                     arms.items[i].name, outliers, s->batch, s->kv_heads, s->group, s->dim, s->tokens,
                     (unsigned long long)seed, check.error_max_rel, t, check.error_row, check.error_bias,
                     check.error_part);
        ifm_implementation_close(opened.by, opened.state);
        serial_free(&serial);
    }
    ifm_arena_destroy(arena);
}

static void small_shapes_are_accepted(void **state)
{
    (void)state;
    struct ifm_machine machine = {.device = "cpu",
                                  .cpus_allowed = 2,
                                  .threads = 2,
                                  .memory_available = (uint64_t)16 << 30,
                                  .cache_reported = {32768, 1 << 18, 1 << 18}};
    ifm_isas(&machine.isas, &machine.n_isas);
    static const unsigned tokens[] = {256, 257, 700, 4096};
    static const char *const outliers[] = {"12", "6", "1"};
    uint64_t seed = 0;
    for (unsigned heads = 1; heads <= 4; heads++)
        for (unsigned dim = 32; dim <= 128; dim += 32)
            for (size_t t = 0; t < sizeof tokens / sizeof *tokens; t++)
                for (size_t o = 0; o < sizeof outliers / sizeof *outliers; o++) {
                    const struct shape shared = {1, 1, heads, dim, tokens[t]}, own = {1, heads, 1, dim, tokens[t]};
                    seed += 2;
                    if (seed / 2 % EACH != 0 || (tokens[t] == 4096 && (heads + dim / 32 + o) % 3 != 0))
                        continue;
                    accepts(&machine, &shared, outliers[o], seed - 1);
                    accepts(&machine, &own, outliers[o], seed);
                }
    /* Those that were refused as wrong: for the largest error, of few dimensions; and for a bias, of one row. */
    const struct shape few = {1, 3, 1, 32, 4096}, one = {1, 1, 1, 32, 700};
    accepts(&machine, &few, "1", 1002);
    accepts(&machine, &one, "1", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_shapes_are_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
