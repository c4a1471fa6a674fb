/* decode on the device cuda over a compressed cache. The processor fills a cache and encodes it, with the code of the
 * device cpu; its pages go to the GPU in fragment order (kv/fragment.h), and come back for the check. */
#include "kernel/cpu/dispatch.h"
#include "workload/decode/fill.h"
#include "workload/decode/run_cuda.h"
#include "workload/decode/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)IFM_KV_SIDE_SINK == (int)IFM_KV_WIDE && (int)IFM_KV_SIDE_RING == (int)IFM_KV_PAGE,
               "sides are pages of a cache");

/* bytes/s that a block reads: 132 of them 3.3 TB/s of int4 on an H200 (32 x 8k, G = 4), as what they multiply limits
 * them. With the rate of f16 a cycle of 8 x 32k had 64 blocks, each a whole unit, and 133 us a layer. */
static const double BLOCK_RATE = 25e9;

static enum ifm_status no_memory(const struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
}

/* ---- from one order to the other ---- */

/* A pool of the device on the host, and the cache that it is of. */
struct packed_pools {
    const struct ifm_decode_cuda_run *run;
    unsigned char *there;       /* as the device has it */
    const unsigned char *taken; /* that, read back */
};

static void pages_there(void *arg, unsigned index, unsigned count)
{
    const struct packed_pools *p = arg;
    const struct ifm_kv_fragment *l = &p->run->packed.layout;
    const uint64_t from = p->run->pages * index / count, to = p->run->pages * (index + 1) / count;
    ifm_kv_pages_to_fragments(l, p->run->packed.canonical + from * l->page_bytes, p->there + from * l->page_bytes,
                              to - from);
}

static void pages_back(void *arg, unsigned index, unsigned count)
{
    const struct packed_pools *p = arg;
    const struct ifm_kv_fragment *l = &p->run->packed.layout;
    const uint64_t from = p->run->pages * index / count, to = p->run->pages * (index + 1) / count;
    ifm_kv_pages_to_canonical(l, p->taken + from * l->page_bytes, p->run->packed.canonical + from * l->page_bytes,
                              to - from);
}

/* The sink and the ring pages of a pair: what the device has, and what the cache has (NULL where it has none). */
void ifm_decode_cuda_packed_side(const struct ifm_decode_cuda_run *run, uint64_t pair, unsigned part, uint64_t *at,
                                 struct ifm_kv_piece *piece)
{
    const struct ifm_kv_view view = ifm_kv_view_of(run->packed.cache, pair);
    const unsigned dim = (unsigned)run->settings->head_dim;
    *at = run->packed.body + pair * run->packed.side + 2 * ifm_kv_side_row(dim, part, 0, 0);
    *piece = part == 0 ? view.sink : view.ring[(part - 1 + view.n_body) % 2];
}

/* To the device, where `there` is set, or back. */
static void move_sides(const struct packed_pools *p)
{
    const struct ifm_kv_cache *cache = p->run->packed.cache;
    const size_t dim = p->run->settings->head_dim;
    for (uint64_t pair = 0; pair < p->run->pairs; pair++)
        for (unsigned part = 0; part < 3; part++) {
            const struct ifm_kv_layout *l = part == 0 ? ifm_kv_sink_layout_of(cache) : ifm_kv_ring_layout(cache);
            struct ifm_kv_piece piece;
            uint64_t at;
            ifm_decode_cuda_packed_side(p->run, pair, part, &at, &piece);
            if (piece.tokens == 0)
                continue;
            if (p->there != NULL) {
                uint16_t *k = (void *)(p->there + at);
                ifm_kv_page_to_side(l, piece.page, k, k + l->tokens * dim);
            } else { /* a page of our pool */
                const uint16_t *k = (const void *)(p->taken + at);
                ifm_kv_side_to_page(l, k, k + l->tokens * dim, (void *)(uintptr_t)piece.page);
            }
        }
}

void ifm_decode_cuda_packed_take(const struct ifm_decode_cuda_run *run, const unsigned char *pool)
{
    struct packed_pools pools = {.run = run, .taken = pool};
    run->device->ops->parallel(run->device, ifm_cuda_host_threads(), pages_back, &pools);
    move_sides(&pools);
}

