/* The doors of the media. */
#include "document/escape.h"

#include <stdarg.h>
#include <string.h>

/* The bytes of the UTF-8 character at `text`, and its code; 0 where there is none. */
static size_t character(const char *text, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    *code = c[0];
    if (c[0] < 0x80)
        return 1;
    size_t length = c[0] >= 0xf0 && c[0] < 0xf5   ? 4
                    : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                    : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                                                  : 0;
    if (length == 0)
        return 0;
    *code = c[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (c[i] & 0x3f);
    }
    bool overlong = (length == 3 && *code < 0x800) || (length == 4 && *code < 0x10000);
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return overlong || surrogate || *code > 0x10ffff ? 0 : length;
}

static bool is_blank(uint32_t code)
{
    return code == '\n' || code == '\r' || code == '\t';
}

/* What a reader would not see, and a terminal or a browser would act on. */
static bool is_hostile(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},    {0x180e, 0x180e},
                                         {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff},
                                         {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* One step through a text: its next character as it may be shown, and how many bytes it took. Line ends and tabs are
 * left to the medium. */
struct step {
    const char *text; /* not ended by zero */
    size_t size, taken;
};

static struct step next_of(const char *text)
{
    uint32_t code;
    size_t length = character(text, &code);
    if (length == 0)
        return (struct step){"?", 1, 1};
    if (is_hostile(code) && !is_blank(code))
        return (struct step){"?", 1, length};
    return (struct step){text, length, length};
}

/* What an ASCII terminal shows instead. */
static const char *ascii_of(const struct step *step)
{
    static const struct {
        const char *utf8, *ascii;
    } table[] = {{"µ", "u"},  {"±", "+-"}, {"×", "x"},   {"–", "-"}, {"—", "-"}, {"·", "-"},
                 {"≤", "<="}, {"≥", ">="}, {"…", "..."}, {"▁", "_"}, {"▂", "."}, {"▃", ":"},
                 {"▄", "-"},  {"▅", "="},  {"▆", "+"},   {"▇", "*"}, {"█", "#"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strlen(table[i].utf8) == step->size && memcmp(step->text, table[i].utf8, step->size) == 0)
            return table[i].ascii;
    return "?";
}

void ifm_escape_terminal(const char *text, bool utf8, struct ifm_text *out)
{
    while (*text != '\0') {
        struct step step = next_of(text);
        if (is_blank((unsigned char)*step.text))
            ifm_text_add(out, " ");
        else if (!utf8 && step.size > 1)
            ifm_text_add(out, ascii_of(&step));
        else
            ifm_text_append(out, step.text, step.size);
        text += step.taken;
    }
}

/* At the begin of a line these make a heading, a list, a rule or a fence. */
static bool begins_block(const struct ifm_text *out, const char *text)
{
    bool begins = out->size == 0 || out->data[out->size - 1] == '\n' ||
                  (out->size >= 3 && memcmp(out->data + out->size - 3, "\n- ", 3) == 0);
    return begins && strchr("#+-=~", *text) != NULL;
}

/* A closing bracket that makes a link of what stands before it. */
static bool makes_link(const char *text)
{
    return text[0] == ']' && text[1] != '\0' && strchr("([:", text[1]) != NULL;
}

void ifm_escape_markdown(const char *text, struct ifm_text *out)
{
    while (*text != '\0') {
        struct step step = next_of(text);
        if (strchr("|*_`<>\\", *step.text) != NULL || makes_link(text) || begins_block(out, text))
            ifm_text_add(out, "\\");
        if (is_blank((unsigned char)*step.text))
            ifm_text_add(out, " ");
        else
            ifm_text_append(out, step.text, step.size);
        text += step.taken;
    }
}

void ifm_escape_markdown_code(const char *text, struct ifm_text *out)
{
    if (strchr(text, '`') != NULL) {
        ifm_escape_markdown(text, out);
        return;
    }
    ifm_text_add(out, "`");
    ifm_escape_terminal(text, true, out);
    ifm_text_add(out, "`");
}

/* `specials`: characters, and what stands for each. */
static void add_marked(const char *text, const char *specials, const char *const *escapes, struct ifm_text *out)
{
    while (*text != '\0') {
        struct step step = next_of(text);
        const char *special = strchr(specials, *step.text);
        if (special != NULL)
            ifm_text_add(out, escapes[special - specials]);
        else
            ifm_text_append(out, step.text, step.size);
        text += step.taken;
    }
}

void ifm_escape_html(const char *text, struct ifm_text *out)
{
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", " "};
    add_marked(text, "&<>\"'\r", escapes, out);
}

void ifm_escape_xml(const char *text, struct ifm_text *out)
{
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#9;", "&#10;", "&#13;"};
    add_marked(text, "&<>\"'\t\n\r", escapes, out);
}

void ifm_escape_csv(const char *text, struct ifm_text *out)
{
    bool formula = *text != '\0' && strchr("=+-@\t\r", *text) != NULL;
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    ifm_text_add(out, quoted ? "\"" : "");
    ifm_text_add(out, formula ? "'" : "");
    while (*text != '\0') {
        struct step step = next_of(text);
        ifm_text_append(out, *step.text == '\r' ? " " : step.text, step.size); /* it would hide what stands before */
        ifm_text_add(out, *step.text == '"' ? "\"" : "");
        text += step.taken;
    }
    ifm_text_add(out, quoted ? "\"" : "");
}

void ifm_escape_print(ifm_escape *door, struct ifm_text *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (;;) {
        size_t plain = strcspn(format, "%");
        ifm_text_append(out, format, plain);
        if (format[plain] == '\0')
            break;
        door(va_arg(args, const char *), out);
        format += plain + strlen("%s");
    }
    va_end(args);
}
