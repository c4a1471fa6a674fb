/* The summary on a terminal: verdict first, then one table a cell, footnotes, and the few findings that a sceptic asks
 * for first. What is left out is counted; report.md and report.html have it. */
#include "publish/terminal_private.h"
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS_SHOWN = 3 };

static const char *paint_of(enum ifm_tone tone)
{
    static const char *const paints[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[33m"};
    return paints[tone];
}

/* What an ASCII terminal shows instead. */
static const char *plain(const struct ifm_terminal *terminal, const char *text)
{
    static const struct {
        const char *utf8, *ascii;
    } table[] = {{"µ", "u"},  {"±", "+-"}, {"×", "x"},   {"–", "-"}, {"—", "-"}, {"·", "-"},
                 {"≤", "<="}, {"≥", ">="}, {"…", "..."}, {"▁", "_"}, {"▂", "."}, {"▃", ":"},
                 {"▄", "-"},  {"▅", "="},  {"▆", "+"},   {"▇", "*"}, {"█", "#"}};
    if (terminal->utf8)
        return text;
    struct ifm_text copy = {0};
    while (*text != '\0') {
        size_t length = 1;
        const char *shown = NULL;
        for (size_t i = 0; i < sizeof table / sizeof table[0] && shown == NULL; i++)
            if (strncmp(text, table[i].utf8, strlen(table[i].utf8)) == 0) {
                shown = table[i].ascii;
                length = strlen(table[i].utf8);
            }
        if (shown != NULL)
            ifm_text_add(&copy, shown);
        else
            ifm_text_append(&copy, (unsigned char)*text < 0x80 ? text : "?", 1);
        text += length;
    }
    const char *result = ifm_arena_printf(terminal->arena, "%s", copy.data == NULL ? "" : copy.data);
    ifm_text_free(&copy);
    return result;
}

/* Columns that a UTF-8 text takes; our own texts hold no wide characters. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void ifm_terminal_say(struct ifm_terminal *terminal, enum ifm_tone tone, const char *text)
{
    bool paint = terminal->colour && tone != IFM_TONE_PLAIN;
    if (paint)
        ifm_text_add(terminal->out, paint_of(tone));
    ifm_text_add(terminal->out, plain(terminal, text));
    if (paint)
        ifm_text_add(terminal->out, "\033[0m");
}

void ifm_terminal_wrap(struct ifm_terminal *terminal, const char *text, size_t column, size_t indent)
{
    text = plain(terminal, text);
    bool first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        char *word = ifm_arena_printf(terminal->arena, "%.*s", (int)length, text);
        size_t width = width_of(word);
        if (!first && column + 1 + width > IFM_TERMINAL_WIDTH) {
            ifm_text_printf(terminal->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            ifm_text_add(terminal->out, " ");
            column++;
        }
        ifm_text_add(terminal->out, word);
        column += width;
        first = false;
        text += length;
        text += strspn(text, " \n");
    }
    ifm_text_add(terminal->out, "\n");
}

/* "absent" with its footnote: "absent¹", or "absent[1]" on an ASCII terminal. */
static const char *noted(const struct ifm_terminal *terminal, const struct ifm_field *field)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (field->note == 0)
        return plain(terminal, field->text);
    if (!terminal->utf8)
        return ifm_arena_printf(terminal->arena, "%s[%u]", plain(terminal, field->text), field->note);
    char decimal[16];
    snprintf(decimal, sizeof decimal, "%u", field->note);
    const char *text = field->text;
    for (const char *d = decimal; *d != '\0'; d++)
        text = ifm_arena_printf(terminal->arena, "%s%s", text, digits[*d - '0']);
    return text;
}

/* The widest text and the widest interval of a column. */
struct widths {
    size_t text, interval;
};

static struct widths widths_of(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t column)
{
    struct widths widest = {0, 0};
    for (size_t r = 0; r < grid->n_rows; r++) {
        const struct ifm_field *field = &grid->fields[r * grid->n_columns + column];
        size_t text = width_of(noted(terminal, field)), interval = width_of(plain(terminal, field->interval));
        widest.text = text > widest.text ? text : widest.text;
        widest.interval = interval > widest.interval ? interval : widest.interval;
    }
    return widest;
}

static size_t grid_width(const struct ifm_terminal *terminal, const struct ifm_grid *grid, bool headings, bool stacked)
{
    size_t total = IFM_TERMINAL_INDENT;
    for (size_t c = 0; c < grid->n_columns; c++) {
        struct widths widest = widths_of(terminal, grid, c);
        size_t heading = headings ? width_of(grid->headings[c].text) : 0;
        size_t both = widest.text + (widest.interval > 0 ? 1 + widest.interval : 0);
        size_t above = widest.text > widest.interval ? widest.text : widest.interval;
        size_t width = stacked ? above : both;
        total += (width > heading ? width : heading) + 2;
    }
    return total - 2;
}

static const char *padded(const struct ifm_terminal *terminal, const char *text, size_t width, bool left)
{
    int blanks = (int)(width - width_of(text));
    return left ? ifm_arena_printf(terminal->arena, "%s%*s", text, blanks, "")
                : ifm_arena_printf(terminal->arena, "%*s%s", blanks, "", text);
}

/* Number and interval side by side, each in its own lane, so that both can be read down the column. */
static const char *side_by_side(const struct ifm_terminal *terminal, const struct ifm_grid *grid, size_t row,
                                size_t column)
{
    const struct ifm_field *field = &grid->fields[row * grid->n_columns + column];
    struct widths lanes = widths_of(terminal, grid, column);
    const char *text = noted(terminal, field), *interval = plain(terminal, field->interval);
    if (lanes.interval == 0 || (text[0] == '\0' && interval[0] == '\0'))
        return text;
    return ifm_arena_printf(terminal->arena, "%s %s", padded(terminal, text, lanes.text, grid->headings[column].left),
                            padded(terminal, interval, lanes.interval, true));
}

static int add_line(struct ifm_terminal *terminal, struct libscols_table *table, const struct ifm_grid *grid,
                    size_t row, bool stacked, bool second)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return -1;
    for (size_t c = 0; c < grid->n_columns; c++) {
        const struct ifm_field *field = &grid->fields[row * grid->n_columns + c];
        const char *text = second    ? plain(terminal, field->interval)
                           : stacked ? noted(terminal, field)
                                     : side_by_side(terminal, grid, row, c);
        struct libscols_cell *cell = scols_line_get_cell(line, c);
        enum ifm_tone tone = second ? IFM_TONE_DIM : field->tone;
        if (scols_cell_set_data(cell, text) != 0)
            return -1;
        if (tone != IFM_TONE_PLAIN && text[0] != '\0' && scols_cell_set_color(cell, paint_of(tone)) != 0)
            return -1;
    }
    return 0;
}