void ifm_decode_cuda_packed_give(const struct ifm_decode_cuda_run *run, unsigned char *pool)
{
    struct packed_pools pools = {.run = run, .there = pool};
    run->device->ops->parallel(run->device, ifm_cuda_host_threads(), pages_there, &pools);
    move_sides(&pools);
}

/* ---- caches ---- */

/* Rows that a cycle has not appended yet. */
static void blank_sides(const struct ifm_decode_cuda_run *run, unsigned char *pool)
{
    uint16_t *sides = (void *)(pool + run->packed.body);
    for (uint64_t i = 0; i < run->pairs * run->packed.side / sizeof *sides; i++)
        sides[i] = IFM_DECODE_NO_ROW;
}

static enum ifm_status fill(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const struct ifm_decode_filling filling = {
        run->device, ifm_cuda_host_threads(), run->settings, run->form, &run->source, run->arm};
    unsigned char *pool = calloc(1, 2 * run->half);
    if (pool == NULL)
        return no_memory(run, error);
    if (run->cycle.appends)
        blank_sides(run, pool);
    enum ifm_status status = ifm_decode_fill(&filling, run->packed.cache, error);
    if (status == IFM_OK) {
        ifm_decode_cuda_packed_give(run, pool);
        status = ifm_cuda_write(run->device, run->pools[0], pool, 2 * run->half, error);
    }
    free(pool);
    return status;
}

/* The host's cache, empty; lengths are those that a step finds. */
static enum ifm_status open_cache(struct ifm_decode_cuda_run *run, const struct ifm_kv_shape *shape,
                                  struct ifm_error *error)
{
    struct ifm_decode_cuda_packed *packed = &run->packed;
    const struct ifm_kv_layout layout = ifm_kv_layout_of(run->form->format, (unsigned)run->settings->head_dim);
    const size_t bytes = ifm_kv_pool_bytes(shape);
    char name[32];
    snprintf(name, sizeof name, "kv_encode.%s", ifm_kv_format_name(run->form->format));
    const struct ifm_kernel *encode = ifm_kernel_find(name, "auto");
    packed->layout = ifm_kv_fragment_of(&layout);
    packed->canonical = ifm_data_aligned(bytes);
    if (packed->canonical == NULL || encode == NULL)
        return no_memory(run, error);
    memset(packed->canonical, 0, bytes);
    return ifm_kv_cache_create(shape, encode->fn.kv_encode, packed->canonical, &packed->cache, error);
}

static enum ifm_status open_layers(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    char name[32];
    bool fresh;
    snprintf(name, sizeof name, "kv %s", run->form->name);
    IFM_TRY(ifm_decode_cuda_layers(run, name, 2 * run->half, &fresh, error));
    if (fresh) {
        IFM_TRY(fill(run, error));
        return ifm_decode_cuda_copy_layers(run, 2 * run->half, error);
    }
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        ifm_kv_adopt(run->packed.cache, pair, ifm_decode_cuda_length(run, pair / run->settings->kv_heads));
    return IFM_OK;
}

