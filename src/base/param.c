/* Parameter rows: text to field and back. Every conversion of a setting happens here. */
#include "base/param.h"

#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool ifm_list_has(const struct ifm_list *list, const char *item)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

enum { LONGEST_SHOWN = 60, MOST_ITEMS = 256 };

/* One field of any type; large enough to hold a parsed scalar before it is stored. */
union scalar {
    uint64_t u64;
    double f64;
    bool truth;
    const char *text;
    int choice;
};

const char *ifm_param_shown(const char *text, char buffer[72])
{
    size_t n = strnlen(text, LONGEST_SHOWN + 1);
    bool cut = n > LONGEST_SHOWN;
    if (cut) {
        n = LONGEST_SHOWN;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) /* never half of a UTF-8 character */
            n--;
    }
    for (size_t i = 0; i < n; i++)
        buffer[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
    snprintf(buffer + n, 72 - n, "%s", cut ? "..." : "");
    return buffer;
}

struct ifm_list ifm_param_split(const char *text, struct ifm_arena *arena)
{
    size_t n = 1;
    for (const char *at = text; *at != '\0'; at++)
        n += *at == ',';
    const char **items = IFM_ARENA_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(text, ",");
        const char *first = text, *last = text + length;
        while (first < last && *first == ' ')
            first++;
        while (last > first && last[-1] == ' ')
            last--;
        char *item = IFM_ARENA_ARRAY(arena, char, last - first + 1);
        memcpy(item, first, (size_t)(last - first));
        items[i] = item;
        text += length + (text[length] == ',');
    }
    return (struct ifm_list){items, n};
}

const char *ifm_param_ungrouped(const char *text, struct ifm_arena *arena)
{
    enum { LONGEST = 24 };
    size_t group = strspn(text, "0123456789"), n = 0;
    char digits[LONGEST + 1];
    const char separator = text[group];
    if (group < 1 || group > 3 || separator == '\0' || strchr(",_ '", separator) == NULL || strlen(text) > LONGEST)
        return NULL;
    for (const char *at = text;; group = strspn(at, "0123456789")) {
        if (at > text && group != 3)
            return NULL;
        memcpy(digits + n, at, group);
        n += group;
        at += group;
        if (*at == '\0')
            break;
        if (*at++ != separator)
            return NULL;
    }
    digits[n] = '\0';
    return ifm_arena_strdup(arena, digits);
}

const char *ifm_param_meant(const struct ifm_section *section, const struct ifm_param *row, const char *text)
{
    for (const struct ifm_word *word = section->words; word != NULL && word->path != NULL; word++)
        if (strcmp(word->path, row->path) == 0 && strcmp(word->word, text) == 0)
            return word->values;
    return text;
}

const char *ifm_list_join(struct ifm_list list, const char *between, struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    for (size_t i = 0; i < list.n; i++)
        ifm_text_printf(&text, "%s%s", i > 0 ? between : "", list.items[i]);
    return ifm_text_keep(&text, arena);
}

/* The words of "hot|cold". */
static struct ifm_list choice_words(const struct ifm_param *row, struct ifm_arena *arena)
{
    char *words = ifm_arena_strdup(arena, row->choices);
    for (char *at = words; *at != '\0'; at++)
        if (*at == '|')
            *at = ',';
    return ifm_param_split(words, arena);
}

bool ifm_param_is_choice(const struct ifm_param *row)
{
    return row->choices != NULL && (row->flags & IFM_PRIVATE) == 0;
}

bool ifm_param_is_open(const struct ifm_param *row, const char *text)
{
    if ((row->flags & IFM_PRIVATE) == 0 || (row->fallback != NULL && strcmp(text, row->fallback) == 0))
        return true;
    const size_t length = strlen(text);
    for (const char *word = row->choices; word != NULL && length > 0; word = strchr(word, '|')) {
        word += *word == '|';
        if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0'))
            return true;
    }
    return false;
}

