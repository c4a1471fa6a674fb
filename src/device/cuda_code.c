/* Device code for the open GPU: the fat binary of this build, or what NVRTC makes of its source, kept in a cache.
 *
 * A file of the cache is named by the SHA-256 of all that went into it (sources, headers, options, compiler) and begins
 * with that of the code behind its first line: one that was cut or changed is made again. */
#include "device/cuda_private.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "dyn/nvrtc.h"
#include "kernel/cuda/images.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_FORM "inferometer device code 1 "
enum { MOST_HEADERS = 64, MOST_CODE = 64 << 20, NAME = 96 };

/* NVRTC has no header of the system: what the device code needs of it, as nvcc has it. */
static const char stdint_h[] = "#pragma once\n"
                               "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"
                               "typedef short int16_t;\ntypedef unsigned short uint16_t;\n"
                               "typedef int int32_t;\ntypedef unsigned uint32_t;\n"
                               "typedef long int64_t;\ntypedef unsigned long uint64_t;\n";

/* One source with all headers that it may include. */
struct unit {
    struct ifm_nvrtc_source source;
    const char *names[MOST_HEADERS], *texts[MOST_HEADERS];
    char name[NAME];
};

/* `image`: one of this build's, whose sources include its headers. */
static void fill_unit(const char *name, const char *text, bool image, struct unit *out)
{
    size_t n = 0;
    out->names[n] = "stdint.h";
    out->texts[n++] = stdint_h;
    for (size_t i = 0; image && ifm_cuda_headers[i].name != NULL && n < MOST_HEADERS; i++, n++) {
        out->names[n] = ifm_cuda_headers[i].name;
        out->texts[n] = ifm_cuda_headers[i].text;
    }
    snprintf(out->name, sizeof out->name, "%s%s", name, image ? ".cu" : "");
    out->source = (struct ifm_nvrtc_source){out->name, text, n, out->names, out->texts};
}

/* ---- the cache ---- */

/* $XDG_CACHE_HOME/inferometer/kernels/HASH; NULL where there is no such place. */
static char *cache_file(struct ifm_arena *arena, const struct ifm_nvrtc *nvrtc, const struct unit *unit,
                        const char *arch)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *folder;
    if (cache != NULL && cache[0] == '/')
        folder = ifm_arena_printf(arena, "%s/inferometer/kernels", cache);
    else if (home != NULL && home[0] == '/')
        folder = ifm_arena_printf(arena, "%s/.cache/inferometer/kernels", home);
    else
        return NULL;
    const char *all =
        ifm_arena_printf(arena, "%s%d.%d %s\n%s", CACHE_FORM, nvrtc->major, nvrtc->minor, arch, unit->source.text);
    for (size_t i = 0; i < unit->source.n_headers; i++)
        all = ifm_arena_printf(arena, "%s\n%s\n%s", all, unit->names[i], unit->texts[i]);
    const struct ifm_sha256 hash = ifm_sha256_bytes(all, strlen(all));
    return ifm_arena_printf(arena, "%s/%s", folder, hash.hex);
}

static bool read_cache(const char *file, char **code, size_t *size)
{
    struct ifm_error ignored;
    char *text = NULL, wanted[sizeof CACHE_FORM + sizeof(struct ifm_sha256) + 1];
    size_t all = 0;
    if (file == NULL || !ifm_file_exists(file) || ifm_file_read(file, MOST_CODE, &text, &all, &ignored) != IFM_OK)
        return false;
    const char *end = memchr(text, '\n', all);
    bool good = end != NULL && (size_t)(end + 1 - text) < all;
    if (good) {
        *size = all - (size_t)(end + 1 - text);
        const struct ifm_sha256 hash = ifm_sha256_bytes(end + 1, *size);
        snprintf(wanted, sizeof wanted, "%s%s", CACHE_FORM, hash.hex);
        good = strlen(wanted) == (size_t)(end - text) && memcmp(text, wanted, strlen(wanted)) == 0;
    }
    if (good) {
        memmove(text, end + 1, *size);
        text[*size] = '\0';
        *code = text;
    } else {
        free(text);
    }
    return good;
}