static uint32_t items_of(const struct ifm_decode_cuda_run *run, const struct ifm_packed_unit *unit)
{
    return unit->pages * (IFM_KV_PAGE / run->packed.layout.chunk) +
           (unit->sink + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE + (unit->ring + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE;
}

/* Of a token of a cycle, or of a pass. */
static void fill_units(const struct ifm_decode_cuda_run *run, uint64_t token, struct ifm_packed_unit *units)
{
    const uint32_t n = run->arguments.n_units, sink = run->packed.shape.sink;
    uint32_t item = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t pair = i / run->arguments.parts;
        const uint64_t length = ifm_decode_cuda_length_at(run, pair / run->settings->kv_heads, token);
        const uint64_t pages = ifm_kv_body_pages(&run->packed.shape, length);
        units[i] = (struct ifm_packed_unit){.page = (uint32_t)run->first[pair],
                                            .pages = (uint32_t)pages,
                                            .item = item,
                                            .sink = length < sink ? (uint32_t)length : sink};
        units[i].ring = (uint32_t)(length - units[i].sink - pages * IFM_KV_PAGE);
        item += items_of(run, &units[i]);
    }
    units[n] = (struct ifm_packed_unit){.item = item};
}

enum ifm_status ifm_decode_cuda_packed_caches(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_decode_cuda_packed *packed = &run->packed;
    void *table;
    packed->capacity = calloc(run->pairs, sizeof *packed->capacity);
    if (packed->capacity == NULL)
        return no_memory(run, error);
    IFM_TRY(ifm_decode_cuda_deal_out(run, &packed->shape, packed->capacity, error));
    IFM_TRY(open_cache(run, &packed->shape, error));
    packed->body = run->pages * packed->layout.page_bytes;
    packed->side = 2 * IFM_KV_SIDE * run->settings->head_dim * sizeof(uint16_t);
    run->half = (packed->body + run->pairs * packed->side) / 2;
    if (run->settings->layout == IFM_DECODE_PAGED) {
        char name[32];
        snprintf(name, sizeof name, "table %s", run->form->name);
        IFM_TRY(ifm_decode_cuda_buffer(run, name, run->table, run->pages * sizeof *run->table, &table, error));
        packed->arguments.table = table;
    }
    return open_layers(run, error);
}

void ifm_decode_cuda_packed_close(struct ifm_decode_cuda_run *run)
{
    ifm_kv_cache_destroy(run->packed.cache);
    ifm_decode_grow_close(&run->packed.grow);
    free(run->packed.canonical);
    free(run->packed.capacity);
}

/* ---- the launch ---- */

void ifm_decode_cuda_packed_enqueue(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    struct ifm_packed_attend *a = &run->packed.arguments;
    a->body = run->pools[run->turn];
    a->sides = (void *)((unsigned char *)run->pools[run->turn] + run->packed.body);
    if (run->early)
        ifm_cuda_launch_early(run->device, &run->launch);
    else
        ifm_cuda_launch(run->device, &run->launch);
}

/* Bytes of a block: the ring, and behind it what warps and blocks join in. */
static unsigned shared_bytes(const struct ifm_decode_cuda_run *run, const struct ifm_decode_split *split)
{
    const struct ifm_kv_fragment *l = &run->packed.layout;
    const unsigned dim = l->head_dim,
                   heads = run->arguments.group < IFM_DECODE_HEADS ? run->arguments.group : (unsigned)IFM_DECODE_HEADS;
    const unsigned stage = (l->chunks + l->chunk_bytes + 63) / 64 * 64;
    const unsigned warps = run->launch.threads / 32;
    const unsigned stages = warps == IFM_PACKED_PAIR_WARPS ? IFM_PACKED_PAIR_STAGES
                            : dim == 64                    ? IFM_PACKED_STAGES_64
                            : l->bits == 2                 ? IFM_PACKED_STAGES_INT2_128
                                                           : IFM_PACKED_STAGES_128;
    const unsigned ring = stage * stages;
    const bool apart = heads <= IFM_DECODE_HEADS / 2 && run->packed.arguments.rotated;
    const unsigned left = apart ? 2 * heads : heads; /* rows that a warp leaves */
    const unsigned rows = IFM_PACKED_JOINERS(warps) * left * (dim + IFM_DECODE_PAD) * 4;
    const unsigned each = heads * dim / 4, ways = 32 * warps / each;
    const unsigned join =
        (ways > 0 ? ways : 1) * each * 16 + (split->splits > 0 ? split->splits : split->blocks) * heads * 8;
    return ring + (rows > join ? rows : join);
}

/* Tables of units, [tables][n_units + 1]: one for each token of a cycle that appends, else one. */
static uint64_t tables_of(const struct ifm_decode_cuda_run *run)
{
    return run->cycle.appends ? run->tokens : 1;
}

/* The first item of a block, among those of all units. */
static uint32_t share_of(const struct ifm_packed_unit *units, uint32_t n, const struct ifm_decode_split *split,
                         unsigned block)
{
    if (split->splits == 0)
        return (uint32_t)ifm_decode_share(units[n].item, split->blocks, block);
    const struct ifm_packed_unit *u = &units[block / split->splits];
    const unsigned part = block % split->splits;
    return part == 0 ? u->item : u->item + (u[1].item - u->item) * part / split->splits;
}

/* What each block has, in every table. */
static enum ifm_status make_shares(struct ifm_decode_cuda_run *run, const struct ifm_packed_unit *units,
                                   const struct ifm_decode_split *split, struct ifm_error *error)
{
    const uint32_t n = run->packed.arguments.n_units, blocks = split->blocks;
    struct ifm_packed_share *shares = calloc(tables_of(run) * blocks, sizeof *shares);
    char name[48];
    void *at;
    if (shares == NULL)
        return no_memory(run, error);
    for (uint64_t table = 0; table < tables_of(run); table++, units += n + 1)
        for (uint32_t block = 0, unit = 0; block < blocks; block++) {
            const uint32_t from = share_of(units, n, split, block);
            while (from >= units[unit + 1].item)
                unit++;
            shares[table * blocks + block] =
                (struct ifm_packed_share){unit, from, share_of(units, n, split, block + 1), units[unit]};
        }
    snprintf(name, sizeof name, "shares %s", run->form->name);
    enum ifm_status status =
        ifm_decode_cuda_buffer(run, name, shares, tables_of(run) * blocks * sizeof *shares, &at, error);
    run->packed.shares = run->packed.arguments.shares = at;
    free(shares);
    return status;
}

/* The fewest items at any token: a page that leaves a ring has fewer than its rows had. */
static uint64_t fewest_items(const struct ifm_decode_cuda_run *run, const struct ifm_packed_unit *units)
{
    const uint32_t n = run->packed.arguments.n_units;
    uint64_t fewest = units[n].item;
    for (uint64_t table = 1; table < tables_of(run); table++)
        if (units[table * (n + 1) + n].item < fewest)
            fewest = units[table * (n + 1) + n].item;
    return fewest;
}

/* Two blocks of half the warps a multiprocessor, each with whole units: one joins its warps while the other goes on. By
 * what an H200 took at 64 x 8k and 128 x 4k, G = 4; int8 gains nothing there, and cycles were not measured. */
static bool suits_pairs(const struct ifm_decode_cuda_run *run, const struct ifm_decode_work *work,
                        struct ifm_decode_split *split)
{
    struct ifm_decode_work twice = *work;
    twice.multiprocessors *= 2;
    *split = ifm_decode_split_of(&twice);
    return run->form->format == IFM_KV_INT4 && work->head_dim == 128 && work->group <= IFM_DECODE_HEADS / 2 &&
           !run->settings->inference && work->tokens != 0 && split->splits == 0 && work->units % split->blocks == 0;
}

static enum ifm_status choose_split(struct ifm_decode_cuda_run *run, const struct ifm_packed_unit *units,
                                    struct ifm_decode_split *split, struct ifm_error *error)
{
    struct ifm_packed_attend *a = &run->packed.arguments;
    const struct ifm_gpu *gpu = ifm_cuda_gpu(run->device);
    struct ifm_decode_work work = {.units = a->n_units,
                                   .tiles = fewest_items(run, units),
                                   .bytes = ifm_decode_amounts_of(run->settings, run->form).read / run->tokens,
                                   .tokens = 1,
                                   .head_dim = a->head_dim,
                                   .group = a->group,
                                   .multiprocessors = gpu->multiprocessors,
                                   .major = gpu->major,
                                   .no_clusters = true,
                                   .no_waves = true, /* each would fill a ring first */
                                   .block_rate = BLOCK_RATE};
    char name[48];
    for (uint32_t i = 1; i < a->n_units; i++)
        if (units[i + 1].item - units[i].item != units[1].item)
            work.tokens = 0;
    const bool pairs = suits_pairs(run, &work, split);
    if (!pairs)
        *split = ifm_decode_split_of(&work);
    run->early = split->early;
    run->launch.threads = 32 * (pairs ? IFM_PACKED_PAIR_WARPS : IFM_PACKED_WARPS);
    a->splits = split->splits;
    const bool many = a->group > IFM_DECODE_HEADS / 2;
    snprintf(name, sizeof name, "ifm_packed_%s%s_%u", pairs ? "pair_" : many ? "many_" : "",
             ifm_kv_format_name(run->form->format), a->head_dim);
    IFM_TRY(ifm_cuda_find(run->device, "packed", name, &run->launch.function, error));
    if (pairs)
        IFM_TRY(ifm_cuda_prefer_shared(run->device, run->launch.function, error));
    return make_shares(run, units, split, error);
}

/* Blocks of a cycle leave their sums of a unit to the place behind. */
static enum ifm_status open_finish(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_cuda_launch *finish = &run->packed.finish;
    const uint64_t heads = run->pairs * run->packed.arguments.group;
    finish->blocks = (unsigned)((heads + IFM_PACKED_FINISH_WARPS - 1) / IFM_PACKED_FINISH_WARPS);
    finish->threads = 32 * IFM_PACKED_FINISH_WARPS;
    finish->arguments = &run->packed.arguments;
    return ifm_cuda_find(run->device, "packed", "ifm_packed_finish", &finish->function, error);
}

static enum ifm_status launch_split(struct ifm_decode_cuda_run *run, const struct ifm_packed_unit *units,
                                    struct ifm_error *error)
{
    struct ifm_packed_attend *a = &run->packed.arguments;
    const size_t partial = (IFM_DECODE_HEAD + IFM_DECODE_HEADS * a->head_dim) * sizeof(float);
    struct ifm_decode_split split;
    void *partials, *tickets;
    IFM_TRY(choose_split(run, units, &split, error));
    run->launch.blocks = split.blocks;
    run->launch.shared = shared_bytes(run, &split);
    IFM_TRY(ifm_cuda_allow_shared(run->device, run->launch.function, run->launch.shared, error));
    char name[48];
    snprintf(name, sizeof name, "partials %s", run->form->name);
    IFM_TRY(ifm_decode_cuda_buffer(run, name, NULL, 4 * split.blocks * partial, &partials, error));
    snprintf(name, sizeof name, "tickets %s", run->form->name);
    IFM_TRY(ifm_decode_cuda_buffer(run, name, NULL, a->n_units * sizeof(uint32_t), &tickets, error));
    a->partials = run->packed.partials = partials;
    a->tickets = tickets;
    run->packed.partials_of = 2 * split.blocks * partial / sizeof(float);
    run->cycle.feeds = run->settings->inference;
    a->later = run->settings->inference && split.splits > 1;
    return a->later != 0 ? open_finish(run, error) : IFM_OK;
}

enum ifm_status ifm_decode_cuda_packed_launch(struct ifm_decode_cuda_run *run, bool plain, struct ifm_error *error)
{
    const struct ifm_decode_attend *like = &run->arguments;
    struct ifm_packed_attend *a = &run->packed.arguments;
    const size_t each = like->n_units + 1, bytes = tables_of(run) * each * sizeof(struct ifm_packed_unit);
    struct ifm_packed_unit *units = calloc(1, bytes);
    char name[48];
    void *at = NULL;
    if (units == NULL)
        return no_memory(run, error);
    for (uint64_t token = 0; token < tables_of(run); token++)
        fill_units(run, token, units + token * each);
    snprintf(name, sizeof name, "units %s", run->form->name);
    enum ifm_status status = ifm_decode_cuda_buffer(run, name, units, bytes, &at, error);
    run->packed.units = a->units = at;
    a->q = run->q_at;
    a->out = run->out_at;
    a->n_units = like->n_units;
    a->group = like->group;
    a->parts = like->parts;
    a->head_dim = like->head_dim;
    a->scale = like->scale;
    a->rotated = run->form->format == IFM_KV_INT4 || run->form->format == IFM_KV_INT2;
    a->layout = run->packed.layout;
    run->launch.arguments = a;
    if (status == IFM_OK && plain) {
        run->launch.blocks = (unsigned)(run->pairs * a->group);
        run->launch.threads = 32 * IFM_PACKED_PLAIN_WARPS;
        status = ifm_cuda_find(run->device, "packed", "ifm_packed_plain", &run->launch.function, error);
    } else if (status == IFM_OK) {
        status = launch_split(run, units, error);
    }
    free(units);
    return status;
}