static const char *number_range(const struct ifm_param *row, struct ifm_arena *arena)
{
    bool whole = row->type == IFM_TYPE_U64 || row->type == IFM_TYPE_BYTES;
    const char *unit = row->type == IFM_TYPE_SECONDS ? " s" : "";
    char low[32], high[32];
    if (row->min > row->max || (isinf(row->min) && isinf(row->max))) {
        if (whole)
            return "0 .. 18446744073709551615";
        return row->type == IFM_TYPE_SECONDS ? "any duration" : "any number";
    }
    snprintf(low, sizeof low, whole ? "%.0f" : "%.15g", row->min);
    snprintf(high, sizeof high, whole ? "%.0f" : "%.15g", row->max);
    if (isinf(row->max))
        return ifm_arena_printf(arena, "at least %s%s", low, unit);
    if (isinf(row->min))
        return ifm_arena_printf(arena, "at most %s%s", high, unit);
    return ifm_arena_printf(arena, "%s .. %s%s", low, high, unit);
}

const char *ifm_param_range(const struct ifm_param *row, struct ifm_arena *arena)
{
    if (ifm_param_is_choice(row))
        return ifm_list_join(choice_words(row, arena), ", ", arena);
    switch (row->type) {
    case IFM_TYPE_BOOL:
        return "true, false";
    case IFM_TYPE_TEXT:
    case IFM_TYPE_CHOICE:
        return "any text";
    default:
        return number_range(row, arena);
    }
}

/* What a value of each type is called. */
static const char *const nouns[] = {
    [IFM_TYPE_U64] = "a whole number",        [IFM_TYPE_F64] = "a number",
    [IFM_TYPE_BOOL] = "one of the choices",   [IFM_TYPE_TEXT] = "one of the choices",
    [IFM_TYPE_CHOICE] = "one of the choices", [IFM_TYPE_BYTES] = "a size in bytes",
    [IFM_TYPE_SECONDS] = "a duration",
};

/* A text on its way to a field. */
struct param_reading {
    const struct ifm_param *row;
    const char *text, *where;
    struct ifm_arena *arena;
    struct ifm_error *error;
};

static bool is_in_range(const struct ifm_param *row, double number)
{
    return row->min > row->max || (number >= row->min && number <= row->max);
}

/* Whether the row takes this text: nothing else may be suggested. */
static bool takes(const struct param_reading *in, const char *text)
{
    const enum ifm_type type = in->row->type;
    uint64_t whole;
    double number;
    if (type == IFM_TYPE_U64 || type == IFM_TYPE_BYTES) {
        if (!(type == IFM_TYPE_BYTES ? ifm_parse_bytes(text, &whole) : ifm_parse_u64(text, &whole)))
            return false;
        number = (double)whole;
    } else if (!(type == IFM_TYPE_SECONDS ? ifm_parse_seconds(text, &number) : ifm_parse_f64(text, &number)))
        return false;
    return is_in_range(in->row, number);
}

const char *ifm_param_duration_meant(const char *text, struct ifm_arena *arena)
{
    enum { SPELLINGS = 5 };
    static const char *const units[][SPELLINGS] = {{"s", "sec", "secs", "second", "seconds"},
                                                   {"min", "m", "mins", "minute", "minutes"},
                                                   {"h", "hr", "hrs", "hour", "hours"},
                                                   {"ms", "msec", "msecs", "millisecond", "milliseconds"}};
    const int digits = (int)strspn(text, "0123456789.");
    const char *word = text + digits + (text[digits] == ' ');
    for (size_t i = 0; digits > 0 && i < sizeof units / sizeof *units; i++)
        for (size_t spelling = 0; spelling < SPELLINGS; spelling++)
            if (strcasecmp(word, units[i][spelling]) == 0)
                return ifm_arena_printf(arena, "%.*s%s", digits, text, units[i][0]);
    return NULL;
}

static const char *hint_of_unit(const struct param_reading *in)
{
    const char *meant = ifm_param_duration_meant(in->text, in->arena);
    return meant != NULL && takes(in, meant) ? ifm_arena_printf(in->arena, "did you mean %s?", meant) : NULL;
}

