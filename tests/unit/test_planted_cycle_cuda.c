/* Every fault planted into an inference cycle on the device cuda is refused, of each kernel, with graphs and without:
 * rows appended where they do not belong or not at all, queries that are not fed, places left out or run twice, lengths
 * that are off; of compressed caches pages that are packed late, wrongly, not at all or elsewhere. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "planted_kept.h"
#include "planted_outputs.h"
#include "workload/decode/run_cuda.h"

/* The outputs of all tokens. */
static struct view view_of(void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return (struct view){run->device, run->out_at, VIEW_F32, run->tokens * run->outputs, run->settings->head_dim};
}

/* ---- a cycle of our own, with a fault in it ---- */

typedef void place_fn(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer);

/* In place of what the step left. */
static void run_cycle(struct ifm_decode_cuda_run *run, place_fn *place)
{
    ifm_decode_cuda_rewind(run);
    for (uint64_t token = 0; token < run->tokens; token++)
        for (unsigned layer = 0; layer < run->layers; layer++)
            place(run, token, layer);
    ifm_decode_cuda_packed_finish(run);
}

/* Its rows or its attention once more, as the arguments have become. */
static void advance_again(const struct ifm_decode_cuda_run *run)
{
    ifm_cuda_launch(run->device, &run->cycle.advance);
}

static void attend_again(struct ifm_decode_cuda_run *run)
{
    run->packed.arguments.fresh = run->packed.arguments.rows = NULL; /* its query and its row are there */
    run->arguments.fresh = run->arguments.rows = NULL;
    ifm_cuda_launch(run->device, &run->launch);
}

/* Lengths of another token. */
static void look_at_token(struct ifm_decode_cuda_run *run, uint64_t token)
{
    run->packed.arguments.units = run->packed.units + token * (run->packed.arguments.n_units + 1);
    if (run->packed.shares != NULL)
        run->packed.arguments.shares = run->packed.shares + token * run->launch.blocks;
}

/* What the attention of a place takes. */
static const float **query_of(struct ifm_decode_cuda_run *run)
{
    return run->packed.cache == NULL ? &run->arguments.q : &run->packed.arguments.q;
}

static float *scale_of(struct ifm_decode_cuda_run *run)
{
    return run->packed.cache == NULL ? &run->arguments.scale : &run->packed.arguments.scale;
}

/* A place that appends nothing; the caller does. */
static void place_without_row(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)
{
    const float *const rows = run->cycle.rows_at;
    run->cycle.rows_at = NULL;
    ifm_decode_cuda_place(run, token, layer);
    run->cycle.rows_at = rows;
    if (run->packed.cache == NULL)
        run->cycle.next.rows = rows + token * run->pairs * 2 * run->settings->head_dim;
}

/* In a layer of the token in the middle `...` in place of the real thing; pages of all layers leave in front of the
 * first one. */
