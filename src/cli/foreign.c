/* What users of other tools type, and what it is called here. Only messages are made of it: no flag of another tool is
 * taken, as none means exactly the same. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Without dashes; of several rows for one flag the first counts whose own flag the command takes. */
static const struct {
    const char *flag, *ours;
} flags[] = {
    /* llama-bench, llama-cli */
    {"n", "decode-tokens"},
    {"p", "seq-len"},
    {"p", "kv-len"},
    {"t", "threads"},
    {"m", "model"},
    {"r", "repeats"},
    {"b", "batch"},
    {"ctk", "formats"},
    {"ctv", "formats"},
    {"n-gen", "decode-tokens"},
    {"n-prompt", "seq-len"},
    {"n-prompt", "kv-len"},
    {"n-predict", "decode-tokens"},
    {"ctx-size", "kv-len"},
    {"cache-type-k", "formats"},
    {"cache-type-v", "formats"},
    {"repetitions", "repeats"},
    {"n-depth", "kv-len"},
    /* vLLM, PyTorch */
    {"batch-size", "batch"},
    {"num-seqs", "batch"},
    {"max-num-seqs", "batch"},
    {"max-model-len", "kv-len"},
    {"max-model-len", "seq-len"},
    {"context-length", "kv-len"},
    {"context-length", "seq-len"},
    {"seq-length", "kv-len"},
    {"seq-length", "seq-len"},
    {"seq", "seq-len"},
    {"seq-len", "kv-len"},
    {"kv-len", "seq-len"},
    {"input-len", "kv-len"},
    {"input-len", "seq-len"},
    {"output-len", "decode-tokens"},
    {"max-tokens", "decode-tokens"},
    {"max-new-tokens", "decode-tokens"},
    {"kv-cache-dtype", "formats"},
    {"quantization", "formats"},
    {"dtype", "storage"},
    {"dtype", "formats"},
    {"dtype", "weights"},
    {"formats", "weights"},
    {"weights", "formats"},
    {"quantization", "weights"},
    {"num-heads", "q-heads"},
    {"num-attention-heads", "q-heads"},
    {"num-kv-heads", "kv-heads"},
    {"num-key-value-heads", "kv-heads"},
    {"head-size", "head-dim"},
    {"num-layers", "layers"},
    {"num-hidden-layers", "model-layers"},
    {"is-causal", "causal"},
    {"num-threads", "threads"},
    {"num-iters", "repeats"},
    {"iters", "repeats"},
    {"iterations", "repeats"},
    {"num-warmup", "warmup"},
    {"warmup-iters", "warmup"},
    {"gpu", "device"},
    {"cuda", "device"},
    /* hyperfine, perf */
    {"w", "warmup"},
    {"N", "no-shell"},
    {"S", "shell"},
    {"i", "ignore-failure"},
    {"repeat", "repeats"},
    {"runs", "repeats"},
    {"min-runs", "repeats"},
    {"max-runs", "repeats"},
    {"time-limit", "cap"},
    {"min-time", "cap"},
    {"command-name", "name"},
    {"n", "name"},
    {"parameter-list", "name"},
    {"parameter-scan", "name"},
    {"show-output", "output"},
    {"json", "format"},
    {"csv", "format"},
    {"export-json", "format"},
    {"export-csv", "format"},
    {"export-markdown", "format"},
    {"max-regression", "gates"},
    /* benchmark actions, compare-and-fail scripts */
    {"threshold", "max-regression"},
    {"threshold", "gates"},
    {"limit", "max-regression"},
    {"limit", "gates"},
    {"max-slowdown", "max-regression"},
    {"alert-threshold", "max-regression"},
    {"fail-threshold", "max-regression"},
    {"o", "out"},
    {"q", "quiet"},
    {"v", "verbose"},
};

