/* Every fault planted into decode over compressed caches on the device cuda is refused, of each format and kernel:
 * outputs spoiled after a step, arguments that are others during it, caches that change. */
#include <cmocka.h>

#include "opened.h"
#define PLANTED_ALL /* seconds; and a fault that reads a row past its pool finds memory there in this order alone */
#include "planted.h"
#include "planted_cuda.h"
#include "planted_outputs.h"
#include "workload/decode/run_cuda.h"

static struct view view_of(void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return (struct view){run->device, run->out_at, VIEW_F32, run->outputs, run->settings->head_dim};
}

/* ---- arguments during a step ---- */

static struct ifm_decode_cuda_run kept;

static void undo(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    const unsigned turn = run->turn;
    *run = kept;
    run->turn = turn;
}

#define DURING(name, ...)                                                                                              \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_decode_cuda_run *run = state;                                                                       \
        struct ifm_packed_attend *a = &run->packed.arguments;                                                          \
        kept = *run;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
        (void)a;                                                                                                       \
    }

DURING(other_scale, a->scale *= 1.1f)
DURING(natural_scale, a->scale *= 0.6931472f)
DURING(no_scale, a->scale = 0)
DURING(queries_a_value_on, a->q += 4)
DURING(sides_a_row_on, run->packed.body += run->settings->head_dim * 2)
DURING(sides_of_nobody, run->packed.body = 0)

/* A copy of what lies at `from`, in which each of `n` units differs: `stride` bytes apart from `first` on. */
static const void *other_units(struct ifm_decode_cuda_run *run, const char *what, const void *from, size_t bytes,
                               uint32_t n, size_t first, size_t stride, void (*differ)(struct ifm_packed_unit *))
{
    char *there = malloc(bytes), name[64];
    struct ifm_error error = {0};
    void *other;
    assert_non_null(there);
    planted_read(run->device, there, from, bytes);
    for (uint32_t i = 0; i < n; i++)
        differ((void *)(there + first + i * stride));
    snprintf(name, sizeof name, "%s %s", what, ifm_kv_format_name(run->form->format));
    if (ifm_decode_cuda_buffer(run, name, NULL, bytes, &other, &error) != IFM_OK)
        fail_msg("%s: %s", name, error.message);
    planted_write(run->device, other, there, bytes);
    free(there);
    return other;
}

static uint32_t of_a_page; /* items */

/* Units that say something else, and so in what blocks have of them. All have as many items as before: what a block
 * has of them is not made anew, and one that looked for more would go on behind the last unit, for ever. */
static void change_units(struct ifm_decode_cuda_run *run, void (*differ)(struct ifm_packed_unit *))
{
    struct ifm_packed_attend *a = &run->packed.arguments;
    const size_t each = sizeof(struct ifm_packed_unit), share = sizeof(struct ifm_packed_share);
    kept = *run;
    of_a_page = IFM_KV_PAGE / run->packed.layout.chunk;
    a->units = other_units(run, "other units", a->units, (a->n_units + 1) * each, a->n_units, 0, each, differ);
    if (a->shares != NULL)
        a->shares = other_units(run, "other shares", a->shares, run->launch.blocks * share, run->launch.blocks,
                                offsetof(struct ifm_packed_share, first), share, differ);
}

#define UNITS(name, ...)                                                                                               \
    static void name##_of(struct ifm_packed_unit *unit)                                                                \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }                                                                                                                  \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        change_units(state, name##_of);                                                                                \
    }
UNITS(no_sink, unit->ring += unit->sink; unit->sink = 0)
UNITS(half_a_sink, unit->ring += unit->sink / 2; unit->sink /= 2)
UNITS(a_ring_token_less, unit->ring -= 1)
UNITS(the_other_ring_page, unit->pages -= 1; unit->ring += of_a_page * 16u /* a tile */)

static const struct planted_fault arguments[] = {
    WHILE("another scale", other_scale),
    WHILE("e in place of 2", natural_scale),
    WHILE("no scale", no_scale),
    WHILE("queries a few values on", queries_a_value_on),
    WHILE("sink and ring a row on", sides_a_row_on),
    WHILE("codes in place of sink and ring", sides_of_nobody),
    WHILE("tokens of the ring for the sink", no_sink),
    WHILE("tokens of the ring for half of the sink", half_a_sink),
    WHILE("a token of the ring less", a_ring_token_less),
    WHILE("the ring pages exchanged", the_other_ring_page),
};

/* ---- caches ---- */