#define AT_A_PLACE(name, at, ...)                                                                                      \
    static void name##_place(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)                          \
    {                                                                                                                  \
        if (token == run->tokens / 2 && layer == (at)) {                                                               \
            __VA_ARGS__;                                                                                               \
        } else {                                                                                                       \
            ifm_decode_cuda_place(run, token, layer);                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        run_cycle(state, name##_place);                                                                                \
    }
#define AT_ONE_PLACE(name, ...) AT_A_PLACE(name, run->layers / 2, __VA_ARGS__)
/* At every place `...` behind the real thing. */
#define AT_EVERY_PLACE(name, ...)                                                                                      \
    static void name##_place(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)                          \
    {                                                                                                                  \
        ifm_decode_cuda_place(run, token, layer);                                                                      \
        __VA_ARGS__;                                                                                                   \
    }                                                                                                                  \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        run_cycle(state, name##_place);                                                                                \
    }

AT_ONE_PLACE(no_place, (void)0)
AT_ONE_PLACE(place_twice, ifm_decode_cuda_place(run, token, layer); ifm_decode_cuda_place(run, token, layer))
AT_ONE_PLACE(no_append, place_without_row(run, token, layer))
AT_ONE_PLACE(another_token, ifm_decode_cuda_place(run, token - 1, layer))
AT_ONE_PLACE(another_layer, ifm_decode_cuda_place(run, token, (layer + 1) % run->layers))
AT_ONE_PLACE(late_append, place_without_row(run, token, layer); advance_again(run))
AT_ONE_PLACE(row_of_another_token, place_without_row(run, token, layer);
             run->cycle.next.rows -= run->pairs * 2 * run->settings->head_dim; advance_again(run); attend_again(run))
AT_ONE_PLACE(row_into_another_layer, place_without_row(run, token, layer);
             run->cycle.next.k = run->pools[(layer + 1) % run->layers];
             run->cycle.next.v = run->cycle.next.k + run->half / 2; advance_again(run); attend_again(run))
AT_ONE_PLACE(values_where_keys_are, ifm_decode_cuda_place(run, token, layer); run->cycle.next.v = run->cycle.next.k;
             advance_again(run); attend_again(run))
AT_ONE_PLACE(query_of_the_last_token, ifm_decode_cuda_place(run, token, layer); *query_of(run) -= run->outputs;
             attend_again(run))
AT_ONE_PLACE(query_of_no_output, ifm_decode_cuda_place(run, token, layer); run->cycle.next.output = NULL;
             advance_again(run); attend_again(run))
AT_ONE_PLACE(query_of_an_older_output, ifm_decode_cuda_place(run, token, layer);
             run->cycle.next.output = (const float *)run->out_at + (token - 1) * run->outputs; advance_again(run);
             attend_again(run))
AT_ONE_PLACE(query_of_the_wrong_fresh_one, ifm_decode_cuda_place(run, token, layer);
             run->cycle.next.fresh -= run->outputs; advance_again(run); attend_again(run))
AT_EVERY_PLACE(never_fed, run->cycle.next.output = NULL; advance_again(run); attend_again(run))
AT_EVERY_PLACE(other_scale, *scale_of(run) *= 1.1f; attend_again(run); *scale_of(run) /= 1.1f)

/* The cache of another layer is attended over: all hold the same, so what it lacks is the newest row. */
AT_ONE_PLACE(attends_in_the_next_layer, ifm_decode_cuda_place(run, token, layer);
             run->arguments.k = run->pools[(layer + 1) % run->layers];
             run->arguments.v = run->arguments.k + run->half / 2; attend_again(run))

/* Lengths of the attention alone, and of the rows alone. */
AT_EVERY_PLACE(a_token_less, run->arguments.tokens -= 1; attend_again(run))
AT_EVERY_PLACE(a_token_more, run->arguments.tokens += 1; attend_again(run))
AT_ONE_PLACE(a_token_less_once, ifm_decode_cuda_place(run, token, layer); run->arguments.tokens -= 1; attend_again(run))
AT_ONE_PLACE(row_one_back, place_without_row(run, token, layer); run->cycle.next.tokens -= 1; advance_again(run);
             attend_again(run))
AT_ONE_PLACE(row_one_on, place_without_row(run, token, layer); run->cycle.next.tokens += 1; advance_again(run);
             attend_again(run))
AT_ONE_PLACE(into_the_page_in_front, place_without_row(run, token, layer); run->cycle.next.tokens -= IFM_DECODE_PAGE;
             advance_again(run); attend_again(run))

/* The rows of the last pair are left out. */
AT_EVERY_PLACE(nothing_for_the_last_pair, (void)token)
static void last_pair_left_out(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    const unsigned blocks = run->cycle.advance.blocks;
    const bool feeds = run->cycle.feeds;
    run->cycle.advance.blocks -= 1;
    run->cycle.feeds = false;
    nothing_for_the_last_pair(state);
    run->cycle.feeds = feeds;
    run->cycle.advance.blocks = blocks;
}

/* A cycle that is a token or a layer short; the rest is left as going back leaves it. */
static void a_token_short(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    ifm_decode_cuda_rewind(run);
    run->tokens--;
    ifm_decode_cuda_cycle(run);
    run->tokens++;
}

static void a_layer_short(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    ifm_decode_cuda_rewind(run);
    run->layers--;
    ifm_decode_cuda_cycle(run);
    run->layers++;
}

/* Behind a whole cycle. */
static void first_place_again(void *state)
{
    ifm_decode_cuda_place(state, 0, 0);
}

/* ---- rows that were there before, lost ---- */

static void row_a_page_back(void *state)
{
    keep_caches(state);
    into_the_page_in_front(state);
}

/* ---- tables of pages, and rows, that are others ---- */

static void *other_buffer(struct ifm_decode_cuda_run *run, const char *what, const void *from, size_t bytes)
{
    struct ifm_error error = {0};
    void *at;
    if (ifm_decode_cuda_buffer(run, what, NULL, bytes, &at, &error) != IFM_OK)
        fail_msg("%s", error.message);
    planted_write(run->device, at, from, bytes);
    return at;
}

/* Rows go to the pages of another table. */
static void by_another_table(struct ifm_decode_cuda_run *run, uint64_t from, uint64_t to)
{
    const uint32_t *const real = run->cycle.next.table;
    const bool feeds = run->cycle.feeds;
    uint32_t *table = malloc(run->pages * sizeof *table);
    assert_non_null(table);
    memcpy(table, run->table, run->pages * sizeof *table);
    table[to] = run->table[from];
    table[from] = run->table[to];
    run->cycle.next.table = other_buffer(run, "another table", table, run->pages * sizeof *table);
    free(table);
    keep_caches(run);
    run->cycle.feeds = false;
    run_cycle(run, ifm_decode_cuda_place);
    run->cycle.feeds = feeds;
    run->cycle.next.table = real;
}

static void pages_of_a_pair_swapped(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    by_another_table(run, run->first[1] - 2, run->first[1] - 1);
}

static void pages_of_pairs_swapped(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    by_another_table(run, run->first[1] - 1, run->first[2] - 1);
}

static float *row_of(const struct ifm_decode_cuda_run *run, float *rows, uint64_t token, uint64_t pair)
{
    return rows + (token * run->pairs + pair) * 2 * run->settings->head_dim;
}

/* `...` changes `rows`, all that a cycle appends. */
#define OTHER_ROWS(name, ...)                                                                                          \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_decode_cuda_run *run = state;                                                                       \
        const size_t dim = run->settings->head_dim, bytes = run->tokens * run->pairs * 2 * dim * sizeof(float);        \
        const float *const real = run->cycle.rows_at;                                                                  \
        float *rows = malloc(bytes);                                                                                   \
        assert_non_null(rows);                                                                                         \
        memcpy(rows, run->cycle.rows, bytes);                                                                          \
        __VA_ARGS__;                                                                                                   \
        run->cycle.rows_at = other_buffer(run, "other rows", rows, bytes);                                             \
        free(rows);                                                                                                    \
        run_cycle(run, ifm_decode_cuda_place);                                                                         \
        run->cycle.rows_at = real;                                                                                     \
    }
OTHER_ROWS(rows_of_pairs_swapped, swap(row_of(run, rows, 1, 0), row_of(run, rows, 1, 1), 2 * dim))
OTHER_ROWS(rows_of_tokens_swapped, swap(row_of(run, rows, 0, 0), row_of(run, rows, 1, 0), 2 * dim))
OTHER_ROWS(keys_and_values_swapped, swap(row_of(run, rows, 1, 0), row_of(run, rows, 1, 0) + dim, dim))
OTHER_ROWS(a_row_zero, change(row_of(run, rows, run->tokens - 1, run->pairs - 1), 2 * dim, 0, 0))
OTHER_ROWS(a_value_off, row_of(run, rows, 1, 0)[2 * dim - 1] += 1)
OTHER_ROWS(the_same_row_again, memcpy(row_of(run, rows, 1, 0), row_of(run, rows, 0, 0), 2 * dim * sizeof *rows))

/* ---- compressed caches ---- */

static const float *rows_at(const struct ifm_decode_cuda_run *run, uint64_t token)
{
    return run->cycle.rows_at + token * run->pairs * 2 * run->settings->head_dim;
}

/* The rows of token `of` of layer `from`, and the pages that then leave, into layer `layer`. */
static void grow_by(struct ifm_decode_cuda_run *run, uint64_t token, uint64_t of, unsigned layer)
{
    ifm_decode_grow(&run->packed.grow, token, rows_at(run, of), run->pools[layer]);
}

/* The rows alone, as those of token `token`. */
static void append_as(struct ifm_decode_cuda_run *run, uint64_t token, uint64_t of)
{
    struct ifm_decode_grow *grow = &run->packed.grow;
    grow->advance_of.next = (struct ifm_decode_advance_of){0};
    grow->advance_of.append.rows = rows_at(run, of);
    grow->advance_of.append.token = (uint32_t)token;
    grow->advance_of.append.sides = run->packed.arguments.sides;
    grow->advance.arguments = &grow->advance_of;
    grow->advance.blocks = (grow->advance_of.append.pairs + IFM_KV_APPEND_WARPS - 1) / IFM_KV_APPEND_WARPS;
    ifm_cuda_launch(run->device, &grow->advance);
}

/* A place at which no page leaves. */
static void place_without_page(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)
{
    uint32_t *due = run->packed.grow.due;
    const uint32_t real = due[token + 1];
    due[token + 1] = due[token];
    ifm_decode_cuda_place(run, token, layer);
    due[token + 1] = real;
}

AT_ONE_PLACE(rows_behind_attention, place_without_row(run, token, layer); grow_by(run, token, token, layer))
AT_ONE_PLACE(rows_of_another_token, place_without_row(run, token, layer); grow_by(run, token, token - 1, layer);
             attend_again(run))
AT_ONE_PLACE(rows_into_another_layer, place_without_row(run, token, layer);
             grow_by(run, token, token, (layer + 1) % run->layers); attend_again(run))
AT_ONE_PLACE(rows_one_back, ifm_decode_cuda_place(run, token, layer); append_as(run, token - 1, token);
             grow_by(run, token, token, layer); attend_again(run))
AT_ONE_PLACE(rows_one_on, ifm_decode_cuda_place(run, token, layer); append_as(run, token + 1, token);
             append_as(run, token, token + 1); attend_again(run))
AT_A_PLACE(no_page, 0, place_without_page(run, token, layer))
AT_A_PLACE(a_late_page, 0, place_without_page(run, token, layer);
           ifm_decode_grow_pages(&run->packed.grow, token, run->pools[0], run->layers))
AT_ONE_PLACE(no_page_seen, ifm_decode_cuda_place(run, token, layer);
             look_at_token(run, token - 1); attend_again(run))
AT_EVERY_PLACE(lengths_of_the_first_token, look_at_token(run, 0); attend_again(run))
AT_ONE_PLACE(sides_in_the_next_layer, ifm_decode_cuda_place(run, token, layer);
             run->packed.arguments.sides = (void *)((char *)run->pools[(layer + 1) % run->layers] + run->packed.body);
             attend_again(run))
AT_A_PLACE(pages_of_all_but_the_last_layer, 0,
           ifm_decode_grow_pages(&run->packed.grow, token, run->pools[0], run->layers - 1);
           place_without_page(run, token, layer))

/* The first page that leaves stays as it is packed, in canonical order. */
AT_ONE_PLACE(no_order, ifm_decode_cuda_place(run, token, layer); const struct ifm_decode_grow *grow = &run->packed.grow;
             const size_t page = run->packed.layout.page_bytes; const uint64_t at = run->table[run->first[1] - 1];
             ifm_cuda_copy(run->device, (char *)run->pools[layer] + at * page,
                           grow->canonical + layer * (grow->due[token + 1] - grow->due[token]) * page, page);
             attend_again(run))

/* `...` changes the jobs, or the places, of all pages that leave. */
#define OTHER_GROWTH(name, TYPE, what, ...)                                                                            \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_decode_cuda_run *run = state;                                                                       \
        const uint32_t n = run->packed.grow.due[run->tokens];                                                          \
        const TYPE *const real = run->packed.grow.what;                                                                \
        TYPE *what = calloc(n, sizeof *what);                                                                          \
        assert_non_null(what);                                                                                         \
        planted_read(run->device, what, real, n * sizeof *what);                                                       \
        __VA_ARGS__;                                                                                                   \
        run->packed.grow.what = other_buffer(run, "other growth of " #what, what, n * sizeof *what);                   \
        free(what);                                                                                                    \
        run_cycle(run, ifm_decode_cuda_place);                                                                         \
        run->packed.grow.what = real;                                                                                  \
    }
OTHER_GROWTH(pages_a_row_short, struct ifm_kv_pack_job, jobs, jobs[0].tokens -= 1)
OTHER_GROWTH(pages_a_row_on, struct ifm_kv_pack_job, jobs, jobs[n - 1].from += run->settings->head_dim)
OTHER_GROWTH(pages_of_another_pair, struct ifm_kv_pack_job, jobs, jobs[1].from = jobs[0].from)
OTHER_GROWTH(pages_in_each_others_place, uint32_t, places, const uint32_t first = places[0]; places[0] = places[n - 1];
             places[n - 1] = first)

/* What sinks and rings go back to is off, in a row that every token attends over, and right again. */
static bool sides_are_off;
static void flip_saved_sides(struct ifm_decode_cuda_run *run)
{
    planted_flip(run->device,
                 (const char *)run->packed.sides + 2 * ifm_kv_side_row((uint32_t)run->settings->head_dim, 0, 0, 1), 64,
                 0x80);
    sides_are_off = !sides_are_off;
}

static void mend_sides(void *state)
{
    if (sides_are_off)
        flip_saved_sides(state);
}

static void other_sides(void *state)
{
    flip_saved_sides(state);
    run_cycle(state, ifm_decode_cuda_place);
}

/* Their pages are those of the first one, in the step and on the walk. */
static void all_layers_are_one(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    keep_caches(run);
    run_cycle(run, ifm_decode_cuda_place);
    memcpy(own_pools, run->pools, sizeof own_pools);
    for (unsigned i = 0; i < run->layers; i++)
        run->pools[i] = own_pools[0];
}

static const struct planted_fault places[] = {
    AFTER("a place left out", no_place),
    AFTER("a place twice", place_twice),
    AFTER("a token in place of the next", another_token),
    AFTER("the cycle is a token short", a_token_short),
    AFTER("the cycle is a layer short", a_layer_short),
    AFTER("the first place again", first_place_again),
    AFTER("the query of the last token", query_of_the_last_token),
    AFTER("a query of no output", query_of_no_output),
    AFTER("a query of an older output", query_of_an_older_output),
    AFTER("a query of the wrong fresh one", query_of_the_wrong_fresh_one),
    AFTER("queries are never fed", never_fed),
    AFTER("another scale", other_scale),
};
static const struct planted_fault appends[] = {
    AFTER("a layer in place of another", another_layer),
    AFTER("a row is not appended", no_append),
    AFTER("a row is appended behind its attention", late_append),
    AFTER("a row of another token", row_of_another_token),
    AFTER("a row into another layer", row_into_another_layer),
    AFTER("a row's values over its keys", values_where_keys_are),
    AFTER("attention in another layer", attends_in_the_next_layer),
    AFTER("the last rows are left out", last_pair_left_out),
    AFTER("rows of pairs swapped", rows_of_pairs_swapped),
    AFTER("rows of tokens swapped", rows_of_tokens_swapped),
    AFTER("a row's keys and values swapped", keys_and_values_swapped),
    AFTER("a row of zeros", a_row_zero),
    AFTER("a value of a row is off", a_value_off),
    AFTER("a row again", the_same_row_again),
};
static const struct planted_fault lengths[] = {
    AFTER("attention is a token short", a_token_less),           AFTER("attention is a token long", a_token_more),
    AFTER("attention is a token short once", a_token_less_once), AFTER("a row one on", row_one_on),
    AFTER("a row over the one in front", row_one_back),
};
/* Each mends what the one in front lost, and the last one loses nothing. */
#define LOSES(what, fault)                                                                                             \
    {                                                                                                                  \
        what, mend, fault, 0, false                                                                                    \
    }
static const struct planted_fault losses[] = {
    LOSES("rows into the wrong page", pages_of_a_pair_swapped),
    LOSES("rows into another pair's page", pages_of_pairs_swapped),
    LOSES("a row a page back", row_a_page_back),
    LOSES("a row again", the_same_row_again),
};

static const struct planted_fault growth[] = {
    AFTER("rows are not appended", no_append),
    AFTER("rows are appended behind their attention", rows_behind_attention),
    AFTER("rows of another token", rows_of_another_token),
    AFTER("rows into another layer", rows_into_another_layer),
    AFTER("rows over those in front", rows_one_back),
    AFTER("rows one on", rows_one_on),
    AFTER("rows of pairs swapped", rows_of_pairs_swapped),
    AFTER("a row's keys and values swapped", keys_and_values_swapped),
    AFTER("a value of a row is off", a_value_off),
    AFTER("a layer in place of another", another_layer),
    AFTER("sink and ring of the next layer", sides_in_the_next_layer),
    AFTER("lengths of the first token", lengths_of_the_first_token),
};
static const struct planted_fault leaving[] = {
    AFTER("a page is not packed", no_page),
    AFTER("a page is packed behind its attention", a_late_page),
    AFTER("attention does not see a page", no_page_seen),
    AFTER("pages of all layers but the last", pages_of_all_but_the_last_layer),
    AFTER("a page in canonical order", no_order),
    AFTER("a page a row short", pages_a_row_short),
    AFTER("a page a row on", pages_a_row_on),
    AFTER("a page of another pair", pages_of_another_pair),
    AFTER("pages in each other's place", pages_in_each_others_place),
    {"all layers are one", mend, all_layers_are_one, 0, false},
    {"layers of their own again, a page not packed", mend, no_page, 0, false},
    {"other sinks to go back to", mend_sides, other_sides, 0, false},
    {"sinks that are right again, a page not packed", mend_sides, no_page, 0, false},
};

static bool is_packed(const void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return run->packed.cache != NULL && run->cycle.appends;
}

/* A page of each pair leaves at the token of the faults, and at no other. */
static bool pages_leave(const void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    const uint32_t *due = run->packed.grow.due;
    return is_packed(state) && run->pairs > 1 && due[run->tokens / 2] == 0 && due[run->tokens / 2 + 1] == run->pairs &&
           due[run->tokens] == run->pairs;
}

static bool appends_rows(const void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return run->cycle.appends && run->packed.cache == NULL;
}

static bool appends_in_equal_lengths(const void *state)
{
    return appends_rows(state) && ((const struct ifm_decode_cuda_run *)state)->cycle.length != 0;
}

static bool loses_rows(const void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return appends_in_equal_lengths(state) && run->first[1] > 1 && run->pairs > 1;
}

/* A fault launches its places by itself, with graphs or without: the places alone are planted behind both. */
#define OF_CYCLES                                                                                                      \
    LIST_OF_ARGUMENTS(growth, is_packed), LIST_OF_ARGUMENTS(leaving, pages_leave), LIST(places),                       \
        LIST_OF_ARGUMENTS(appends, appends_rows), LIST_OF_ARGUMENTS(lengths, appends_in_equal_lengths),                \
        LIST_OF_ARGUMENTS(losses, loses_rows), END_OF_LISTS
static const struct fault_list of_cycles[] = {OF_CYCLES}, all[] = {LIST(output_faults), OF_CYCLES};

#define TURNS "inference=true decode_tokens=4 layers=3 "
#define CYCLE "compress=1 " TURNS
static void equal_lengths(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                CYCLE "arms=naive,ours kv_len=300 batch=2 q_heads=4 kv_heads=1 head_dim=128", 2, of_cycles);
}

