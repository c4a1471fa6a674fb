/* An arm of decode on the device cuda. Private to cuda*.c, and to tests that spoil what it does.
 *
 * Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_DECODE_RUN_CUDA_H
#define IFM_WORKLOAD_DECODE_RUN_CUDA_H

#include "device/cuda.h"
#include "kernel/cuda/packed.h"
#include "workload/data/data.h"
#include "workload/decode/check.h"
#include "workload/decode/cuda_grow.h"
#include "workload/decode/source.h"
#include "workload/implementation.h"

/* Layers and launches of a cycle, which is one graph. */
enum { IFM_DECODE_CUDA_LAYERS = 128, IFM_DECODE_CUDA_PLACES = 16384 };

/* What an inference cycle has besides. A place is a token in a layer: two launches, one that appends the row and makes
 * the query, and one that attends; ours does all of it in one. */
struct ifm_decode_cuda_cycle {
    bool appends;
    bool feeds; /* attention makes its queries and appends its rows itself */
    struct ifm_cuda_launch advance, rewind;
    struct ifm_decode_advance_of next; /* what a place changes in it is in the cycle */
    struct ifm_decode_rewind_of back;
    const struct ifm_decode_unit *units; /* [tokens][n_units + 1], there; NULL = all units have as many tokens */
    const uint32_t *first;               /* [tokens][blocks], there: flat split of such units */
    uint32_t length;                     /* of all units, before the first token is appended */
    float *fresh, *rows;                 /* [tokens][outputs]; [tokens][pairs][2][head_dim], NULL = none is appended */
    const float *fresh_at, *rows_at;     /* there */
    uint64_t still;                      /* the digest of a layer before the first token is appended */
    uint64_t draws;                      /* of places that are looked at */
};

/* What a compressed cache has besides. A layer is its pool as in kv/fragment.h. */
struct ifm_decode_cuda_packed {
    struct ifm_kv_fragment layout;
    uint64_t body, side;                /* bytes of a layer's body pages, and of what each pair has behind them */
    unsigned char *canonical;           /* pool of `cache`: what is read back, in canonical order */
    struct ifm_kv_cache *cache;         /* on the host, for the oracle; NULL: the cache is f16 */
    struct ifm_packed_attend arguments; /* `body` and `sides` are the turn's */
    struct ifm_kv_shape shape;
    uint64_t *capacity; /* [pairs], of it */
    /* Of a cycle that appends. */
    struct ifm_decode_grow grow;
    void *sides;                         /* there: sinks and rings of a layer when a cycle begins */
    const struct ifm_packed_unit *units; /* [tokens][n_units + 1], there */
    const struct ifm_packed_share *shares; /* [tokens][blocks], there */
    /* Of a cycle whose blocks share units: outputs are joined by the place behind, which reads what they left. */
    float *partials;     /* there, of two places in turn */
    size_t partials_of;  /* values, of one */
    const float *left;   /* of the place in front; NULL = its outputs are there */
    struct ifm_cuda_launch finish;
};

struct ifm_decode_cuda_run {
    struct ifm_device *device;
    const struct ifm_implementation *row;
    const char *arm;
    const struct ifm_decode_settings *settings;
    const struct ifm_decode_form *form;
    struct ifm_data_source source;
    uint64_t pairs, pages; /* of a layer */
    uint64_t half;         /* bytes of a layer's K, and of its V behind it; of a compressed one, half of all */
    uint64_t *first;       /* [pairs + 1] into the table */
    uint32_t *table;       /* [pages] */
    size_t outputs;        /* values */
    uint64_t tokens;       /* of a cycle, each with queries and outputs of its own; 1 = steps are single passes */
    float *q, *out;        /* [tokens][outputs] on the host: as generated or read back, and as read back */
    bool halves;           /* queries and outputs are f16 on the device, else f32 */
    void *q_at, *out_at;   /* there */
    const char *code;      /* what ran, in the record; NULL = code for this GPU */
    unsigned layers, turn; /* turn: the layer of the last step */
    void *pools[IFM_DECODE_CUDA_LAYERS];
    struct ifm_cuda_steps *steps;
    struct ifm_cuda_launch launch;
    bool early;                         /* a step may begin before the one in front has ended */
    struct ifm_decode_attend arguments; /* `k` and `v` are the turn's */
    struct ifm_decode_cuda_packed packed;
    struct ifm_decode_cuda_cycle cycle;
    bool own_launches; /* its feature is that no graph is replayed */
    bool own_replays;  /* its feature is that graphs are */
    struct ifm_cuda_function *digester;
    unsigned long long *digest;
    struct ifm_data_known known;
};