static bool has_interval(const struct ifm_grid *grid, size_t row)
{
    for (size_t c = 0; c < grid->n_columns; c++)
        if (grid->fields[row * grid->n_columns + c].interval[0] != '\0')
            return true;
    return false;
}

static int fill_table(struct ifm_terminal *terminal, struct libscols_table *table, const struct ifm_grid *grid,
                      bool headings, bool stacked)
{
    /* The terminal's width is not asked for: a table in a pipe and on a screen is the same. */
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_colors(table, terminal->colour);
    scols_table_enable_noheadings(table, !headings);
    scols_table_enable_ascii(table, !terminal->utf8);
    if (scols_table_set_column_separator(table, "  ") != 0)
        return -1;
    for (size_t c = 0; c < grid->n_columns; c++) {
        int flags = grid->headings[c].left ? 0 : SCOLS_FL_RIGHT;
        struct libscols_column *column =
            scols_table_new_column(table, plain(terminal, grid->headings[c].text), 0, flags);
        if (column == NULL || (headings && scols_cell_set_color(scols_column_get_header(column), "\033[2m") != 0))
            return -1;
    }
    for (size_t r = 0; r < grid->n_rows; r++) {
        if (add_line(terminal, table, grid, r, stacked, false) != 0)
            return -1;
        if (stacked && has_interval(grid, r) && add_line(terminal, table, grid, r, stacked, true) != 0)
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
        ifm_text_printf(terminal->out, "%*s%.*s\n", IFM_TERMINAL_INDENT, "", (int)shown, text);
        text += length + (text[length] == '\n');
    }
}

