/* Which blocks have which tiles, by what was measured on an H200 (docs/maintain/workloads.md).
 *
 * Where units are alike, each is cut into equal parts: a block that ends in the middle of a unit joins twice. The
 * blocks of a unit meet through a cluster's shared memory, or by a ticket through global memory, where the last one
 * reads what all have written. Units of different length are cut anywhere, so that all blocks have equal work; so are
 * those of which no number of blocks has whole ones each and leaves few multiprocessors idle. */
#include "workload/decode/split.h"

#include "kernel/cuda/decode.h"

static const double BLOCK_RATE = 70e9, RATE = 4.5e12; /* bytes/s that a block reads, and all of them */
/* s, of a step that reads nothing: with nothing to join or in a cluster, and what a ticket adds, for each block too. */
static const double STEP_COST = 4e-6, TICKET_COST = 0.25e-6;
/* Bytes of a step up to which large clusters may be there before the step in front of them ends: longer steps are
 * slower then (1 x 32k 34 to 50 us and not 35), as if two blocks that read met where one had a pair of multiprocessors.
 */
static const uint64_t EARLY_CLUSTERS = 40000000;
/* Bytes of a step from which ifm_decode_parts_128 is faster than clusters of 8: on an H200 9.95 us and not 10.68 with
 * 25 MB, 11.2 and not 12.6 with 34; with 17 MB 8.49 and not 8.08. */
static const uint64_t LONG_PARTS = 25000000;
static const double FULL = 0.72;  /* of several waves: with less, blocks that share all tiles are faster */
static const double WHOLE = 0.94; /* of all multiprocessors: so many blocks of whole units are faster than all blocks */

/* A ring for each warp, the rows of all warps, and what joins them; see attend() in kernel/cuda/decode.cu. */
static unsigned shared_bytes(const struct ifm_decode_work *w, const struct ifm_decode_split *split)
{
    const unsigned heads = w->group < IFM_DECODE_HEADS ? w->group : IFM_DECODE_HEADS, dim = w->head_dim;
    const unsigned stages = split->cluster > 2    ? IFM_DECODE_STAGES_CLUSTER
                            : split->cluster == 2 ? IFM_DECODE_STAGES_PAIR
                            : dim == 64           ? IFM_DECODE_STAGES_64
                                                  : IFM_DECODE_STAGES_128;
    const unsigned ring = IFM_DECODE_WARPS * stages * IFM_DECODE_TILE * dim * 2 * 2;
    const unsigned rows = IFM_DECODE_WARPS * heads * (dim + IFM_DECODE_PAD) * 4;
    const unsigned partial = (IFM_DECODE_HEAD + heads * dim) * 4;
    const unsigned each = heads * dim / 4, ways = 32 * IFM_DECODE_WARPS / each; /* join_blocks */
    const unsigned sharers = split->splits > 0 ? split->splits : split->blocks;
    const unsigned join = (ways > 0 ? ways : 1) * each * 16 + sharers * heads * 8;
    if (split->parts) /* what joins lies where the rings were, which are larger */
        return IFM_DECODE_WARPS * IFM_DECODE_HALVES * IFM_DECODE_TILE * dim * 2;
    if (split->cluster > 0)
        return ring > rows + partial ? ring : rows + partial;
    return ring + (rows > join ? rows : join);
}

static double seconds(const struct ifm_decode_work *w, uint64_t parts, bool cluster)
{
    const double rate = (double)(w->units * parts) * (w->block_rate > 0 ? w->block_rate : BLOCK_RATE);
    return STEP_COST + (double)w->bytes / (rate < RATE ? rate : RATE) +
           (cluster || parts == 1 ? 0 : TICKET_COST * (double)parts);
}

/* Blocks of a cluster for each unit, 0 = none. Clusters of 4 or 8 blocks find no room on all multiprocessors, whose
 * groups are no multiple of that; half of them read nearly as fast as all. */
static unsigned best_cluster(const struct ifm_decode_work *w, uint64_t tiles)
{
    for (unsigned n = IFM_DECODE_CLUSTER; n >= 2 && w->major >= 9 && !w->no_clusters; n /= 2)
        if (w->units * n <= (n == 2 ? w->multiprocessors : w->multiprocessors / 2) &&
            (n == 2 ? tiles >= n : tiles >= n * IFM_DECODE_WARPS))
            return n;
    return 0;
}

/* Parts of a unit that meet by ticket, each with a tile for every warp; 0 = none fits well. */
static unsigned best_parts(const struct ifm_decode_work *w, uint64_t tiles)
{
    const uint64_t most = tiles >= IFM_DECODE_WARPS ? tiles / IFM_DECODE_WARPS : 1;
    const uint64_t fit = w->multiprocessors / w->units,
                   waves = (w->units + w->multiprocessors - 1) / w->multiprocessors;
    unsigned best = 1;
    if (fit == 0)
        return (double)w->units >= FULL * (double)(waves * w->multiprocessors);
    for (unsigned n = 2; n <= fit && n <= most; n++)
        best = seconds(w, n, false) < seconds(w, best, false) ? n : best;
    return best;
}

/* Flat. As few blocks as have whole units each, where that are nearly all: none of theirs is joined. */
static unsigned flat_blocks(const struct ifm_decode_work *w)
{
    const uint64_t each = (w->units + w->multiprocessors - 1) / w->multiprocessors, whole = w->units / each;
    if (w->tokens != 0 && w->units % each == 0 && (double)whole >= WHOLE * w->multiprocessors)
        return (unsigned)whole;
    return w->tiles < w->multiprocessors ? (unsigned)w->tiles : w->multiprocessors;
}

/* A few long units of f16; measured with 8, of D 128. */
static bool suits_parts(const struct ifm_decode_work *w)
{
    return w->major >= 9 && !w->no_clusters && !w->is_cycle && w->head_dim == 128 && w->bytes >= LONG_PARTS &&
           w->units >= IFM_DECODE_CLUSTER && w->units <= w->multiprocessors / IFM_DECODE_CLUSTER;
}

struct ifm_decode_split ifm_decode_split_of(const struct ifm_decode_work *w)
{
    struct ifm_decode_split split = {0};
    if (w->tokens != 0 && (!w->no_waves || w->units <= w->multiprocessors)) {
        const uint64_t tiles = w->tiles / w->units;
        const unsigned cluster = best_cluster(w, tiles), parts = best_parts(w, tiles);
        split.splits = parts;
        if (cluster > 0 && seconds(w, cluster, true) <= seconds(w, parts, false))
            split.splits = split.cluster = cluster;
        split.parts = suits_parts(w);
        if (split.parts) {
            split.cluster = 0;
            split.splits = w->multiprocessors / (unsigned)w->units;
        }
    }
    if (split.splits != 0)
        split.blocks = (unsigned)w->units * split.splits;
    else
        split.blocks = flat_blocks(w);
    split.shared = shared_bytes(w, &split);
    split.early = split.cluster <= 2 || w->bytes <= EARLY_CLUSTERS;
    return split;
}

uint64_t ifm_decode_share(uint64_t tiles, unsigned blocks, unsigned block)
{
    const uint64_t each = tiles / blocks, more = tiles % blocks;
    return block * each + (block < more ? block : more);
}
