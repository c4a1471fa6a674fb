/* Energy on a real GPU: loads of known course under every sensor (record), what reading costs the load (perturb), and
 * what the sensors said of the loads (analyse).
 *
 *   bench_energy record DIR [options] [--script FILE] [PHASE...]   PHASE: LOAD:SECONDS[:PERIOD_MS:DUTY[:DITHER]]
 *   bench_energy perturb [options]
 *   bench_energy analyse DIR
 * Options: --scale X (of all times), --size BYTES (of a step), --nvml FILE (a management library). */
#include "energy/energy.h"

#include "base/text.h"

#include <string.h>

static int usage(void)
{
    fputs("usage: bench_energy record DIR [--scale X] [--size BYTES] [--nvml FILE] [--script FILE] [PHASE...]\n"
          "       bench_energy perturb [--scale X] [--size BYTES] [--nvml FILE]\n"
          "       bench_energy analyse DIR\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct energy_options options = {.scale = 1};
    int at = 2;
    if (argc < 2)
        return usage();
    bool perturb = strcmp(argv[1], "perturb") == 0;
    if (!perturb && argc < 3)
        return usage();
    if (!perturb)
        options.folder = argv[at++];
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        bool read = true;
        if (strcmp(argv[at], "--scale") == 0)
            read = ifm_parse_f64(argv[at + 1], &options.scale) && options.scale > 0;
        else if (strcmp(argv[at], "--size") == 0)
            read = ifm_parse_bytes(argv[at + 1], &options.bytes);
        else if (strcmp(argv[at], "--nvml") == 0)
            options.nvml = argv[at + 1];
        else if (strcmp(argv[at], "--script") == 0)
            options.script = argv[at + 1];
        else
            return usage();
        if (!read)
            return usage();
    }
    options.phases = argv + at;
    options.n_phases = argc - at;
    if (perturb)
        return options.n_phases > 0 ? usage() : energy_perturb(&options);
    if (strcmp(argv[1], "record") == 0)
        return energy_record(&options);
    if (strcmp(argv[1], "analyse") == 0 && options.n_phases == 0)
        return energy_analyse(options.folder);
    return usage();
}