static enum ifm_status say_grid(struct ifm_terminal *terminal, const struct ifm_grid *grid, bool headings,
                                struct ifm_error *error)
{
    if (grid->n_rows == 0)
        return IFM_OK;
    bool stacked = grid_width(terminal, grid, headings, false) > IFM_TERMINAL_WIDTH;
    struct libscols_table *table = scols_new_table();
    char *drawn = NULL;
    bool ok = table != NULL && fill_table(terminal, table, grid, headings, stacked) == 0 &&
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
static enum ifm_status say_arms(struct ifm_terminal *terminal, const struct ifm_grid *grid, struct ifm_error *error)
{
    if (grid_width(terminal, grid, true, false) <= IFM_TERMINAL_WIDTH)
        return say_grid(terminal, grid, true, error);
    struct ifm_grid speeds = part_of(terminal, grid, 1), limits = part_of(terminal, grid, 2);
    IFM_TRY(say_grid(terminal, &speeds, true, error));
    if (limits.n_columns == 1 || limits.n_rows == 0)
        return IFM_OK;
    ifm_text_add(terminal->out, "\n");
    return say_grid(terminal, &limits, true, error);
}

static enum ifm_status say_ceilings(struct ifm_terminal *terminal, const struct ifm_view_cell *cell,
                                    struct ifm_error *error)
{
    struct ifm_heading headings[4] = {
        {"", IFM_M_NONE, true, 0}, {"", IFM_M_NONE, true, 0}, {"", IFM_M_NONE, false, 0}, {"", IFM_M_NONE, true, 0}};
    struct ifm_field *fields = IFM_ARENA_ARRAY(terminal->arena, struct ifm_field, 4 * cell->n_ceilings + 1);
    for (size_t i = 0; i < cell->n_ceilings; i++) {
        const struct ifm_view_ceiling *ceiling = &cell->ceilings[i];
        const char *source =
            ceiling->source[0] == '\0' ? "" : ifm_arena_printf(terminal->arena, "(%s)", ceiling->source);
        fields[4 * i] = (struct ifm_field){"ceiling", "", IFM_TONE_DIM, 0};
        fields[4 * i + 1] = (struct ifm_field){ceiling->kind, "", IFM_TONE_PLAIN, 0};
        fields[4 * i + 2] = ceiling->field;
        fields[4 * i + 3] = (struct ifm_field){source, "", IFM_TONE_DIM, 0};
    }
    struct ifm_grid grid = {headings, 4, fields, cell->n_ceilings};
    if (cell->n_ceilings > 0)
        ifm_text_add(terminal->out, "\n");
    return say_grid(terminal, &grid, false, error);
}

/* One bar a size, on a logarithmic scale from the fastest load to the slowest: a picture, not a number. */
static void say_curve(struct ifm_terminal *terminal, const struct ifm_view_cell *cell)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < cell->n_curve; i++) {
        low = fmin(low, cell->curve[i].number);
        high = fmax(high, cell->curve[i].number);
    }
    if (cell->n_curve == 0 || low <= 0)
        return;
    double span = high > low ? log(high / low) : 1;
    const struct ifm_view_point *first = &cell->curve[0], *last = &cell->curve[cell->n_curve - 1];
    const char *line =
        ifm_arena_printf(terminal->arena, "load time by working set: %s (%s) ", first->size, first->time);
    for (size_t i = 0; i < cell->n_curve; i++) {
        int level = (int)(log(cell->curve[i].number / low) / span * 7.999);
        line = ifm_arena_printf(terminal->arena, "%s%s", line, bars[level]);
    }
    ifm_text_printf(terminal->out, "\n%*s", IFM_TERMINAL_INDENT, "");
    ifm_terminal_say(terminal, IFM_TONE_PLAIN, line);
    ifm_terminal_say(terminal, IFM_TONE_PLAIN, ifm_arena_printf(terminal->arena, " %s (%s)\n", last->size, last->time));
}

