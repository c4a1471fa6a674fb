/* Lines as the calls of a program that opens a session: its options up to a line "--", then the names of its arms. Each
 * call is refused with a message, or taken; nothing is written, since nothing is measured. */
#include "inferometer/session.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    char *arms = strstr(text, "\n--\n");
    if (arms != NULL) {
        *arms = '\0';
        arms += 4;
    }
    struct inferometer_session *session = inferometer_open(NULL, text);
    if (session == NULL && inferometer_message(NULL)[0] == '\0')
        abort();
    int last = -1;
    for (char *name; session != NULL && (name = strsep(&arms, "\n")) != NULL;) {
        int arm = inferometer_arm(session, name);
        if (arm >= 0 ? arm != last + 1 : inferometer_message(session)[0] == '\0')
            abort();
        last = arm >= 0 ? arm : last;
    }
    inferometer_close(session);
    free(text);
    return 0;
}