/* Rows cross into a page that is new. */
static void over_the_border_of_a_page(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                CYCLE "arms=ours kv_len=382 batch=1 q_heads=4 kv_heads=2 head_dim=64 layout=paged", 1, of_cycles);
}

static void shuffled_pages(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                CYCLE "arms=naive,ours kv_len=300 batch=3 q_heads=2 kv_heads=1 head_dim=64 layout=paged ragged=0.5", 2,
                of_cycles);
}

static void many_heads(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                CYCLE "arms=ours kv_len=256 batch=2 q_heads=10 kv_heads=1 head_dim=64 ragged=1", 1, all);
}

static void nothing_appended(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                CYCLE "arms=naive,ours kv_len=300 batch=2 q_heads=4 kv_heads=1 head_dim=128 append=none", 2, all);
}

static void graphs_and_none(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                CYCLE "arms=ours kv_len=256 batch=1 q_heads=4 kv_heads=2 head_dim=128 graphs=true,false", 2, of_cycles);
}

static void other_dimensions(void **context)
{
    refuse_cell(*context, &ifm_workload_decode, CYCLE "arms=naive kv_len=256 batch=2 q_heads=4 kv_heads=1 head_dim=32",
                1, of_cycles);
    refuse_cell(*context, &ifm_workload_decode, CYCLE "arms=naive kv_len=256 batch=1 q_heads=4 kv_heads=2 head_dim=256",
                1, of_cycles);
}