/* Hints of flags that are more than another name. */
static const struct {
    const char *flag, *hint;
} notes[] = {
    {"gpu", "write --device cuda"},
    {"cuda", "write --device cuda"},
    {"json", "write --format json"},
    {"csv", "write --format csv"},
    {"export-json", "write --format json > FILE; every run folder holds derived.json too"},
    {"export-csv", "write --format csv > FILE; every run folder holds report.csv too"},
    {"export-markdown", "write --format md > FILE; every run folder holds report.md too"},
    {"show-output", "write --output inherit"},
    {"parameter-list", "give one quoted command for each value: exec 'cmd 1' 'cmd 2' --name one --name two"},
    {"parameter-scan", "give one quoted command for each value: exec 'cmd 1' 'cmd 2' --name one --name two"},
    {"N", "leave it out: commands run without a shell, unless --shell is given"},
};

/* What a command takes as a word, or another command does. */
static const struct {
    const char *verb, *flag, *hint;
} instead[] = {
    {"flops", "model", "the model is a word: inferometer flops llama-3-8b"},
    {"flops", "kv-len", "here it is --prompt-tokens"},
    {"flops", "seq-len", "here it is --prompt-tokens"},
    {"summary", "json", "`inferometer report DIR --format json` prints numbers"},
    {"summary", "format", "a summary is text; `inferometer report DIR` takes --format json, csv or md"},
    {"compare", "against", "the reference is the first word: inferometer compare REFERENCE RUN"},
    {"compare", "gates", "`inferometer gate DIR --gates no-regression=3%` judges"},
    {"compare", "max-regression", "`inferometer gate DIR --gates no-regression=3%` judges"},
};

const char *ifm_foreign_instead(const char *verb, const char *flag)
{
    for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
        if (strcmp(instead[i].verb, verb) == 0 && strcmp(instead[i].flag, flag) == 0)
            return instead[i].hint;
    return NULL;
}

static const struct ifm_verb no_verbs[1], *all_verbs = no_verbs;

void ifm_foreign_verbs(const struct ifm_verb *verbs)
{
    all_verbs = verbs;
}

bool ifm_verb_takes(const struct ifm_verb *verb, const char *flag)
{
    for (size_t i = 0; i < verb->n_options; i++)
        if (strcmp(verb->options[i].flag, flag) == 0)
            return true;
    return false;
}

bool ifm_verb_named_takes(const char *name, const char *flag)
{
    for (const struct ifm_verb *verb = all_verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0)
            return ifm_verb_takes(verb, flag);
    return false;
}

/* The only command that has the flag; NULL: none has it, or several have. */
static const struct ifm_verb *verb_of(const char *flag)
{
    const struct ifm_verb *found = NULL;
    for (const struct ifm_verb *verb = all_verbs; verb->name != NULL; verb++) {
        if (!ifm_verb_takes(verb, flag))
            continue;
        if (found != NULL)
            return NULL;
        found = verb;
    }
    return found;
}

bool ifm_flag_elsewhere(const char *name, char *hint, size_t size)
{
    const struct ifm_verb *verb = verb_of(name);
    if (verb != NULL)
        snprintf(hint, size, "--%.40s is an option of `inferometer %.40s`", name, verb->name);
    return verb != NULL;
}

bool ifm_foreign_flag(const char *name, ifm_takes_flag *takes, const void *command, char *hint, size_t size)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(flags[i].flag, name) != 0 || !takes(flags[i].ours, command))
            continue;
        const bool limit = strcmp(flags[i].ours, "max-regression") == 0, gates = strcmp(flags[i].ours, "gates") == 0;
        snprintf(hint, size,
                 limit   ? "here it is --%s, such as --max-regression 3%%"
                 : gates ? "write --%s no-regression=3%%"
                         : "here it is --%s",
                 flags[i].ours);
        for (size_t j = 0; j < sizeof notes / sizeof *notes; j++)
            if (strcmp(notes[j].flag, name) == 0)
                snprintf(hint, size, "%s", notes[j].hint);
        return true;
    }
    return false;
}
