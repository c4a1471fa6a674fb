/* Texts and tables on a terminal. */
#include "publish/paint/terminal.h"

#include "document/escape.h"
#include <langinfo.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

const char *ifm_terminal_paint(enum ifm_tone tone)
{
    static const char *const paints[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[33m"};
    return paints[tone];
}

const char *ifm_terminal_plain(const struct ifm_terminal *terminal, const char *text)
{
    struct ifm_text copy = {0};
    ifm_escape_terminal(text, terminal->utf8, &copy);
    const char *result = copy.data == NULL ? "" : ifm_arena_strdup(terminal->arena, copy.data);
    ifm_text_free(&copy);
    return result;
}

size_t ifm_terminal_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

const char *ifm_terminal_mark(const struct ifm_terminal *terminal, size_t note)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const char *text = ifm_arena_printf(terminal->arena, terminal->utf8 ? "%zu" : "[%zu]", note), *mark = "";
    if (!terminal->utf8)
        return text;
    for (; *text != '\0'; text++)
        mark = ifm_arena_printf(terminal->arena, "%s%s", mark, digits[*text - '0']);
    return mark;
}

/* ---- tables ---- */

/* "absent" with its footnote: "absent¹". */
static const char *noted(const struct ifm_terminal *terminal, const struct ifm_field *field)
{
    const char *text = ifm_terminal_plain(terminal, field->text);
    return field->note == 0 ? text
                            : ifm_arena_printf(terminal->arena, "%s%s", text, ifm_terminal_mark(terminal, field->note));
}

/* The widest text and the widest interval of a column. */
struct widths {
    size_t text, interval;
};

static struct widths widths_of(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t column)
{
    struct widths widest = {0, 0};
    for (size_t r = 0; r < grid->n_rows; r++) {
        const struct ifm_field *field = ifm_grid_at(grid, r, column);
        size_t text = ifm_terminal_width(noted(terminal, field)),
               interval = ifm_terminal_width(ifm_terminal_plain(terminal, field->interval));
        widest.text = text > widest.text ? text : widest.text;
        widest.interval = interval > widest.interval ? interval : widest.interval;
    }
    return widest;
}

static size_t grid_width(const struct ifm_terminal *terminal, const struct ifm_grid *grid, bool stacked)
{
    size_t total = (size_t)terminal->margin;
    for (size_t c = 0; c < grid->n_columns; c++) {
        struct widths widest = widths_of(terminal, grid, c);
        size_t heading = ifm_terminal_width(ifm_terminal_plain(terminal, grid->headings[c].text));
        size_t both = widest.text + (widest.interval > 0 ? 1 + widest.interval : 0);
        size_t above = widest.text > widest.interval ? widest.text : widest.interval;
        size_t width = stacked ? above : both;
        total += (width > heading ? width : heading) + 2;
    }
    return total - 2;
}

static const char *padded(const struct ifm_terminal *terminal, const char *text, size_t width, bool left)
{
    int blanks = (int)(width - ifm_terminal_width(text));
    return left ? ifm_arena_printf(terminal->arena, "%s%*s", text, blanks, "")
                : ifm_arena_printf(terminal->arena, "%*s%s", blanks, "", text);
}

/* Number and interval side by side, each in its own lane, so that both can be read down the column. */
static const char *side_by_side(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t row,
                                size_t column, struct widths lanes)
{
    const struct ifm_field *field = ifm_grid_at(grid, row, column);
    const char *text = noted(terminal, field), *interval = ifm_terminal_plain(terminal, field->interval);
    if (lanes.interval == 0 || (text[0] == '\0' && interval[0] == '\0'))
        return text;
    return ifm_arena_printf(terminal->arena, "%s %s", padded(terminal, text, lanes.text, grid->headings[column].left),
                            padded(terminal, interval, lanes.interval, true));
}

/* `lanes` of each column; NULL = an interval stands below its number. */
static int add_line(struct ifm_terminal *terminal, struct libscols_table *table, const struct ifm_grid *grid,
                    size_t row, const struct widths *lanes, bool second)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return -1;
    for (size_t c = 0; c < grid->n_columns; c++) {
        const struct ifm_field *field = ifm_grid_at(grid, row, c);
        const char *text = second          ? ifm_terminal_plain(terminal, field->interval)
                           : lanes == NULL ? noted(terminal, field)
                                           : side_by_side(terminal, grid, row, c, lanes[c]);
        struct libscols_cell *cell = scols_line_get_cell(line, c);
        enum ifm_tone tone = second ? IFM_TONE_DIM : field->tone;
        if (scols_cell_set_data(cell, text) != 0)
            return -1;
        if (tone != IFM_TONE_PLAIN && text[0] != '\0' && scols_cell_set_color(cell, ifm_terminal_paint(tone)) != 0)
            return -1;
    }
    return 0;
}