/* Pages of 128 tokens leave at the third token: 32 of the sink, and two pages that are full then. */
static void compressed_caches(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                TURNS "formats=int4 arms=naive,ours sink=32 kv_len=285 batch=1 q_heads=4 kv_heads=2 head_dim=64", 2,
                all);
    refuse_cell(*context, &ifm_workload_decode,
                TURNS "formats=int8,e4m3,int2 arms=ours sink=32 kv_len=285 batch=2 q_heads=2 kv_heads=1 head_dim=128 "
                      "layout=paged",
                3, of_cycles);
}

/* Half of the tokens are kept, 285 of 570, and a batch whose pages leave at tokens of their own. */
static void evicted_and_ragged(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                TURNS "formats=half4 arms=ours sink=32 kv_len=570 batch=1 q_heads=2 kv_heads=2 head_dim=64 "
                      "graphs=true,false",
                2, of_cycles);
    refuse_cell(*context, &ifm_workload_decode,
                TURNS "formats=int8 arms=ours sink=32 kv_len=300 batch=3 q_heads=10 kv_heads=1 head_dim=64 ragged=1", 1,
                of_cycles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(equal_lengths),      WITH_BENCH(over_the_border_of_a_page),
        WITH_BENCH(shuffled_pages),     WITH_BENCH(many_heads),
        WITH_BENCH(nothing_appended),   WITH_BENCH(graphs_and_none),
        WITH_BENCH(other_dimensions),   WITH_BENCH(compressed_caches),
        WITH_BENCH(evicted_and_ragged), cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
