/* How decode on a GPU divides its tiles: grids by hand, and what must hold of every one. */
#include <cmocka.h>

#include "kernel/cuda/decode.h"
#include "workload/decode/split.h"

static struct ifm_decode_work work(uint64_t units, unsigned tokens, unsigned dim, unsigned group)
{
    const uint64_t tiles = units * ((tokens + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE);
    return (struct ifm_decode_work){.units = units,
                                    .tiles = tiles,
                                    .bytes = units * tokens * dim * 4ULL,
                                    .tokens = tokens,
                                    .head_dim = dim,
                                    .group = group,
                                    .multiprocessors = 132,
                                    .major = 9};
}

static void grids_of_an_h200(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        unsigned units, tokens, dim, group, cluster, splits, blocks;
    } rows[] = {
        {"1x16x1024x64", 16, 1024, 64, 1, 4, 4, 64},
        {"a short unit has clusters of two", 8, 256, 128, 4, 2, 2, 16},
        {"1x1k, 32/8", 8, 1024, 128, 4, 8, 8, 64},
        {"1x4k, 32/8", 8, 4096, 128, 4, 8, 8, 64},
        {"1x8k, 32/8: parts", 8, 8192, 128, 4, 0, 16, 128},
        {"1x256k, 32/8: parts", 8, 262144, 128, 4, 0, 16, 128},
        {"2x8k, 32/8: parts", 16, 8192, 128, 4, 0, 8, 128},
        {"1x32k, 32/8, D 64", 8, 32768, 64, 4, 8, 8, 64},
        {"one short pair", 1, 1024, 128, 8, 8, 8, 8},
        {"one long pair: a cluster reads too slowly", 1, 1 << 20, 128, 8, 0, 65, 65},
        {"1x8k, 32/32", 32, 8192, 128, 1, 2, 2, 64},
        {"8x4k, 32/8", 64, 4096, 128, 4, 2, 2, 128},
        {"12x4k, 32/8: a block each", 96, 4096, 128, 4, 0, 1, 96},
        {"32x8k, 32/8: two waves", 256, 8192, 128, 4, 0, 1, 256},
        {"8x32k, 32/8", 64, 32768, 128, 4, 2, 2, 128},
        {"8x32k, 128/8: pairs of units read the same cache", 128, 32768, 128, 16, 0, 1, 128},
        {"17x4k, 32/8: the second wave is nearly empty", 136, 4096, 128, 4, 0, 0, 132},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ifm_decode_work w = work(rows[i].units, rows[i].tokens, rows[i].dim, rows[i].group);
        const struct ifm_decode_split split = ifm_decode_split_of(&w);
        if (split.cluster != rows[i].cluster || split.splits != rows[i].splits || split.blocks != rows[i].blocks)
            fail_msg("%s: cluster %u, splits %u, blocks %u", rows[i].what, split.cluster, split.splits, split.blocks);
    }
}

static void clusters_are_of_hopper(void **state)
{
    (void)state;
    struct ifm_decode_work w = work(8, 1024, 128, 4);
    w.major = 8;
    assert_int_equal(ifm_decode_split_of(&w).cluster, 0);
    w.major = 9;
    w.no_clusters = true;
    assert_int_equal(ifm_decode_split_of(&w).cluster, 0);
}

/* Where blocks of another step on the same half of the multiprocessors would slow long reads. */
/* Blocks of compressed caches read less each: more of them share a unit. Tiles are items there. */
static void slower_blocks_are_more(void **state)
{
    (void)state;
    static const struct {
        uint64_t units, tiles, bytes;
        unsigned f16, packed; /* splits */
    } rows[] = {{32, 32 * 76, 22000000, 2, 4}, {64, 64 * 526, 287000000, 1, 2}, {8, 8 * 526, 36000000, 8, 16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_decode_work w = {.units = rows[i].units, .tiles = rows[i].tiles, .bytes = rows[i].bytes};
        w.tokens = 1;
        w.head_dim = 128;
        w.group = 4;
        w.multiprocessors = 132;
        w.major = 9;
        w.no_clusters = true;
        assert_int_equal(ifm_decode_split_of(&w).splits, rows[i].f16);
        w.block_rate = 25e9;
        assert_int_equal(ifm_decode_split_of(&w).splits, rows[i].packed);
    }
}

static void long_steps_of_large_clusters_wait(void **state)
{
    (void)state;
    static const struct {
        unsigned units, tokens, group;
        bool early;
    } rows[] = {
        {8, 8192, 4, true}, {8, 32768, 4, false}, {32, 32768, 1, true}, {64, 32768, 4, true}, {256, 8192, 4, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_decode_work w = work(rows[i].units, rows[i].tokens, 128, rows[i].group);
        assert_true(ifm_decode_split_of(&w).early || !ifm_decode_split_of(&w).parts);
        w.is_cycle = true;
        assert_false(ifm_decode_split_of(&w).parts);
        assert_int_equal(ifm_decode_split_of(&w).early, rows[i].early);
    }
}

/* Blocks that go on with the next unit: whole ones, where that leaves few multiprocessors idle. */
static void units_in_a_row_are_whole(void **state)
{
    (void)state;
    static const struct {
        unsigned units, tokens, splits, blocks;
    } rows[] = {{512, 1, 0, 128}, {1024, 1, 0, 128}, {250, 1, 0, 125}, {200, 1, 0, 132},
                {511, 1, 0, 132}, {512, 0, 0, 132},  {128, 1, 1, 128}, {66, 1, 1, 66}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_decode_work w = work(rows[i].units, 8192, 128, 4);
        w.tokens = rows[i].tokens;
        w.no_clusters = w.no_waves = true;
        const struct ifm_decode_split split = ifm_decode_split_of(&w);
        if (split.splits != rows[i].splits || split.blocks != rows[i].blocks)
            fail_msg("%u units: splits %u, blocks %u", rows[i].units, split.splits, split.blocks);
    }
}

/* No block is empty, all fit the shared memory of a multiprocessor, and a flat list leaves no tile out. */
static void every_grid_holds(void **state)
{
    (void)state;
    for (unsigned units = 1; units <= 300; units += units < 20 ? 1 : 7)
        for (unsigned tokens = 1; tokens <= 1 << 20; tokens = tokens * 3 + 5)
            for (unsigned group = 1; group <= 16; group += 5)
                for (unsigned dim = 64; dim <= 128; dim += 64) {
                    struct ifm_decode_work w = work(units, tokens, dim, group);
                    w.tokens = group == 11 ? 0 : tokens;
                    const struct ifm_decode_split split = ifm_decode_split_of(&w);
                    assert_true(split.blocks > 0 && split.shared <= 227 * 1024 - 640);
                    assert_true(split.blocks <= w.tiles && split.splits <= w.tiles / units);
                    assert_true(split.splits == 0 || split.blocks == units * split.splits);
                    assert_true(split.cluster == 0 || split.cluster == split.splits);
                    assert_true(w.tokens != 0 || split.splits == 0);
                    assert_int_equal(ifm_decode_share(w.tiles, split.blocks, 0), 0);
                    assert_int_equal(ifm_decode_share(w.tiles, split.blocks, split.blocks), w.tiles);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_of_an_h200),       cmocka_unit_test(clusters_are_of_hopper),
        cmocka_unit_test(slower_blocks_are_more), cmocka_unit_test(long_steps_of_large_clusters_wait),
        cmocka_unit_test(units_in_a_row_are_whole), cmocka_unit_test(every_grid_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
