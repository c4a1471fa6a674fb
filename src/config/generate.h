/* Generate: help, manual, completion and schema, written from the parameter tables.
 *
 * Owns nothing; appends to the caller's text. Sections come as NULL-terminated arrays. Thread rule: no shared state. */
#ifndef IFM_CONFIG_GENERATE_H
#define IFM_CONFIG_GENERATE_H

#include "base/param.h"
#include "base/text.h"

/* An option that no table has: "--out DIR". */
struct ifm_option {
    const char *flag;     /* without dashes: "out" */
    char letter;          /* 'c' for "-c", '\0' for none */
    const char *argument; /* "DIR"; NULL = takes none. "FILE" and "DIR" complete to names of files and folders */
    const char *choices;  /* "table|md|csv", or NULL */
    const char *help;     /* one sentence, no full stop */
};

/* A subcommand as the command line knows it. */
struct ifm_command {
    const char *name;     /* "run" */
    const char *synopsis; /* "[-c FILE] [options]", or "" */
    const char *help;     /* one sentence, no full stop */
    const struct ifm_option *options;
    size_t n_options;
    const struct ifm_section *const *sections; /* whose flags it takes; NULL = none */
};

/* The whole program. */
struct ifm_program {
    const char *name;    /* "inferometer" */
    const char *purpose; /* "measure LLM inference", lower case, no full stop */
    const char *version; /* "0.1.0" */
    const char *date;    /* of the manual: "November 21, 2026" */
    const char *about;   /* a paragraph for the manual's description */
    const struct ifm_command *commands;
    size_t n_commands;
    const struct ifm_section *const *sections; /* of the configuration file: common ones and all workloads */
};

/* Flags of the sections, one entry each, wrapped to 100 columns. */
void ifm_generate_help(const struct ifm_section *const *sections, struct ifm_text *out);
/* The options of a command in the same layout. */
void ifm_generate_options(const struct ifm_option *options, size_t n, struct ifm_text *out);
/* Manual page (mdoc). */
void ifm_generate_man(const struct ifm_program *program, struct ifm_text *out);
/* Shell completion. */
void ifm_generate_bash(const struct ifm_program *program, struct ifm_text *out);
void ifm_generate_zsh(const struct ifm_program *program, struct ifm_text *out);
void ifm_generate_fish(const struct ifm_program *program, struct ifm_text *out);
/* JSON Schema (draft 2020-12) of the YAML file. `sections` begin with general, device and measure; the names of
 * the others are the workloads. */
void ifm_generate_schema(const struct ifm_section *const *sections, struct ifm_text *out);
/* docs/configuration.md. */
void ifm_generate_markdown(const struct ifm_section *const *sections, struct ifm_text *out);

#endif
