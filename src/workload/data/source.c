/* Rows of a model's keys, values and queries, from the generator or from a file. */
#include "workload/data/source.h"

#include <stddef.h>

enum ifm_status ifm_data_source_open(const char *kv_file, const struct ifm_kv_file_shape *asked, uint64_t seed,
                                     double outlier, struct ifm_data_source *out, struct ifm_error *error)
{
    *out = (struct ifm_data_source){.data = {.seed = seed,
                                             .head_dim = (unsigned)asked->head_dim,
                                             .kv_heads = (unsigned)asked->kv_heads,
                                             .outlier = outlier},
                                    .group = (unsigned)(asked->query_heads / asked->kv_heads)};
    if (kv_file[0] == '\0')
        return IFM_OK;
    IFM_TRY(ifm_kv_file_open(kv_file, &out->file, error));
    enum ifm_status status = ifm_kv_file_require(out->file, asked, error);
    if (status != IFM_OK)
        ifm_data_source_close(out);
    return status;
}

void ifm_data_source_close(struct ifm_data_source *source)
{
    ifm_kv_file_close(source->file);
    source->file = NULL;
}

enum ifm_status ifm_data_source_kv(const struct ifm_data_source *source, uint64_t pair, uint64_t first, unsigned tokens,
                                   float *k, float *v, struct ifm_error *error)
{
    const uint64_t heads = source->data.kv_heads;
    if (source->file != NULL)
        return ifm_kv_file_rows(source->file, pair / heads, pair % heads, first, tokens, k, v, error);
    ifm_model_kv(&source->data, 0, pair, first, tokens, k, v);
    return IFM_OK;
}

enum ifm_status ifm_data_source_queries(const struct ifm_data_source *source, uint64_t pair, uint64_t position,
                                        float *q, struct ifm_error *error)
{
    const uint64_t heads = source->data.kv_heads;
    const struct ifm_kv_file_shape shape =
        source->file == NULL ? (struct ifm_kv_file_shape){0} : ifm_kv_file_shape(source->file);
    if (shape.query_tokens == 0) {
        ifm_model_queries(&source->data, 0, pair, position, source->group, q);
        return IFM_OK;
    }
    for (unsigned i = 0; i < source->group; i++)
        IFM_TRY(ifm_kv_file_queries(source->file, pair / heads, pair % heads * source->group + i,
                                    position % shape.query_tokens, 1, q + (size_t)i * source->data.head_dim, error));
    return IFM_OK;
}
