/* A row of a trace, written. In a file of its own: the recorder inside another program needs nothing else of us. */
#include "sample/activity.h"

void ifm_activity_write(FILE *file, const char *kind, const uint64_t numbers[static 6], const char *name)
{
    fputs(kind, file);
    for (size_t i = 0; i < 6; i++)
        fprintf(file, ",%llu", (unsigned long long)numbers[i]);
    fputc(',', file);
    for (const char *at = name; *at != '\0'; at++) /* names of templates have commas */
        fputc((unsigned char)*at < ' ' || *at == ',' || *at == '"' ? ';' : *at, file);
    fputc('\n', file);
}
