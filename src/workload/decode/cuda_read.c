/* What is read back of an arm of decode on the device cuda, for its checks: digests, caches, and what the oracle gets.
 */
#include "workload/decode/run_cuda.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

size_t ifm_decode_cuda_bytes(const struct ifm_decode_cuda_run *run)
{
    return run->tokens * run->outputs * (run->halves ? sizeof(uint16_t) : sizeof(float));
}

enum ifm_status ifm_decode_cuda_digest(const struct ifm_decode_cuda_run *run, unsigned layer, uint64_t *out,
                                       struct ifm_error *error)
{
    const struct ifm_decode_digest_of of = {run->pools[layer], 2 * run->half / sizeof(uint64_t), run->digest};
    const unsigned blocks = ifm_cuda_blocks(run->device, run->digester, IFM_DECODE_DIGEST_THREADS, 0);
    ifm_cuda_fill(run->device, run->digest, 0, 2);
    ifm_cuda_launch(run->device, &(struct ifm_cuda_launch){run->digester, blocks > 0 ? blocks : 1,
                                                           IFM_DECODE_DIGEST_THREADS, 0, &of});
    return ifm_cuda_read(run->device, out, run->digest, sizeof *out, error);
}

enum ifm_status ifm_decode_cuda_read_layer(const struct ifm_decode_cuda_run *run, unsigned layer, unsigned char **out,
                                           struct ifm_error *error)
{
    *out = malloc(2 * run->half);
    if (*out == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, "lower decode.batch or decode.kv_len",
                        "out of memory for the oracle, which reads a layer back: %llu bytes",
                        (unsigned long long)(2 * run->half));
    enum ifm_status status = ifm_cuda_read(run->device, *out, run->pools[layer], 2 * run->half, error);
    if (status != IFM_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

struct ifm_decode_outputs ifm_decode_cuda_outputs(const struct ifm_decode_cuda_run *run, const unsigned char *pool,
                                                  uint64_t token, struct ifm_decode_rows *rows)
{
    *rows = (struct ifm_decode_rows){(const void *)pool, (const void *)(pool + run->half), run->table, run->first,
                                     ifm_decode_cuda_length_at(run, 0, token) - ifm_decode_length(run->settings, 0)};
    return (struct ifm_decode_outputs){.device = run->device,
                                       .threads = ifm_cuda_host_threads(),
                                       .settings = run->settings,
                                       .form = run->form,
                                       .source = &run->source,
                                       .q = run->q + token * run->outputs,
                                       .out = run->out + token * run->outputs,
                                       .draw = (uint32_t)(ifm_xxh3(&run->source.data.seed, sizeof(uint64_t)) >> 32),
                                       .cache = run->packed.cache,
                                       .rows = run->packed.cache == NULL ? rows : NULL};
}

const char *ifm_decode_cuda_code(const struct ifm_decode_cuda_run *run, char buffer[16])
{
    const struct ifm_gpu *gpu = ifm_cuda_gpu(run->device);
    snprintf(buffer, 16, "sm_%u%u", gpu->major % 1000, gpu->minor % 1000);
    return run->code != NULL ? run->code : buffer;
}
