/* Where a plugin's outputs lie, and overwriting them. */
#include "workload/plugin/output.h"

#include "device/cuda.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OTHER = 0xff, PAGE = 4096, WORD = 8, LARGE = 1 << 20, GPU_WORD = 4 };

bool ifm_plugin_output_may_lie(struct ifm_plugin_output *output, void *at, size_t bytes)
{
    struct ifm_plugin_part *parts = realloc(output->parts, (output->n + 1) * sizeof *parts);
    if (parts == NULL)
        return false;
    output->parts = parts;
    parts[output->n++] = (struct ifm_plugin_part){at, bytes};
    return true;
}

const char *ifm_plugin_output_lies(struct ifm_plugin_output *output, const void *at, size_t bytes)
{
    if (output->out.at != NULL)
        return output->out.at == at && output->out.bytes == bytes ? NULL : "lies elsewhere than at the check before";
    for (size_t i = 0; i < output->n; i++) {
        const struct ifm_plugin_part *part = &output->parts[i];
        const uintptr_t offset = (uintptr_t)at - (uintptr_t)part->at;
        if (offset >= part->bytes || bytes > part->bytes - offset)
            continue;
        output->out = (struct ifm_plugin_part){part->at + offset, bytes};
        return NULL;
    }
    return "lies outside the memory that host->buffer gave this arm alone, so that the lab cannot overwrite it before "
           "a step";
}

enum ifm_status ifm_plugin_output_read(const struct ifm_plugin_output *output, void *to, struct ifm_error *error)
{
    if (output->gpu != NULL)
        return ifm_cuda_read(output->gpu, to, output->out.at, output->out.bytes, error);
    memcpy(to, output->out.at, output->out.bytes);
    return IFM_OK;
}

enum ifm_status ifm_plugin_output_write(const struct ifm_plugin_output *output, const void *from,
                                        struct ifm_error *error)
{
    if (output->gpu != NULL)
        return ifm_cuda_write(output->gpu, output->out.at, from, output->out.bytes, error);
    memcpy(output->out.at, from, output->out.bytes);
    return IFM_OK;
}

/* Whole words by the GPU; bytes before the first and behind the last one are copied. */
static void spoil_gpu(struct ifm_device *gpu, const struct ifm_plugin_part *out)
{
    static const unsigned char other[GPU_WORD] = {OTHER, OTHER, OTHER, OTHER};
    struct ifm_error ignored;
    size_t head = -(uintptr_t)out->at % GPU_WORD;
    head = head < out->bytes ? head : out->bytes;
    const size_t words = (out->bytes - head) / GPU_WORD, tail = out->bytes - head - words * GPU_WORD;
    if (words > 0)
        ifm_cuda_fill(gpu, out->at + head, UINT32_MAX, words);
    if (head > 0)
        (void)!ifm_cuda_write(gpu, out->at, other, head, &ignored);
    if (tail > 0)
        (void)!ifm_cuda_write(gpu, out->at + out->bytes - tail, other, tail, &ignored);
}

void ifm_plugin_output_spoil(const struct ifm_plugin_output *output, bool all)
{
    const struct ifm_plugin_part *out = &output->out;
    if (out->at == NULL)
        return;
    if (output->gpu != NULL) {
        spoil_gpu(output->gpu, out);
        return;
    }
    if (all || out->bytes <= LARGE) {
        memset(out->at, OTHER, out->bytes);
        return;
    }
    for (size_t at = 0; at + WORD <= out->bytes; at += PAGE)
        memset(out->at + at, OTHER, WORD);
    memset(out->at + out->bytes - WORD, OTHER, WORD);
}

void ifm_plugin_output_free(struct ifm_plugin_output *output)
{
    free(output->parts);
    *output = (struct ifm_plugin_output){0};
}
