/* The doors of the media. */
#include "document/escape.h"

#include "base/plain.h"
#include <stdarg.h>
#include <string.h>

static bool is_blank(uint32_t code)
{
    return code == '\n' || code == '\r' || code == '\t';
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
    size_t length = ifm_plain_character(text, &code);
    if (length == 0)
        return (struct step){"?", 1, 1};
    if (ifm_plain_is_hostile(code) && !is_blank(code))
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
    for (;;) {
        size_t same = ifm_plain_span(text, specials);
        ifm_text_append(out, text, same);
        text += same;
        if (*text == '\0')
            return;
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
    for (;;) {
        size_t same = ifm_plain_span(text, "\"");
        ifm_text_append(out, text, same);
        text += same;
        if (*text == '\0')
            break;
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