/* "write a duration as 0.01, 10ms or 2min", of what the row takes; "" where it takes none of these. */
static const char *hint_of_examples(const struct param_reading *in)
{
    enum { KINDS = 3, EACH = 5 };
    static const char *const durations[KINDS][EACH] = {
        {"0.01", "0.5", "5", "60"}, {"10ms", "500ms", "1.5s", "30s"}, {"2min", "45s", "3s"}};
    static const char *const sizes[KINDS][EACH] = {{"65536", "1000000"}, {"64KiB", "16MiB"}, {"1.5GB", "128MB"}};
    const bool duration = in->row->type == IFM_TYPE_SECONDS;
    const char *list = "", *found[KINDS];
    size_t n = 0;
    if (in->row->type == IFM_TYPE_U64 && in->row->fallback != NULL) /* 0 means what the help says */
        return strcmp(in->row->fallback, "0") == 0 ? in->row->help
                                                   : ifm_arena_printf(in->arena, "such as %s", in->row->fallback);
    if (!duration && in->row->type != IFM_TYPE_BYTES)
        return "";
    const char *unit = duration ? hint_of_unit(in) : NULL;
    if (unit != NULL)
        return unit;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (const char *const *example = duration ? durations[kind] : sizes[kind]; *example != NULL; example++)
            if (takes(in, *example)) {
                found[n++] = *example;
                break;
            }
    for (size_t i = 0; i < n; i++)
        list = ifm_arena_printf(in->arena, "%s%s%s", list, i == 0 ? "" : i + 1 < n ? ", " : " or ", found[i]);
    if (n == 0)
        return "";
    return duration ? ifm_arena_printf(in->arena, "write a duration as %s; a number alone is in seconds", list)
                    : ifm_arena_printf(in->arena, "write a size as %s", list);
}

/* "8k" of a whole number: those of the two that it may mean which are allowed; "" where neither is. NULL: another
 * text. */
static const char *hint_of_thousands(const struct param_reading *in)
{
    uint64_t number;
    const size_t length = strlen(in->text);
    const char last = length > 0 ? in->text[length - 1] : '\0';
    if (length < 2 || length > 7 || (last != 'k' && last != 'K'))
        return NULL;
    if (!ifm_parse_u64(ifm_arena_printf(in->arena, "%.*s", (int)length - 1, in->text), &number))
        return NULL;
    const char *binary = ifm_arena_printf(in->arena, "%llu", (unsigned long long)number * 1024);
    const char *decimal = ifm_arena_printf(in->arena, "%llu", (unsigned long long)number * 1000);
    if (!takes(in, binary))
        return takes(in, decimal) ? ifm_arena_printf(in->arena, "write %s", decimal) : "";
    return ifm_arena_printf(in->arena, "write %s (%llu x 1024)%s%s", binary, (unsigned long long)number,
                            takes(in, decimal) ? " or " : "", takes(in, decimal) ? decimal : "");
}

/* The whole number written as 8k, 4,096, 4x or 1e9, as a hint; "" where it is not allowed. NULL: another text. */
static const char *hint_of_whole(const struct param_reading *in)
{
    const char *meant = ifm_param_ungrouped(in->text, in->arena), *thousands = hint_of_thousands(in);
    double number;
    if (in->row->type == IFM_TYPE_U64 && thousands != NULL)
        return thousands;
    if (meant == NULL && in->row->type == IFM_TYPE_U64 && ifm_parse_f64(in->text, &number) && number >= 0 &&
        number < 1e300 && number == floor(number))
        meant = ifm_arena_printf(in->arena, "%.0f", number);
    const size_t digits = strspn(in->text, "0123456789");
    if (meant == NULL && digits > 0 && strcmp(in->text + digits, "x") == 0)
        meant = ifm_arena_printf(in->arena, "%.*s", (int)digits, in->text);
    if (meant == NULL)
        return NULL;
    return takes(in, meant) ? ifm_arena_printf(in->arena, "did you mean %s?", meant) : "";
}

static enum ifm_status out_of_range(const struct param_reading *in);

static enum ifm_status wrong_type(const struct param_reading *in)
{
    const struct ifm_param *row = in->row;
    const bool counts = row->type == IFM_TYPE_U64 || row->type == IFM_TYPE_F64;
    const char *whole = counts ? hint_of_whole(in) : NULL;
    char shown[72];
    if (in->text[0] == '\0')
        return ifm_fail(in->error, IFM_USAGE, in->where, hint_of_examples(in), "%s has no value; allowed: %s",
                        row->path, ifm_param_range(row, in->arena));
    if (whole != NULL && whole[0] == '\0') /* it is one, and only too large or too small */
        return out_of_range(in);
    return ifm_fail(in->error, IFM_USAGE, in->where, whole != NULL ? whole : hint_of_examples(in),
                    "%s: '%s' is not %s; allowed: %s", row->path, ifm_param_shown(in->text, shown), nouns[row->type],
                    ifm_param_range(row, in->arena));
}

