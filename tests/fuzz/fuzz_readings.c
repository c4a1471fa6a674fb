/* Readings of sensors: what is read must be the same bytes when it is written again, but for a torn last row. */
#include "base/text.h"
#include "sample/readings.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_readings readings;
    struct ifm_error error;
    char *text = malloc(size == 0 ? 1 : size); /* an exact copy, so that a read beyond it is seen */
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    if (ifm_readings_parse(text, size, "fuzz", &readings, &error) == IFM_OK) {
        struct ifm_text again = {0};
        ifm_text_add(&again, readings.joules ? "t_ns,half_ns,energy_uj\n" : "t_ns,half_ns,power_uw\n");
        for (size_t i = 0; i < readings.n; i++) {
            ifm_text_add_i64(&again, readings.list[i].t_ns);
            ifm_text_add(&again, ",");
            ifm_text_add_i64(&again, readings.list[i].half_ns);
            ifm_text_add(&again, ",");
            ifm_text_add_i64(&again, readings.list[i].micro);
            ifm_text_add(&again, "\n");
        }
        size_t rest = size - again.size;
        if (again.size > size || memcmp(again.data, text, again.size) != 0 ||
            (rest > 0 && memchr(text + again.size, '\n', rest) != NULL))
            abort();
        ifm_text_free(&again);
        ifm_readings_free(&readings);
    }
    free(text);
    return 0;
}