static inline bool ifm_decode_cuda_cycles(const struct ifm_decode_cuda_run *run)
{
    return run->settings->inference;
}
/* Tokens of a sequence when a step begins, and at token `token` of a cycle, which counts itself. */
uint64_t ifm_decode_cuda_length(const struct ifm_decode_cuda_run *run, uint64_t sequence);
uint64_t ifm_decode_cuda_length_at(const struct ifm_decode_cuda_run *run, uint64_t sequence, uint64_t token);

/* What tells the cell's bytes from others'. */
void ifm_decode_cuda_name(const struct ifm_decode_cuda_run *run, const char *what, char name[64]);
/* A buffer of the device, filled from the host where it is new. `from` may be NULL: zeros. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_buffer(struct ifm_decode_cuda_run *run, const char *what, const void *from,
                                                   size_t bytes, void **out, struct ifm_error *error);
/* One of them, whose name tells the cell's bytes from others'; `*fresh`: zeros that nobody filled yet. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_shared(struct ifm_decode_cuda_run *run, const char *what, size_t bytes,
                                                   void **out, bool *fresh, struct ifm_error *error);
/* All layers in one buffer, `*fresh` as above. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_layers(struct ifm_decode_cuda_run *run, const char *what, uint64_t bytes,
                                                   bool *fresh, struct ifm_error *error);
/* The others become copies of the first one. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_copy_layers(struct ifm_decode_cuda_run *run, uint64_t bytes,
                                                        struct ifm_error *error);
/* run->first, pages, table; `lengths` [pairs] are the caller's room. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_deal_out(struct ifm_decode_cuda_run *run, struct ifm_kv_shape *shape,
                                                     uint64_t *lengths, struct ifm_error *error);
/* All layers, with their tables: run->first, table, half, pools, and what the arguments say of them. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_caches(struct ifm_decode_cuda_run *run, struct ifm_error *error);

/* ---- cuda_packed.c ---- */
/* A form other than f16: caches, tables and, on the host, a cache that the oracle reads. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_packed_caches(struct ifm_decode_cuda_run *run, struct ifm_error *error);
/* The launch of attention: `plain`, the readable kernel. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_packed_launch(struct ifm_decode_cuda_run *run, bool plain,
                                                          struct ifm_error *error);
void ifm_decode_cuda_packed_enqueue(void *opened);
/* What was read back of a layer goes into the host's cache; or that cache into `pool`, as a device has it. */
void ifm_decode_cuda_packed_take(const struct ifm_decode_cuda_run *run, const unsigned char *pool);
void ifm_decode_cuda_packed_give(const struct ifm_decode_cuda_run *run, unsigned char *pool);
/* Where the sink (part 0) and the ring pages of a pair lie: in a pool, in bytes, and in the host's cache. */
void ifm_decode_cuda_packed_side(const struct ifm_decode_cuda_run *run, uint64_t pair, unsigned part, uint64_t *at,
                                 struct ifm_kv_piece *piece);
void ifm_decode_cuda_packed_close(struct ifm_decode_cuda_run *run);

