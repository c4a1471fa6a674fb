/* What of a text may be shown. */
#include "base/plain.h"

#include <string.h>

size_t ifm_plain_character(const char *text, uint32_t *code)
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

bool ifm_plain_is_hostile(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},    {0x180e, 0x180e},
                                         {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff},
                                         {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

static bool is_one_of(char character, const char *set)
{
    while (*set != '\0' && *set != character)
        set++;
    return *set != '\0';
}

size_t ifm_plain_span(const char *text, const char *specials)
{
    size_t n = 0;
    while (text[n] >= ' ' && text[n] <= '~' && !is_one_of(text[n], specials))
        n++;
    return n;
}

size_t ifm_plain_columns(const char *text)
{
    size_t columns = 0;
    for (; *text != '\0'; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

void ifm_plain_make(char *text)
{
    char *to = text;
    while (*text != '\0') {
        uint32_t code;
        size_t length = ifm_plain_character(text, &code);
        bool blank = code == '\n' || code == '\r' || code == '\t', hidden = length == 0 || ifm_plain_is_hostile(code);
        size_t taken = length == 0 ? 1 : length;
        if (hidden)
            *to++ = blank ? ' ' : '?';
        else
            memmove(to, text, length);
        to += hidden ? 0 : length;
        text += taken;
    }
    *to = '\0';
}
