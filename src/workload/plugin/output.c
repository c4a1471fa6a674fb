/* Where a plugin's outputs lie, and overwriting them. */
#include "workload/plugin/output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OTHER = 0xff, PAGE = 4096, WORD = 8, LARGE = 1 << 20 };

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

void ifm_plugin_output_spoil(const struct ifm_plugin_output *output, bool all)
{
    const struct ifm_plugin_part *out = &output->out;
    if (out->at == NULL)
        return;
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
