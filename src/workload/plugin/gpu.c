/* A plugin on the device cuda: what host->cuda offers, and how its steps are put on the stream.
 *
 * A failure of the work fails the arm, as of the lab's own kernels: the device keeps the first one. Thread rule: the
 * thread that drives the device. */
#include "workload/plugin/private.h"

#include <stddef.h>

/* ---- what a plugin calls ---- */

static struct ifm_plugin_link *link_of(const struct inferometer_plugin_host *host)
{
    return host->context;
}

static int answer(const struct inferometer_plugin_host *host, enum ifm_status status, const struct ifm_error *error)
{
    return status == IFM_OK ? 0 : ifm_plugin_host_fail(host, error->message, error->hint);
}

static int host_write(const struct inferometer_plugin_host *host, void *to, const void *from, size_t bytes)
{
    struct ifm_error error = {0};
    return answer(host, ifm_cuda_write(link_of(host)->device, to, from, bytes, &error), &error);
}

static int host_read(const struct inferometer_plugin_host *host, void *to, const void *from, size_t bytes)
{
    struct ifm_error error = {0};
    return answer(host, ifm_cuda_read(link_of(host)->device, to, from, bytes, &error), &error);
}

static int host_module(const struct inferometer_plugin_host *host, const struct inferometer_plugin_code *code,
                       void **module)
{
    struct ifm_error error = {0};
    struct ifm_cuda_module *found = NULL;
    if (code == NULL || module == NULL || code->name == NULL || code->data == NULL || code->bytes == 0 ||
        code->kind > INFEROMETER_PLUGIN_CUDA_BINARY)
        return ifm_plugin_host_fail(host,
                                    "cuda->module needs code with a name, a known kind and at least 1 byte, and "
                                    "a place for the module",
                                    NULL);
    const struct ifm_cuda_foreign foreign = {code->name, code->data, code->bytes,
                                             code->kind == INFEROMETER_PLUGIN_CUDA_SOURCE};
    const enum ifm_status status = ifm_cuda_load_module(link_of(host)->device, &foreign, &found, &error);
    *module = found;
    return answer(host, status, &error);
}

static int host_kernel(const struct inferometer_plugin_host *host, void *module, const char *name, uint32_t shared,
                       void **kernel)
{
    enum { WITHOUT_ASKING = 48 << 10 };
    struct ifm_error error = {0};
    struct ifm_cuda_function *found = NULL;
    struct ifm_device *device = link_of(host)->device;
    if (module == NULL || name == NULL || kernel == NULL)
        return ifm_plugin_host_fail(host, "cuda->kernel needs a module, a name and a place for the kernel", NULL);
    enum ifm_status status = ifm_cuda_find_in(device, module, name, &found, &error);
    if (status == IFM_OK && shared > WITHOUT_ASKING)
        status = ifm_cuda_allow_shared(device, found, shared, &error);
    *kernel = found;
    return answer(host, status, &error);
}

static uint32_t host_blocks(const struct inferometer_plugin_host *host, void *kernel, uint32_t threads, uint32_t shared)
{
    return kernel == NULL ? 0 : ifm_cuda_blocks(link_of(host)->device, kernel, threads, shared);
}

static void host_launch(const struct inferometer_plugin_host *host, const struct inferometer_plugin_launch *launch)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    const struct ifm_cuda_grid of = {.function = launch->kernel,
                                     .grid = {grid[0], grid[1], grid[2]},
                                     .block = {block[0], block[1], block[2]},
                                     .shared = launch->shared,
                                     .parameters = launch->parameters};
    if (of.function != NULL) /* its `kernel` failed: no output is written */
        ifm_cuda_launch_grid(link_of(host)->device, &of);
}

static void host_copy(const struct inferometer_plugin_host *host, void *to, const void *from, size_t bytes)
{
    ifm_cuda_copy(link_of(host)->device, to, from, bytes);
}