/* Without a place to write the code is made again next time; nothing else depends on it. */
static void write_cache(struct ifm_arena *arena, const char *file, const char *code, size_t size)
{
    struct ifm_error ignored;
    if (file == NULL)
        return;
    const struct ifm_sha256 hash = ifm_sha256_bytes(code, size);
    const char *head = ifm_arena_printf(arena, "%s%s\n", CACHE_FORM, hash.hex);
    char *folder = ifm_arena_strdup(arena, file), *all = malloc(strlen(head) + size);
    *strrchr(folder, '/') = '\0';
    if (all != NULL && ifm_dir_create_all(folder, &ignored) == IFM_OK) {
        memcpy(all, head, strlen(head));
        memcpy(all + strlen(head), code, size);
        (void)!ifm_file_write_atomic(file, all, strlen(head) + size, &ignored);
    }
    free(all);
}

/* ---- code ---- */

static enum ifm_status say_absent(const struct ifm_cuda_absence *absence, struct ifm_error *error)
{
    return ifm_fail(error, IFM_MISSING, "device.kernels", absence->remedy, "%s, and %s",
                    IFM_NVCC[0] == '\0' ? "this build was made without nvcc" : "device.kernels is nvrtc",
                    absence->reason);
}

enum ifm_status ifm_cuda_code_possible(struct ifm_error *error)
{
    struct ifm_cuda_absence absence;
    return IFM_NVCC[0] != '\0' || ifm_nvrtc_load(&absence) != NULL ? IFM_OK : say_absent(&absence, error);
}

static enum ifm_status compile(struct ifm_arena *arena, struct ifm_cuda_device *device, const struct ifm_nvrtc *nvrtc,
                               const struct unit *unit, struct ifm_cuda_code *out, struct ifm_error *error)
{
    char arch[IFM_NVRTC_ARCH];
    if (!ifm_nvrtc_arch(nvrtc, device->gpu.major, device->gpu.minor, arch))
        return ifm_fail(error, IFM_MISSING, "device.kernels", "another NVRTC: set IFM_NVRTC",
                        "NVRTC %d.%d makes no code for compute capability %u.%u", nvrtc->major, nvrtc->minor,
                        device->gpu.major, device->gpu.minor);
    const char *file = cache_file(arena, nvrtc, unit, arch);
    if (!read_cache(file, &out->own, &out->size)) {
        IFM_TRY(ifm_nvrtc_compile(nvrtc, &unit->source, arch, &out->own, &out->size, error));
        write_cache(arena, file, out->own, out->size);
    }
    out->data = out->own;
    snprintf(out->compiler, sizeof out->compiler, "NVRTC %d.%d, %s", nvrtc->major, nvrtc->minor, arch);
    return IFM_OK;
}

static enum ifm_status compile_unit(struct ifm_cuda_device *device, const struct ifm_nvrtc *nvrtc,
                                    const struct unit *unit, struct ifm_cuda_code *out, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = compile(arena, device, nvrtc, unit, out, error);
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_cuda_code_get(struct ifm_cuda_device *device, size_t image, struct ifm_cuda_code *out,
                                  struct ifm_error *error)
{
    const struct ifm_cuda_image *row = &ifm_cuda_images[image];
    *out = (struct ifm_cuda_code){0};
    if (row->binary != NULL && device->kernels != IFM_KERNELS_NVRTC) {
        out->data = row->binary;
        out->size = (size_t)(row->end - row->binary);
        snprintf(out->compiler, sizeof out->compiler, "%s", IFM_NVCC);
        return IFM_OK;
    }
    if (device->kernels == IFM_KERNELS_BUILT)
        return ifm_fail(error, IFM_MISSING, "device.kernels",
                        "leave device.kernels out: NVRTC compiles them at run time",
                        "this build was made without nvcc and holds no kernels for a GPU");
    struct ifm_cuda_absence absence;
    struct unit unit;
    const struct ifm_nvrtc *nvrtc = ifm_nvrtc_load(&absence);
    if (nvrtc == NULL)
        return say_absent(&absence, error);
    fill_unit(row->name, row->source, true, &unit);
    return compile_unit(device, nvrtc, &unit, out, error);
}

enum ifm_status ifm_cuda_code_compile(struct ifm_cuda_device *device, const char *name, const char *text,
                                      struct ifm_cuda_code *out, struct ifm_error *error)
{
    struct ifm_cuda_absence absence;
    struct unit unit;
    const struct ifm_nvrtc *nvrtc = ifm_nvrtc_load(&absence);
    *out = (struct ifm_cuda_code){0};
    if (nvrtc == NULL)
        return ifm_fail(error, IFM_MISSING, name, absence.remedy, "it is a source for a GPU, and %s", absence.reason);
    fill_unit(name, text, false, &unit);
    return compile_unit(device, nvrtc, &unit, out, error);
}
