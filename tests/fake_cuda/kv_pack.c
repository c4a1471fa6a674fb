/* What the kernels of kv_pack.cu do, in C: the processor's encoder, page by page. */
#include "fake_cuda/internal.h"

#include "kernel/cuda/kv_pack.h"

#include "kernel/cpu/kv_encode_scalar.c"

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

static void widen(const uint16_t *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = ifm_f16_to_f32(from[i]);
}

static bool pack_job(const struct ifm_kv_pack *a, const struct ifm_kv_layout *l, const struct ifm_kv_pack_job *job,
                     ifm_kv_encode_fn *encode)
{
    _Alignas(64) static float k[IFM_KV_PAGE * IFM_KV_DIM_MOST], v[IFM_KV_PAGE * IFM_KV_DIM_MOST];
    const size_t filled = (size_t)job->tokens * a->head_dim;
    const uint16_t *from = a->from + job->from, *behind = from + (size_t)IFM_KV_PAGE * a->head_dim;
    unsigned char *page = a->to + (uint64_t)job->to * a->page_bytes;
    if (filled > 0 && (!owns(from, filled * sizeof *from) || !owns(behind, filled * sizeof *behind)))
        return false;
    if (!owns(page, a->page_bytes))
        return false;
    widen(from, filled, k);
    widen(behind, filled, v);
    encode(l, k, v, job->tokens, page);
    return true;
}

static bool pack_all(const struct fake_launch *launch, bool wrong, struct ifm_kv_layout l, ifm_kv_encode_fn *encode)
{
    const struct ifm_kv_pack *a = (const void *)launch->arguments;
    if (launch->threads != IFM_KV_PACK_THREADS || a->n_jobs == 0 || launch->blocks % (2 * a->n_jobs) != 0 ||
        !owns(a->jobs, a->n_jobs * sizeof *a->jobs))
        return false;
    l.head_dim = a->head_dim;
    l.tokens = IFM_KV_PAGE;
    l.k_scale = a->k_scale;
    l.k_zero = a->k_zero;
    l.v_scale = a->v_scale;
    l.promoted = a->promoted;
    l.k_codes = a->k_codes;
    l.v_codes = a->v_codes;
    l.k_low = a->k_low;
    for (uint32_t i = 0; i < launch->blocks / 2; i++) {
        struct ifm_kv_pack_job job = a->jobs[i % a->n_jobs];
        job.from += i / a->n_jobs * a->layer;
        job.to += i / a->n_jobs * a->n_jobs;
        if (!pack_job(a, &l, &job, encode))
            return false;
    }
    a->to[(uint64_t)a->jobs[0].to * a->page_bytes + a->k_codes] ^= wrong;
    return true;
}

bool fake_kv_pack_int8(const struct fake_launch *launch, bool wrong)
{
    return pack_all(launch, wrong, (struct ifm_kv_layout){.format = IFM_KV_INT8, .bits = 8}, ifm_kv_encode_int8_scalar);
}

bool fake_kv_pack_e4m3(const struct fake_launch *launch, bool wrong)
{
    return pack_all(launch, wrong, (struct ifm_kv_layout){.format = IFM_KV_E4M3, .bits = 8}, ifm_kv_encode_e4m3_scalar);
}

bool fake_kv_pack_int4(const struct fake_launch *launch, bool wrong)
{
    return pack_all(launch, wrong, (struct ifm_kv_layout){.format = IFM_KV_INT4, .bits = 4, .rotated = true},
                    ifm_kv_encode_int4_scalar);
}

bool fake_kv_pack_int2(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_kv_pack *a = (const void *)launch->arguments;
    return pack_all(
        launch, wrong,
        (struct ifm_kv_layout){.format = IFM_KV_INT2, .bits = 2, .rotated = true, .n_promoted = a->head_dim / 8},
        ifm_kv_encode_int2_scalar);
}
