/* Texts and tables on a terminal. */
#include "publish/paint/terminal.h"

#include "base/plain.h"
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
        size_t text = ifm_plain_columns(noted(terminal, field)),
               interval = ifm_plain_columns(ifm_terminal_plain(terminal, field->interval));
        widest.text = text > widest.text ? text : widest.text;
        widest.interval = interval > widest.interval ? interval : widest.interval;
    }
    return widest;
}

/* `stacked`: its intervals stand below its numbers. */
static size_t column_width(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t column,
                           bool stacked)
{
    struct widths widest = widths_of(terminal, grid, column);
    size_t heading = ifm_plain_columns(ifm_terminal_plain(terminal, grid->headings[column].text));
    size_t both = widest.text + (widest.interval > 0 ? 1 + widest.interval : 0);
    size_t above = widest.text > widest.interval ? widest.text : widest.interval;
    size_t width = stacked ? above : both;
    return width > heading ? width : heading;
}

static size_t grid_width(const struct ifm_terminal *terminal, const struct ifm_grid *grid, bool stacked)
{
    size_t total = (size_t)terminal->margin;
    for (size_t c = 0; c < grid->n_columns; c++)
        total += column_width(terminal, grid, c, stacked) + 2;
    return total - 2;
}

static const char *padded(const struct ifm_terminal *terminal, const char *text, size_t width, bool left)
{
    int blanks = (int)(width - ifm_plain_columns(text));
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
    /* What does not fit was folded before. */
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

static enum ifm_status draw(struct ifm_terminal *terminal, const struct ifm_grid *grid, struct ifm_error *error)
{
    bool stacked = grid_width(terminal, grid, false) > terminal->width;
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

/* ---- what is wider than the terminal ---- */

/* Bytes of the first line of a text, at most `most` columns wide: whole words, where one fits. */
static size_t line_bytes(const char *text, size_t most)
{
    size_t words = 0, width = 0, i = 0;
    for (; text[i] != '\0'; i++) {
        words = text[i] == ' ' ? i : words;
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (width > most)
            return words > 0 ? words : i > 0 ? i : 1;
    }
    return i;
}

/* Texts of the columns flush left in lines of at most `most[column]`: the rest of a text goes into rows below. */
static struct ifm_grid broken(struct ifm_terminal *terminal, const struct ifm_grid *grid, const size_t *most)
{
    struct ifm_grid out = *grid;
    struct ifm_field *rest = IFM_ARENA_ARRAY(terminal->arena, struct ifm_field, grid->n_columns);
    size_t capacity = 0;
    out.n_rows = 0;
    out.fields = NULL;
    for (size_t r = 0; r < grid->n_rows; r++) {
        memcpy(rest, ifm_grid_at(grid, r, 0), grid->n_columns * sizeof *rest);
        for (bool more = true; more; out.n_rows++) {
            more = false;
            for (size_t c = 0; c < grid->n_columns; c++) {
                struct ifm_field field = rest[c];
                const char *text = ifm_terminal_plain(terminal, field.text);
                const size_t mark = field.note > 0 ? strlen("[99]") : 0, room = most[c] > mark ? most[c] - mark : 1;
                const size_t bytes = grid->headings[c].left ? line_bytes(text, room) : strlen(text);
                rest[c].text = text + bytes + strspn(text + bytes, " ");
                rest[c].interval = "";
                if (rest[c].text[0] != '\0')
                    field.note = 0;
                else
                    rest[c].note = 0;
                more |= rest[c].text[0] != '\0';
                field.text = ifm_arena_printf(terminal->arena, "%.*s", (int)bytes, text);
                size_t at = out.n_rows * grid->n_columns + c;
                IFM_ARENA_GROW(terminal->arena, out.fields, at, capacity);
                out.fields[at] = field;
            }
        }
    }
    return out;
}

/* The columns of a grid that are kept. */
static struct ifm_grid kept(struct ifm_terminal *terminal, const struct ifm_grid *grid, const bool *keep)
{
    struct ifm_grid out = {.n_rows = grid->n_rows};
    out.headings = IFM_ARENA_ARRAY(terminal->arena, struct ifm_heading, grid->n_columns + 1);
    out.fields = IFM_ARENA_ARRAY(terminal->arena, struct ifm_field, grid->n_columns * grid->n_rows + 1);
    for (size_t c = 0; c < grid->n_columns; c++)
        if (keep[c])
            out.headings[out.n_columns++] = grid->headings[c];
    size_t next = 0;
    for (size_t i = 0; i < grid->n_columns * grid->n_rows; i++)
        if (keep[i % grid->n_columns])
            out.fields[next++] = grid->fields[i];
    return out;
}

/* How wide the texts of each column may be, where one that is broken lets the others stay beside it; false: folded. */
static bool break_widest(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t *most)
{
    enum { READABLE = 24 };
    const size_t total = grid_width(terminal, grid, false);
    size_t widest = 0, at = 0;
    for (size_t c = 0; c < grid->n_columns; c++) {
        const size_t width = column_width(terminal, grid, c, true);
        most[c] = SIZE_MAX;
        if (!grid->headings[c].left || width <= widest)
            continue;
        widest = width;
        at = c;
    }
    if (widest < READABLE || total - widest + READABLE > terminal->width)
        return false;
    most[at] = terminal->width - (total - widest);
    return true;
}

/* The columns that name the rows, which each part begins with, and their width; what follows them is broken to what
 * they leave. */
static size_t break_parts(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t *most, size_t *n)
{
    const size_t share = terminal->width * 3 / 5; /* with less, rows of compare --verbose lack what they are of */
    size_t taken = (size_t)terminal->margin;
    for (*n = 0; *n < grid->n_columns && grid->headings[*n].left; ++*n) {
        const size_t width = column_width(terminal, grid, *n, true);
        most[*n] = SIZE_MAX;
        if (taken + width > share && *n > 0)
            break;
        if (taken + width > share)
            most[*n] = share - taken;
        taken += (taken + width > share ? share - taken : width) + 2;
    }
    for (size_t c = *n; c < grid->n_columns; c++)
        most[c] = terminal->width - taken;
    return taken;
}

/* Behind the last of the columns from `first` on that fit side by side; the last column of a grid is not left alone. */
static size_t part_end(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t taken, size_t first)
{
    enum { WORTH = 3 }; /* columns, from which on one is given to the last */
    size_t next = first + 1, width = taken + column_width(terminal, grid, first, false);
    while (next < grid->n_columns && width + 2 + column_width(terminal, grid, next, false) <= terminal->width)
        width += 2 + column_width(terminal, grid, next++, false);
    if (next + 1 != grid->n_columns || next - first < WORTH)
        return next;
    const size_t both = column_width(terminal, grid, next - 1, false) + 2 + column_width(terminal, grid, next, false);
    return taken + both <= terminal->width ? next - 1 : next;
}

/* As many columns side by side as the terminal has room for, the others in tables below, each with the columns that
 * name its rows: a row stays whole. */
static enum ifm_status fold(struct ifm_terminal *terminal, const struct ifm_grid *whole, struct ifm_error *error)
{
    size_t *most = IFM_ARENA_ARRAY(terminal->arena, size_t, whole->n_columns), labels;
    bool *keep = IFM_ARENA_ARRAY(terminal->arena, bool, whole->n_columns);
    if (break_widest(terminal, whole, most)) {
        const struct ifm_grid grid = broken(terminal, whole, most);
        return draw(terminal, &grid, error);
    }
    const size_t taken = break_parts(terminal, whole, most, &labels);
    const struct ifm_grid grid = broken(terminal, whole, most);
    for (size_t first = labels, next = labels; first < grid.n_columns; first = next) {
        next = part_end(terminal, &grid, taken, first);
        for (size_t c = 0; c < grid.n_columns; c++)
            keep[c] = c < labels || (c >= first && c < next);
        const struct ifm_grid part = kept(terminal, &grid, keep);
        ifm_text_add(terminal->out, first > labels ? "\n" : "");
        IFM_TRY(draw(terminal, &part, error));
    }
    return IFM_OK;
}

static enum ifm_status say_grid(struct ifm_terminal *terminal, const struct ifm_grid *grid, struct ifm_error *error)
{
    if (grid->n_rows == 0)
        return IFM_OK;
    return grid_width(terminal, grid, false) > terminal->width ? fold(terminal, grid, error)
                                                               : draw(terminal, grid, error);
}

/* The columns of one part, and those that belong to each. */
static struct ifm_grid part_of(struct ifm_terminal *terminal, const struct ifm_grid *grid, int part)
{
    bool *keep = IFM_ARENA_ARRAY(terminal->arena, bool, grid->n_columns + 1);
    for (size_t c = 0; c < grid->n_columns; c++)
        keep[c] = grid->headings[c].part == 0 || grid->headings[c].part == part;
    return kept(terminal, grid, keep);
}

/* All columns in one table when they fit on a line, else the speeds first and the limits below. */
enum ifm_status ifm_terminal_grid(struct ifm_terminal *terminal, const struct ifm_grid *grid, struct ifm_error *error)
{
    bool parts = false;
    for (size_t c = 0; c < grid->n_columns; c++)
        parts |= grid->headings[c].part == 2;
    if (!parts || grid_width(terminal, grid, false) <= terminal->width)
        return say_grid(terminal, grid, error);
    struct ifm_grid speeds = part_of(terminal, grid, 1), limits = part_of(terminal, grid, 2);
    IFM_TRY(say_grid(terminal, &speeds, error));
    if (limits.n_columns == 1 || limits.n_rows == 0)
        return IFM_OK;
    ifm_text_add(terminal->out, "\n");
    return say_grid(terminal, &limits, error);
}

void ifm_paint_terminal_grid(const struct ifm_grid *grid, size_t width, struct ifm_arena *arena, struct ifm_text *out)
{
    struct ifm_terminal terminal = {
        .out = out, .arena = arena, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, .width = width, .left_out = ""};
    struct ifm_error error;
    if (say_grid(&terminal, grid, &error) != IFM_OK)
        ifm_text_printf(out, "%s\n", error.message);
}