/* Of the caches of all layers, and of all their pages. */
static void flip_pages(const struct ifm_decode_cuda_run *run, size_t byte, size_t n, unsigned char bits)
{
    for (unsigned i = 0; i < run->layers; i++)
        for (uint64_t page = 0; page < run->pages; page++)
            planted_flip(run->device, (const char *)run->pools[i] + page * run->packed.layout.page_bytes + byte, n,
                         bits);
}

static void flip_sides(const struct ifm_decode_cuda_run *run, unsigned part, unsigned row, uint32_t of_v, size_t rows)
{
    const uint32_t dim = (uint32_t)run->settings->head_dim;
    for (unsigned i = 0; i < run->layers; i++)
        planted_flip(run->device,
                     (const char *)run->pools[i] + run->packed.body + 2 * ifm_kv_side_row(dim, part, row, of_v),
                     rows * dim * 2, 0x80);
}

#define FLIP(name, ...)                                                                                                \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_decode_cuda_run *run = state;                                                                 \
        const struct ifm_kv_fragment *l = &run->packed.layout;                                                         \
        (void)l;                                                                                                       \
        __VA_ARGS__;                                                                                                   \
    }
FLIP(key_codes, flip_pages(run, l->chunks, 512, 0x55))
FLIP(value_codes, flip_pages(run, l->chunks + l->codes, 512, 0x55))
FLIP(key_scales, flip_pages(run, l->k_scale, l->floats ? 4 : 64, 0x80))
FLIP(last_values, flip_pages(run, l->end - (l->floats ? 512 : 2 * l->chunk), l->floats ? 512 : 2 * l->chunk, 0x80))
FLIP(sink_keys, flip_sides(run, 0, 0, 0, 1))
FLIP(sink_values, flip_sides(run, 0, 2, 1, 1))
FLIP(ring_values, flip_sides(run, 1, 0, 1, 1); flip_sides(run, 2, 0, 1, 1))

static const struct planted_fault caches[] = {
    ROUND("other keys", key_codes),
    ROUND("other values", value_codes),
    ROUND("other scales of keys", key_scales),
    ROUND("other values in the end", last_values),
    ROUND("other keys of the sink", sink_keys),
    ROUND("other values of the sink", sink_values),
    ROUND("other values of the ring", ring_values),
};

static const struct fault_list lists[] = {
    LIST(output_faults),
    LIST(caches),
    LIST_OF_ARGUMENTS(arguments, NULL),
    END_OF_LISTS,
};

#define SMALL "kv_len=480 layers=2 sink=32 outliers=1 "
static void fast_kernels(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                SMALL "formats=int8,int4,int2,e4m3 arms=ours batch=1 q_heads=3 kv_heads=1 head_dim=128", 4, lists);
    refuse_cell(*context, &ifm_workload_decode,
                SMALL "formats=int8,int4,int2,e4m3 arms=ours batch=1 q_heads=2 kv_heads=1 head_dim=64", 4, lists);
}

static void shuffled_pages(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                SMALL "formats=int4 arms=naive,ours batch=2 q_heads=10 kv_heads=1 head_dim=64 layout=paged", 2, lists);
}

/* More units than multiprocessors, so that a block has several; of groups that leave columns free, and that do not. */
static void units_in_a_row(void **context)
{
    static const struct fault_list of_data[] = {LIST(output_faults), LIST(caches), END_OF_LISTS};
#define SHORT "kv_len=300 layers=1 sink=32 outliers=1 formats=int4 arms=ours batch=140 kv_heads=1 head_dim=64 "
    refuse_cell(*context, &ifm_workload_decode, SHORT "q_heads=1 ragged=0.5", 1, of_data);
    refuse_cell(*context, &ifm_workload_decode, SHORT "q_heads=5", 1, of_data);
}

/* Two blocks a multiprocessor, each with two whole units. */
static void pairs_of_blocks(void **context)
{
    static const struct fault_list of_data[] = {LIST(output_faults), LIST(caches), END_OF_LISTS};
    const struct bench *bench = *context;
    char cell[160];
    snprintf(cell, sizeof cell,
             "kv_len=300 layers=1 sink=32 outliers=1 formats=int4 arms=ours batch=%u kv_heads=1 q_heads=2 head_dim=128",
             4 * bench->machine.gpu->multiprocessors);
    refuse_cell(*context, &ifm_workload_decode, cell, 1, of_data);
}

static void other_dimensions(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                SMALL "formats=int8,int2 arms=naive batch=1 q_heads=2 kv_heads=1 head_dim=96", 2, lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(fast_kernels),
        WITH_BENCH(shuffled_pages),
        WITH_BENCH(units_in_a_row),
        WITH_BENCH(pairs_of_blocks),
        WITH_BENCH(other_dimensions),
        cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