/* "int4: 3.42x faster at 3.71x fewer bytes; output error 7.9 %, KL 0.021" */
static void say_compressed(struct ifm_terminal *terminal, const struct ifm_view_cell *cell)
{
    for (size_t i = 0; i < cell->n_compressed; i++) {
        ifm_text_printf(terminal->out, "%s%*s", i == 0 ? "\n" : "", IFM_TERMINAL_INDENT, "");
        const char *line =
            ifm_arena_printf(terminal->arena, "%s: %s", cell->compressed[i].place, cell->compressed[i].text);
        ifm_terminal_wrap(terminal, line, IFM_TERMINAL_INDENT, 2 * IFM_TERMINAL_INDENT);
    }
}

static enum ifm_status say_energy(struct ifm_terminal *terminal, const struct ifm_view_cell *cell,
                                  struct ifm_error *error)
{
    if (cell->energy.n_rows == 0 && cell->n_energy_said == 0)
        return IFM_OK;
    ifm_text_printf(terminal->out, "\n%*s", IFM_TERMINAL_INDENT, "");
    ifm_terminal_say(terminal, IFM_TONE_STRONG, "energy\n");
    IFM_TRY(say_arms(terminal, &cell->energy, error));
    for (size_t i = 0; i < cell->n_energy_said; i++) {
        ifm_text_printf(terminal->out, "%*s", IFM_TERMINAL_INDENT, "");
        ifm_terminal_wrap(terminal, cell->energy_said[i], IFM_TERMINAL_INDENT, IFM_TERMINAL_INDENT);
    }
    return IFM_OK;
}

static enum ifm_status say_cell(struct ifm_terminal *terminal, const struct ifm_view_cell *cell,
                                struct ifm_error *error)
{
    ifm_text_add(terminal->out, "\n");
    ifm_terminal_say(terminal, IFM_TONE_STRONG, cell->title);
    if (cell->unsupported[0] != '\0') {
        ifm_text_add(terminal->out, "  ");
        ifm_terminal_say(terminal, IFM_TONE_DIM, "absent: ");
        ifm_terminal_wrap(terminal, cell->unsupported, width_of(cell->title) + 10, IFM_TERMINAL_INDENT);
        return IFM_OK;
    }
    ifm_text_add(terminal->out, "  ");
    ifm_text_add(terminal->out, terminal->colour ? paint_of(IFM_TONE_DIM) : "");
    ifm_terminal_wrap(terminal, cell->conditions, width_of(cell->title) + 2, IFM_TERMINAL_INDENT);
    ifm_text_add(terminal->out, terminal->colour ? "\033[0m" : "");
    IFM_TRY(say_arms(terminal, &cell->arms, error));
    say_compressed(terminal, cell);
    IFM_TRY(say_energy(terminal, cell, error));
    IFM_TRY(say_ceilings(terminal, cell, error));
    if (cell->caches.n_rows > 0 && cell->arms.n_rows > 0)
        ifm_text_add(terminal->out, "\n");
    IFM_TRY(say_grid(terminal, &cell->caches, true, error));
    say_curve(terminal, cell);
    return IFM_OK;
}

static void say_notes(struct ifm_terminal *terminal, const struct ifm_view *view)
{
    if (view->n_notes > 0)
        ifm_text_add(terminal->out, "\n");
    for (size_t i = 0; i < view->n_notes; i++) {
        const struct ifm_field number = {"", "", IFM_TONE_DIM, view->notes[i].number};
        const char *label = noted(terminal, &number);
        ifm_text_printf(terminal->out, "%*s%s ", IFM_TERMINAL_INDENT, "", label);
        size_t column = IFM_TERMINAL_INDENT + width_of(label) + 1;
        ifm_terminal_wrap(terminal, view->notes[i].text, column, column);
    }
}