/* ---- cuda_packed_cycle.c ---- */
/* Outputs of the last place are there, where no place behind it joins them. */
void ifm_decode_cuda_packed_finish(struct ifm_decode_cuda_run *run);
/* After the caches: where a cycle begins, on both sides, and what grows. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_packed_cycle_open(struct ifm_decode_cuda_run *run, struct ifm_error *error);
/* The launches in front of a place's attention, by what the cycle says of its queries; what its attention takes. */
void ifm_decode_cuda_packed_place(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer);
/* Whether pages are packed at that token. */
bool ifm_decode_cuda_packed_due(const struct ifm_decode_cuda_run *run, uint64_t token);
void ifm_decode_cuda_packed_rewind(struct ifm_decode_cuda_run *run);
/* The host's cache becomes as long as the device's at token `token`, before it is taken. */
void ifm_decode_cuda_packed_adopt(const struct ifm_decode_cuda_run *run, uint64_t token);
/* Whether a layer that is read back at the end of a cycle is what the processor makes of the same tokens, byte for
 * byte. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_packed_holds(const struct ifm_decode_cuda_run *run,
                                                         const unsigned char *pool, bool *holds,
                                                         struct ifm_error *error);

/* ---- cuda_read.c ---- */
size_t ifm_decode_cuda_bytes(const struct ifm_decode_cuda_run *run); /* of all queries, and of all outputs */
/* Of the cache of one layer. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_digest(const struct ifm_decode_cuda_run *run, unsigned layer, uint64_t *out,
                                                   struct ifm_error *error);
/* That cache, read back; the caller frees it. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_read_layer(const struct ifm_decode_cuda_run *run, unsigned layer,
                                                       unsigned char **out, struct ifm_error *error);
/* What the oracle compares: outputs of token `token` over `pool`, which `rows` then describes. */
struct ifm_decode_outputs ifm_decode_cuda_outputs(const struct ifm_decode_cuda_run *run, const unsigned char *pool,
                                                  uint64_t token, struct ifm_decode_rows *rows);
/* The code that ran, for the record. */
const char *ifm_decode_cuda_code(const struct ifm_decode_cuda_run *run, char buffer[16]);

/* ---- cuda_cycle.c ---- */
/* All but the launch of attention: what is appended and asked, and where. After the caches. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_cycle_open(struct ifm_decode_cuda_run *run, struct ifm_error *error);
void ifm_decode_cuda_cycle_close(struct ifm_decode_cuda_run *run);
/* One place, and a whole cycle, on the stream. */
void ifm_decode_cuda_place(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer);
void ifm_decode_cuda_cycle(void *run);
/* Back to where a step begins: rows that it appends, its queries and its outputs are spoiled. */
void ifm_decode_cuda_rewind(struct ifm_decode_cuda_run *run);

/* ---- cuda_walk.c ---- */
/* The check of a cycle. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_check_cycle(struct ifm_decode_cuda_run *run, struct ifm_check *out,
                                                        struct ifm_error *error);

/* ---- cuda_run.c ---- */
/* What holds for every row: no instruction set, so many layers. */
const char *ifm_decode_cuda_supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena);
/* All but what steps do: `enqueue` puts one on the stream, of the layer run->turn. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_open(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening,
                                                 bool halves, ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error);
void ifm_decode_cuda_step(void *opened, uint64_t n);
IFM_CHECKED enum ifm_status ifm_decode_cuda_before(void *opened, struct ifm_error *error);
uint64_t ifm_decode_cuda_feature_runs(const void *opened);
void ifm_decode_cuda_spoil(void *opened, bool all);
IFM_CHECKED enum ifm_status ifm_decode_cuda_check(void *opened, struct ifm_check *out, struct ifm_error *error);
void ifm_decode_cuda_close(void *opened);

/* Weights are rounded to f16 for the tensor cores: each is off by sd = 2^-12 / sqrt(3) of itself at least (a mantissa
 * of 2), and so is an output, which is a sum of rows that are independent of it. Four times that leaves room. */
#define IFM_DECODE_CUDA_ROUNDING (4 * 0x1p-12 / 1.7320508075688772)
/* So was each channel's part of a score, by the query times its scale, before the rest was multiplied too. */
#define IFM_DECODE_CUDA_FOLDED IFM_DECODE_CUDA_ROUNDING

#endif
