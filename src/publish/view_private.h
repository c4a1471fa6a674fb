/* What the parts of the view share while it is built. */
#ifndef IFM_PUBLISH_VIEW_PRIVATE_H
#define IFM_PUBLISH_VIEW_PRIVATE_H

#include "publish/view.h"

struct ifm_view_builder {
    const struct ifm_publication *publication;
    struct ifm_arena *arena;
    struct ifm_view *view;
    size_t note_capacity;
};

/* The footnote of a reason and its remedy: the same text gets the same number. 0 for an empty reason. */
unsigned ifm_view_add_note(struct ifm_view_builder *builder, const char *reason, const char *remedy);
/* A value in any state as a field; NULL gives an empty field. */
struct ifm_field ifm_view_field(struct ifm_view_builder *builder, const struct ifm_value *value);
struct ifm_grid ifm_view_grid(struct ifm_arena *arena, size_t n_columns, size_t n_rows);
static inline struct ifm_field *ifm_view_at(const struct ifm_grid *grid, size_t row, size_t column)
{
    return &grid->fields[row * grid->n_columns + column];
}
static inline struct ifm_field ifm_view_text(const char *text, enum ifm_tone tone)
{
    return (struct ifm_field){text, "", tone, 0};
}

/* view_energy.c */
void ifm_view_build_energy(struct ifm_view_builder *builder, const struct ifm_cell *cell, struct ifm_view_cell *out);
void ifm_view_build_cell(struct ifm_view_builder *builder, const struct ifm_cell *cell, struct ifm_view_cell *out);

#endif