static void host_fill(const struct inferometer_plugin_host *host, void *to, uint32_t word, size_t words)
{
    ifm_cuda_fill(link_of(host)->device, to, word, words);
}

static int host_turns(const struct inferometer_plugin_host *host, uint32_t n, const uint32_t **turn)
{
    struct ifm_plugin_link *link = link_of(host);
    if (n == 0 || n > IFM_CUDA_TURNS || turn == NULL)
        return ifm_plugin_host_fail(host, "cuda->turns needs 1 to 64 turns and a place for the turn", NULL);
    ifm_cuda_steps_turns(link->steps, n, &link->turn);
    *turn = &link->turn;
    return 0;
}

void ifm_plugin_gpu_link(struct ifm_plugin_link *link, const struct ifm_gpu *gpu)
{
    link->cuda = (struct inferometer_plugin_cuda){.struct_size = sizeof link->cuda,
                                                  .gpu = gpu->name,
                                                  .major = gpu->major,
                                                  .minor = gpu->minor,
                                                  .multiprocessors = gpu->multiprocessors,
                                                  .l2_bytes = gpu->l2_bytes,
                                                  .memory_bytes = gpu->memory_bytes};
    link->host.device = INFEROMETER_PLUGIN_CUDA;
    link->host.cuda = &link->cuda;
    if (link->device == NULL)
        return;
    link->cuda.context = ifm_cuda_context(link->device);
    link->cuda.stream = ifm_cuda_stream(link->device);
    link->cuda.write = host_write;
    link->cuda.read = host_read;
    link->cuda.module = host_module;
    link->cuda.kernel = host_kernel;
    link->cuda.blocks = host_blocks;
    link->cuda.launch = host_launch;
    link->cuda.copy = host_copy;
    link->cuda.fill = host_fill;
    link->cuda.turns = host_turns;
}

/* ---- steps ---- */

static const struct ifm_param chosen_rows[] = {
    {"launch", NULL, IFM_TYPE_CHOICE, 0, "", "graph", 1, 0, "graph|steps",
     "how steps are put on a GPU: captured into graphs, or launched each", offsetof(struct ifm_plugin_chosen, launch)},
};
const struct ifm_section ifm_plugin_chosen = IFM_SECTION("plugin", NULL, chosen_rows, struct ifm_plugin_chosen);

enum ifm_status ifm_plugin_gpu_begin(struct ifm_plugin_link *link, ifm_cuda_enqueue_fn *step, void *state,
                                     bool launched, struct ifm_error *error)
{
    link->output.gpu = link->device;
    IFM_TRY(ifm_cuda_steps_create(link->device, step, state, &link->steps, error));
    ifm_cuda_steps_foreign(link->steps, launched);
    link->launched = launched;
    return launched ? ifm_cuda_delay(link->device, error) : IFM_OK;
}

enum ifm_status ifm_plugin_gpu_kept(const struct ifm_plugin_link *link, const char *function, struct ifm_error *error)
{
    return ifm_cuda_restore_context(link->device)
               ? IFM_OK
               : ifm_fail(error, IFM_INVALID, link->plugin, "leave the context that is current as it is",
                          "%s of the plugin '%s' left another CUDA context current", function, link->plugin);
}

enum ifm_status ifm_plugin_gpu_after(const struct ifm_plugin_link *link, const char *function, struct ifm_error *error)
{
    const enum ifm_status kept = ifm_plugin_gpu_kept(link, function, error);
    struct ifm_error failed = {0};
    const enum ifm_status status = ifm_cuda_wait(link->device, &failed);
    if (status == IFM_OK)
        return kept;
    *error = failed;
    return status;
}

void ifm_plugin_gpu_delay(const struct ifm_plugin_link *link)
{
    struct ifm_error ignored; /* `begin` has delayed once: what fails now is a failure of the device, which it keeps */
    if (link->launched)
        (void)!ifm_cuda_delay(link->device, &ignored);
}