static bool has_unit(const struct ifm_param *row, const char *unit)
{
    return row->unit != NULL && strcmp(row->unit, unit) == 0;
}

static enum ifm_status out_of_range(const struct param_reading *in)
{
    char shown[72];
    double number;
    const struct ifm_param *row = in->row;
    const bool fraction = row->type == IFM_TYPE_F64 && has_unit(row, "1") && row->max <= 1;
    const char *hint = "";
    if (fraction && ifm_parse_f64(in->text, &number) && number >= 1 && number <= 100 && is_in_range(row, number / 100))
        hint = ifm_arena_printf(in->arena, "it is a fraction: %.15g per cent is %.15g, or %.15g%%", number,
                                number / 100, number);
    return ifm_fail(in->error, IFM_USAGE, in->where, hint, "%s: %s is out of range; allowed: %s", in->row->path,
                    ifm_param_shown(in->text, shown), ifm_param_range(in->row, in->arena));
}

/* "-1" and "99999999999999999999" are whole numbers; only their size is wrong. */
static bool is_integer_text(const char *text)
{
    text += text[0] == '-';
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static enum ifm_status parse_whole(const struct param_reading *in, uint64_t *out)
{
    uint64_t number;
    bool ok = in->row->type == IFM_TYPE_BYTES ? ifm_parse_bytes(in->text, &number) : ifm_parse_u64(in->text, &number);
    if (!ok)
        return is_integer_text(in->text) ? out_of_range(in) : wrong_type(in);
    if (!is_in_range(in->row, (double)number))
        return out_of_range(in);
    *out = number;
    return IFM_OK;
}

/* "1%" of a fraction or of a row in per cent. */
static bool parse_percent(const struct param_reading *in, double *out)
{
    const size_t length = strlen(in->text);
    const bool fraction = has_unit(in->row, "1"), percent = has_unit(in->row, "%");
    if (length < 2 || length > 32 || in->text[length - 1] != '%' || strpbrk(in->text, "eE") != NULL ||
        !(fraction || percent))
        return false;
    const int digits = (int)length - 1 - (in->text[length - 2] == ' ');
    /* the exponent rather than a division: 0.7% is 0.007 and no neighbour of it */
    return ifm_parse_f64(ifm_arena_printf(in->arena, "%.*s%s", digits, in->text, fraction ? "e-2" : ""), out);
}

static enum ifm_status parse_real(const struct param_reading *in, double *out)
{
    double number;
    bool ok = in->row->type == IFM_TYPE_SECONDS ? ifm_parse_seconds(in->text, &number)
                                                : ifm_parse_f64(in->text, &number) || parse_percent(in, &number);
    if (!ok) /* a number all the same: a negative duration */
        return ifm_parse_f64(in->text, &number) ? out_of_range(in) : wrong_type(in);
    if (!is_in_range(in->row, number))
        return out_of_range(in);
    *out = number == 0 ? 0 : number; /* -0 and 0 are one value */
    return IFM_OK;
}

static enum ifm_status parse_bool(const struct param_reading *in, bool *out)
{
    char shown[72];
    *out = strcmp(in->text, "true") == 0;
    if (*out || strcmp(in->text, "false") == 0)
        return IFM_OK;
    return ifm_fail(in->error, IFM_USAGE, in->where, "write true or false", "%s: '%s' is neither true nor false",
                    in->row->path, ifm_param_shown(in->text, shown));
}

/* What formats of numbers and devices are called elsewhere, and the nearest one of ours, of formats in bits; not always
 * the same format. */
static const char *name_meant(const struct param_reading *in, struct ifm_list words)
{
    const char *text = ifm_arena_printf(in->arena, "%.*s", (int)strcspn(in->text, ":"), in->text); /* cuda:0 */
    static const char *const elsewhere[][2] = {
        {"fp4", "int4"},    {"nvfp4", "int4"},  {"mxfp4", "int4"},    {"nf4", "int4"},      {"q4", "int4"},
        {"q4_0", "int4"},   {"q4_1", "int4"},   {"u4", "int4"},       {"int3", "int4"},     {"fp8", "e4m3"},
        {"f8", "e4m3"},     {"e5m2", "e4m3"},   {"fp8_e4m3", "e4m3"}, {"fp8_e5m2", "e4m3"}, {"mxfp8", "e4m3"},
        {"q8", "int8"},     {"q8_0", "int8"},   {"q8_1", "int8"},     {"u8", "int8"},       {"q2", "int2"},
        {"q2_k", "int2"},   {"fp16", "f16"},    {"half", "f16"},      {"float16", "f16"},   {"bf16", "f16"},
        {"fp32", "f32"},    {"float32", "f32"}, {"float", "f32"},     {"single", "f32"},    {"gpu", "cuda"},
        {"nvidia", "cuda"},
    };
    if (ifm_list_has(&words, text))
        return text;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcasecmp(text, elsewhere[i][0]) == 0 && ifm_list_has(&words, elsewhere[i][1]))
            return elsewhere[i][1];
    return NULL;
}

