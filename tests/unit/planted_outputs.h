/* Faults planted into outputs that lie on a GPU in rows of numbers: read, changed and written back. Include after
 * planted_cuda.h, with `view_of` defined, which says where the outputs of the workload are. */
#ifndef IFM_TESTS_PLANTED_OUTPUTS_H
#define IFM_TESTS_PLANTED_OUTPUTS_H

struct view {
    struct ifm_device *device;
    void *at;
    enum { VIEW_F32, VIEW_F16, VIEW_BF16 } format;
    size_t all, row; /* values, and those of a row: a query, or a panel of products */
};
static struct view view_of(void *state);

static float *read_outputs(const struct view *v)
{
    float *out = malloc(v->all * sizeof *out);
    uint16_t *bits = malloc(v->all * sizeof *bits);
    assert_true(out != NULL && bits != NULL);
    if (v->format == VIEW_F32)
        planted_read(v->device, out, v->at, v->all * sizeof *out);
    else
        planted_read(v->device, bits, v->at, v->all * sizeof *bits);
    for (size_t i = 0; i < v->all && v->format != VIEW_F32; i++)
        out[i] = v->format == VIEW_BF16 ? ifm_bf16_to_f32(bits[i]) : ifm_f16_to_f32(bits[i]);
    free(bits);
    return out;
}

static void write_outputs(const struct view *v, float *out)
{
    uint16_t *bits = malloc(v->all * sizeof *bits);
    assert_non_null(bits);
    for (size_t i = 0; i < v->all && v->format != VIEW_F32; i++)
        bits[i] = v->format == VIEW_BF16 ? ifm_f32_to_bf16(out[i]) : ifm_f32_to_f16(out[i]);
    if (v->format == VIEW_F32)
        planted_write(v->device, v->at, out, v->all * sizeof *out);
    else
        planted_write(v->device, v->at, bits, v->all * sizeof *bits);
    free(bits);
    free(out);
}

/* `n` values from `at` on: times `factor`, plus `term`. */
static void change(float *at, size_t n, float factor, float term)
{
    for (size_t i = 0; i < n; i++)
        at[i] = at[i] * factor + term;
}

static void swap(float *a, float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float kept_value = a[i];
        a[i] = b[i];
        b[i] = kept_value;
    }
}

static float *largest(float *at, size_t n)
{
    float *best = at;
    for (size_t i = 0; i < n; i++)
        best = fabsf(at[i]) > fabsf(*best) ? at + i : best;
    return best;
}

/* `out` are all values, `middle` is a row in their middle. */
#define ON_OUTPUTS(name, ...)                                                                                          \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct view view = view_of(state);                                                                       \
        const size_t all = view.all, row = view.row;                                                                   \
        float *out = read_outputs(&view), *middle = out + all / row / 2 * row;                                         \
        (void)middle;                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        write_outputs(&view, out);                                                                                     \
    }
ON_OUTPUTS(all_zero, change(out, all, 0, 0))
ON_OUTPUTS(row_zero, change(middle, row, 0, 0))
ON_OUTPUTS(first_row_zero, change(out, row, 0, 0))
ON_OUTPUTS(last_row_zero, change(out + all - row, row, 0, 0))
ON_OUTPUTS(half_zero, change(middle, all - (size_t)(middle - out), 0, 0))
ON_OUTPUTS(half_a_row_zero, change(middle + row / 2, row / 2, 0, 0))
ON_OUTPUTS(every_other_zero, for (size_t i = 0; i < all; i += 2) out[i] = 0)
ON_OUTPUTS(value_zero, *largest(middle, row) = 0)
ON_OUTPUTS(value_negative, *largest(middle, row) *= -1)
ON_OUTPUTS(value_three_percent, *largest(middle, row) *= 1.03f)
ON_OUTPUTS(row_negative, change(middle, row, -1, 0))
ON_OUTPUTS(one_percent_more, change(out, all, 1.01f, 0))
ON_OUTPUTS(one_percent_less, change(out, all, 0.99f, 0))
ON_OUTPUTS(a_constant_more, change(out, all, 1, 0.02f * fabsf(*largest(out, row))))
ON_OUTPUTS(twice_as_much, change(out, all, 2, 0))
ON_OUTPUTS(row_half_as_much_again, change(middle, row, 1.5f, 0))
ON_OUTPUTS(halves_of_a_row_swapped, swap(middle, middle + row / 2, row / 2))
ON_OUTPUTS(rows_swapped, swap(middle - row, middle, row))
ON_OUTPUTS(far_rows_swapped, swap(out, out + all - row, row))
ON_OUTPUTS(row_twice, memcpy(middle, middle - row, row * sizeof *out))
ON_OUTPUTS(row_moved_by_one, memmove(middle + 1, middle, (row - 1) * sizeof *out))
ON_OUTPUTS(moved_by_one, memmove(out + 1, out, (all - 1) * sizeof *out))
ON_OUTPUTS(not_a_number, *middle = NAN)
ON_OUTPUTS(infinite, out[all - 1] = INFINITY)

static const struct planted_fault output_faults[] = {
    IDLE,
    AFTER("all are zero", all_zero),
    AFTER("a row is zero", row_zero),
    AFTER("the first row is zero", first_row_zero),
    AFTER("the last row is zero", last_row_zero),
    AFTER("half is zero", half_zero),
    AFTER("half a row is zero", half_a_row_zero),
    AFTER("every other one is zero", every_other_zero),
    AFTER("a value is zero", value_zero),
    AFTER("a value has the other sign", value_negative),
    AFTER("a value x 1.03", value_three_percent),
    AFTER("a row has the other sign", row_negative),
    AFTER("all x 1.01", one_percent_more),
    AFTER("all x 0.99", one_percent_less),
    AFTER("a constant more", a_constant_more),
    AFTER("all x 2", twice_as_much),
    AFTER("a row x 1.5", row_half_as_much_again),
    AFTER("the halves of a row swapped", halves_of_a_row_swapped),
    AFTER("neighbouring rows swapped", rows_swapped),
    AFTER("far rows swapped", far_rows_swapped),
    AFTER("a row twice", row_twice),
    AFTER("a row moved by one", row_moved_by_one),
    AFTER("all moved by one", moved_by_one),
    AFTER("not a number", not_a_number),
    AFTER("infinite", infinite),
};

#endif