/* The report and verdict.json hold the rest of a long sentence. */
static const char *cut_short(const struct ifm_terminal *terminal, const char *text)
{
    enum { MOST = 280 };
    if (strlen(text) <= MOST)
        return text;
    int size = MOST;
    while (size > 0 && text[size] != ' ')
        size--;
    return ifm_arena_printf(terminal->arena, "%.*s … (verdict.json has the rest)", size, text);
}

static void say_causes(struct ifm_terminal *terminal, const struct ifm_view *view)
{
    if (view->n_rca > 0)
        ifm_terminal_say(terminal, IFM_TONE_STRONG, "\nwhere to look for the cause\n");
    for (size_t i = 0; i < view->n_rca; i++) {
        if (ifm_view_is_clean(view->rca[i]))
            continue;
        ifm_text_printf(terminal->out, "%*s%zu ", IFM_TERMINAL_INDENT, "", i + 1);
        ifm_terminal_wrap(terminal, cut_short(terminal, view->rca[i]), IFM_TERMINAL_INDENT + 2,
                          IFM_TERMINAL_INDENT + 2);
    }
}

static void say_sentences(struct ifm_terminal *terminal, const char *title, const struct ifm_view_line *items, size_t n)
{
    if (n > 0)
        ifm_terminal_say(terminal, IFM_TONE_STRONG, ifm_arena_printf(terminal->arena, "\n%s\n", title));
    for (size_t i = 0; i < n; i++) {
        ifm_text_printf(terminal->out, "%*s", IFM_TERMINAL_INDENT, "");
        ifm_terminal_wrap(terminal, ifm_arena_printf(terminal->arena, "%s: %s", items[i].place, items[i].text),
                          IFM_TERMINAL_INDENT, 2 * IFM_TERMINAL_INDENT);
    }
}

enum ifm_status ifm_compose_terminal(const struct ifm_publication *publication, bool colour, bool utf8,
                                     struct ifm_text *out, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_terminal terminal = {.out = out, .arena = arena, .colour = colour, .utf8 = utf8};
    const struct ifm_view *view = ifm_view_build(publication, arena);
    if (colour)
        ifm_text_add(out, "\033[1m");
    ifm_terminal_say(&terminal, view->tone, view->label);
    ifm_text_add(out, "  ");
    size_t indent = strlen(view->label) + 2;
    for (size_t i = 0; i < view->n_reasons && i < REASONS_SHOWN; i++) {
        if (i > 0)
            ifm_text_printf(out, "%*s", (int)indent, "");
        ifm_terminal_wrap(&terminal, view->reasons[i], indent, indent);
    }
    size_t more = view->n_reasons > REASONS_SHOWN ? view->n_reasons - REASONS_SHOWN : 0;
    if (more > 0)
        ifm_text_printf(out, "%*sand %zu more reason%s; the report has all of them\n", (int)indent, "", more,
                        more == 1 ? "" : "s");
    if (view->rollback[0] != '\0')
        ifm_text_printf(out, "%*s%s\n", (int)indent, "", view->rollback);
    enum ifm_status status = say_grid(&terminal, &view->gates, true, error);
    say_sentences(&terminal, "classes", view->classes, view->n_classes);
    for (size_t i = 0; i < view->n_cells && status == IFM_OK; i++)
        status = say_cell(&terminal, &view->cells[i], error);
    if (status == IFM_OK) {
        /* Where something is to be decided, what else changed belongs beside it; a first look can do without. */
        bool gated = publication->verdict->n_gates > 0;
        say_notes(&terminal, view);
        if (gated)
            say_sentences(&terminal, "what else changed", view->triage, view->n_triage);
        say_causes(&terminal, view);
        ifm_terminal_findings(&terminal, publication->plan, view, !gated && view->n_triage > 0);
        ifm_terminal_advice(&terminal, publication);
        status = ifm_terminal_checklists(&terminal, publication, error);
    }
    ifm_arena_destroy(arena);
    return status;
}