/* "f16+int4" of a row that takes several: f16,int4, each the nearest that there is; NULL: another text. */
static const char *list_meant(const struct param_reading *in, struct ifm_list words)
{
    char *text = ifm_arena_strdup(in->arena, in->text);
    if ((in->row->flags & (IFM_SWEEP | IFM_LIST)) == 0 || strpbrk(text, "+;|/ ") == NULL)
        return NULL;
    for (char *at = text; (at = strpbrk(at, "+;|/ ")) != NULL;)
        *at = ',';
    const struct ifm_list items = ifm_param_split(text, in->arena);
    const char **meant = IFM_ARENA_ARRAY(in->arena, const char *, items.n + 1);
    for (size_t i = 0; i < items.n; i++) {
        const struct param_reading item = {.text = items.items[i], .arena = in->arena};
        const char *named = name_meant(&item, words);
        meant[i] = named != NULL ? named : ifm_nearest(items.items[i], words.items, words.n);
        if (meant[i] == NULL)
            return NULL;
    }
    return ifm_list_join((struct ifm_list){meant, items.n}, ",", in->arena);
}

/* The index of the text among the choices, of one with a parameter by the part up to its '='. */
static enum ifm_status parse_choice(const struct param_reading *in, int *out)
{
    struct ifm_list words = choice_words(in->row, in->arena);
    for (*out = 0; *out < (int)words.n; ++*out) {
        const char *word = words.items[*out], *equals = strchr(word, '=');
        if (strcmp(in->text, word) == 0 ||
            (equals != NULL && strncmp(in->text, word, (size_t)(equals - word) + 1) == 0))
            return IFM_OK;
    }
    wrong_type(in);
    const char *nearest = list_meant(in, words);
    nearest = nearest != NULL ? nearest : name_meant(in, words);
    nearest = nearest != NULL ? nearest : ifm_nearest(in->text, words.items, words.n);
    for (size_t i = 0; i < words.n; i++) { /* "3%" alone */
        const char *equals = strchr(words.items[i], '=');
        const size_t digits = strspn(in->text, "0123456789.");
        if (equals != NULL && digits > 0 && strcmp(in->text + digits, "%") == 0)
            nearest = ifm_arena_printf(in->arena, "%.*s=%s", (int)(equals - words.items[i]), words.items[i], in->text);
    }
    return ifm_error_nearest(in->error, nearest);
}

static enum ifm_status parse_text(const struct param_reading *in, const char **out)
{
    int index;
    if (ifm_param_is_choice(in->row))
        IFM_TRY(parse_choice(in, &index));
    *out = ifm_arena_strdup(in->arena, in->text);
    return IFM_OK;
}

static enum ifm_status parse_scalar(const struct param_reading *in, void *field)
{
    switch (in->row->type) {
    case IFM_TYPE_U64:
    case IFM_TYPE_BYTES:
        return parse_whole(in, field);
    case IFM_TYPE_F64:
    case IFM_TYPE_SECONDS:
        return parse_real(in, field);
    case IFM_TYPE_BOOL:
        return parse_bool(in, field);
    case IFM_TYPE_CHOICE:
        return parse_choice(in, field);
    case IFM_TYPE_TEXT:
        return parse_text(in, field);
    }
    return ifm_fail(in->error, IFM_INTERNAL, in->where, "", "%s has an unknown type", in->row->path);
}

