/* The program as it was called: what people are told to type begins with that, so that it can be pasted
 * (ifm_text_typed). Files keep "inferometer".
 *
 * Thread rule: main sets it once, before anything else; a library is called by no name, and says "inferometer". */
#ifndef IFM_BASE_CALLED_H
#define IFM_BASE_CALLED_H

#include <stdbool.h>
#include <stddef.h>

/* `called`: argv[0], which is kept. `is_command`: does the word name a command? */
void ifm_called_set(const char *called, bool (*is_command)(const char *word));
/* The bytes before the next "inferometer COMMAND"; all of `text` where there is none. */
size_t ifm_called_before(const char *text);
/* What to write in the place of that "inferometer", which is IFM_CALLED_BYTES long; quoted, where a shell would take it
 * apart. */
const char *ifm_called_as(void);
const char *ifm_called_name(void); /* argv[0] for whom this program starts */
enum { IFM_CALLED_BYTES = 11 };

#endif
