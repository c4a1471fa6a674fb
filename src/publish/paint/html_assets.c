/* The page's script and style, and the hash under which a browser lets the script run. Owns no text: they are
 * web/report.js and web/report.css. */
#include "publish/paint/html.h"

#include "base/hash.h"
#include "model/embedded.h"
#include <string.h>

static const char *embedded(const char *name)
{
    for (size_t i = 0; ifm_embedded_web[i].name != NULL; i++)
        if (strcmp(ifm_embedded_web[i].name, name) == 0)
            return ifm_embedded_web[i].data;
    return "";
}

const char *ifm_html_script(void)
{
    return embedded("report.js");
}

const char *ifm_html_style(void)
{
    return embedded("report.css");
}

static unsigned digit_of(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/* RFC 4648, section 4: the 32 bytes of the hash are ten whole groups of three, and one of two. */
static void add_base64(const struct ifm_sha256 *hash, struct ifm_text *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { BYTES = 32 };
    for (size_t i = 0; i < BYTES; i += 3) {
        size_t n = i + 3 <= BYTES ? 3 : BYTES - i;
        unsigned group = 0;
        for (size_t k = 0; k < 3; k++) {
            const char *hex = &hash->hex[2 * (i + k)];
            group = group << 8 | (k < n ? digit_of(hex[0]) << 4 | digit_of(hex[1]) : 0);
        }
        for (size_t k = 0; k < 4; k++)
            ifm_text_append(out, k <= n ? &letters[group >> (18 - 6 * k) & 63] : "=", 1);
    }
}

void ifm_html_script_source(struct ifm_text *out)
{
    const char *script = ifm_html_script();
    struct ifm_sha256 hash = ifm_sha256_bytes(script, strlen(script));
    ifm_text_add(out, "'sha256-");
    add_base64(&hash, out);
    ifm_text_add(out, "'");
}