static bool has_interval(const struct ifm_grid *grid, size_t row)
{
    for (size_t c = 0; c < grid->n_columns; c++)
        if (ifm_grid_at(grid, row, c)->interval[0] != '\0')
            return true;
    return false;
}

static int fill_table(struct ifm_terminal *terminal, struct libscols_table *table, const struct ifm_grid *grid,
                      bool stacked)
{
    /* The terminal's width is not asked for: a table in a pipe and on a screen is the same. */
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_colors(table, terminal->colour);
    scols_table_enable_ascii(table, !terminal->utf8);
    if (scols_table_set_column_separator(table, "  ") != 0)
        return -1;
    struct widths *lanes = stacked ? NULL : IFM_ARENA_ARRAY(terminal->arena, struct widths, grid->n_columns + 1);
    for (size_t c = 0; lanes != NULL && c < grid->n_columns; c++) /* once a table, not once a row */
        lanes[c] = widths_of(terminal, grid, c);
    for (size_t c = 0; c < grid->n_columns; c++) {
        int flags = grid->headings[c].left ? 0 : SCOLS_FL_RIGHT;
        struct libscols_column *column =
            scols_table_new_column(table, ifm_terminal_plain(terminal, grid->headings[c].text), 0, flags);
        if (column == NULL || scols_cell_set_color(scols_column_get_header(column), "\033[2m") != 0)
            return -1;
    }
    for (size_t r = 0; r < grid->n_rows; r++) {
        if (add_line(terminal, table, grid, r, lanes, false) != 0)
            return -1;
        if (stacked && has_interval(grid, r) && add_line(terminal, table, grid, r, lanes, true) != 0)
            return -1;
    }
    return 0;
}

/* The lines of a drawn table, indented and without the blanks that padding leaves at their ends. */
static void say_lines(struct ifm_terminal *terminal, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), shown = length;
        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        ifm_text_printf(terminal->out, "%*s%.*s\n", terminal->margin, "", (int)shown, text);
        text += length + (text[length] == '\n');
    }
}

static enum ifm_status say_grid(struct ifm_terminal *terminal, const struct ifm_grid *grid, struct ifm_error *error)
{
    if (grid->n_rows == 0)
        return IFM_OK;
    bool stacked = grid_width(terminal, grid, false) > IFM_TERMINAL_WIDTH;
    struct libscols_table *table = scols_new_table();
    char *drawn = NULL;
    bool ok = table != NULL && fill_table(terminal, table, grid, stacked) == 0 &&
              scols_print_table_to_string(table, &drawn) == 0;
    if (ok && drawn != NULL)
        say_lines(terminal, drawn);
    free(drawn);
    scols_unref_table(table);
    return ok ? IFM_OK : ifm_fail(error, IFM_INTERNAL, "publish", NULL, "the terminal table could not be drawn");
}

/* The columns of one part, and those that belong to each. */
static struct ifm_grid part_of(struct ifm_terminal *terminal, const struct ifm_grid *grid, int part)
{
    struct ifm_grid out = {.n_rows = grid->n_rows};
    out.headings = IFM_ARENA_ARRAY(terminal->arena, struct ifm_heading, grid->n_columns + 1);
    out.fields = IFM_ARENA_ARRAY(terminal->arena, struct ifm_field, grid->n_columns * grid->n_rows + 1);
    for (size_t c = 0; c < grid->n_columns; c++)
        if (grid->headings[c].part == 0 || grid->headings[c].part == part)
            out.headings[out.n_columns++] = grid->headings[c];
    size_t next = 0;
    for (size_t i = 0; i < grid->n_columns * grid->n_rows; i++) {
        int own = grid->headings[i % grid->n_columns].part;
        if (own == 0 || own == part)
            out.fields[next++] = grid->fields[i];
    }
    return out;
}

/* All columns in one table when they fit on a line, else the speeds first and the limits below. */
enum ifm_status ifm_terminal_grid(struct ifm_terminal *terminal, const struct ifm_grid *grid, struct ifm_error *error)
{
    bool parts = false;
    for (size_t c = 0; c < grid->n_columns; c++)
        parts |= grid->headings[c].part == 2;
    if (!parts || grid_width(terminal, grid, false) <= IFM_TERMINAL_WIDTH)
        return say_grid(terminal, grid, error);
    struct ifm_grid speeds = part_of(terminal, grid, 1), limits = part_of(terminal, grid, 2);
    IFM_TRY(say_grid(terminal, &speeds, error));
    if (limits.n_columns == 1 || limits.n_rows == 0)
        return IFM_OK;
    ifm_text_add(terminal->out, "\n");
    return say_grid(terminal, &limits, error);
}

void ifm_paint_terminal_grid(const struct ifm_grid *grid, struct ifm_arena *arena, struct ifm_text *out)
{
    struct ifm_terminal terminal = {
        .out = out, .arena = arena, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, .left_out = ""};
    struct ifm_error error;
    if (say_grid(&terminal, grid, &error) != IFM_OK)
        ifm_text_printf(out, "%s\n", error.message);
}