static const char *print_scalar(const struct ifm_param *row, const void *field, struct ifm_arena *arena)
{
    char number[32];
    switch (row->type) {
    case IFM_TYPE_U64:
    case IFM_TYPE_BYTES:
        return ifm_arena_printf(arena, "%llu", (unsigned long long)*(const uint64_t *)field);
    case IFM_TYPE_F64:
    case IFM_TYPE_SECONDS:
        return ifm_arena_strdup(arena, ifm_format_real(*(const double *)field, number));
    case IFM_TYPE_BOOL:
        return *(const bool *)field ? "true" : "false";
    case IFM_TYPE_CHOICE:
        return choice_words(row, arena).items[*(const int *)field];
    case IFM_TYPE_TEXT:
        return *(const char *const *)field;
    }
    return "";
}

static enum ifm_status parse_list(const struct param_reading *in, struct ifm_list *out)
{
    char shown[72];
    const struct ifm_param *row = in->row;
    *out = (struct ifm_list){0};
    if (in->text[0] == '\0' && row->fallback != NULL && row->fallback[0] == '\0')
        return IFM_OK;
    if (in->text[0] == '\0')
        return ifm_fail(in->error, IFM_USAGE, in->where, "", "%s is an empty list; allowed: %s", row->path,
                        ifm_param_range(row, in->arena));
    struct ifm_list raw = ifm_param_split(in->text, in->arena);
    if (raw.n > MOST_ITEMS)
        return ifm_fail(in->error, IFM_USAGE, in->where, "", "%s lists %zu items; at most %d are taken", row->path,
                        raw.n, MOST_ITEMS);
    const char **items = IFM_ARENA_ARRAY(in->arena, const char *, raw.n);
    for (size_t i = 0; i < raw.n; i++) {
        union scalar value;
        const struct param_reading item = {row, raw.items[i], in->where, in->arena, in->error};
        if (item.text[0] == '\0')
            return ifm_fail(in->error, IFM_USAGE, in->where, "", "%s: '%s' has an empty item", row->path,
                            ifm_param_shown(in->text, shown));
        IFM_TRY(parse_scalar(&item, &value));
        items[i] = print_scalar(row, &value, in->arena);
        for (size_t j = 0; j < i; j++)
            if (strcmp(items[i], items[j]) == 0)
                return ifm_fail(in->error, IFM_USAGE, in->where, "name each item once", "%s lists '%s' twice",
                                row->path, ifm_param_shown(items[i], shown));
    }
    *out = (struct ifm_list){items, raw.n};
    return IFM_OK;
}

enum ifm_status ifm_param_parse(const struct ifm_param *row, const char *text, const char *where,
                                struct ifm_arena *arena, void *field, struct ifm_error *error)
{
    const struct param_reading in = {row, text, where, arena, error};
    return (row->flags & IFM_LIST) != 0 ? parse_list(&in, field) : parse_scalar(&in, field);
}

const char *ifm_param_print(const struct ifm_param *row, const void *field, struct ifm_arena *arena)
{
    if ((row->flags & IFM_LIST) == 0)
        return print_scalar(row, field, arena);
    return ifm_list_join(*(const struct ifm_list *)field, ",", arena);
}

enum ifm_status ifm_section_bind(const struct ifm_section *section, const struct ifm_setting *settings, size_t n,
                                 struct ifm_arena *arena, void *out, struct ifm_error *error)
{
    memset(out, 0, section->size);
    for (size_t i = 0; i < section->n; i++) {
        const struct ifm_param *row = &section->rows[i];
        const char *text = row->fallback;
        for (size_t j = 0; j < n; j++)
            if (strcmp(settings[j].path, row->path) == 0)
                text = settings[j].text;
        if (text == NULL)
            return ifm_fail(error, IFM_USAGE, "", "", "%s must be given; allowed: %s", row->path,
                            ifm_param_range(row, arena));
        if (text == row->fallback && (row->flags & IFM_SWEEP) != 0) /* a default may be an axis */
            text = ifm_param_split(text, arena).items[0];
        IFM_TRY(ifm_param_parse(row, text, row->path, arena, (char *)out + row->offset, error));
    }
    return IFM_OK;
}

const struct ifm_setting *ifm_section_print(const struct ifm_section *section, const void *values,
                                            struct ifm_arena *arena)
{
    struct ifm_setting *settings = IFM_ARENA_ARRAY(arena, struct ifm_setting, section->n);
    for (size_t i = 0; i < section->n; i++) {
        const struct ifm_param *row = &section->rows[i];
        settings[i] = (struct ifm_setting){row->path, ifm_param_print(row, (const char *)values + row->offset, arena)};
    }
    return settings;
}
