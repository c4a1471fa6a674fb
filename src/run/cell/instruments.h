/* The instruments of the pass that a cell is in: opened for it, started and stopped around each slot, then closed. */
#ifndef IFM_RUN_CELL_INSTRUMENTS_H
#define IFM_RUN_CELL_INSTRUMENTS_H

#include "run/cell/cell.h"

/* Open the instruments of cell->pass; a column that cannot be read here becomes a fact. */
IFM_CHECKED enum ifm_status ifm_instruments_open(struct ifm_cell_run *cell, struct ifm_error *error);
void ifm_instruments_close(struct ifm_cell_run *cell);
/* Switch to another pass of the cell: its instruments, and room for their columns. */
IFM_CHECKED enum ifm_status ifm_instruments_of(struct ifm_cell_run *cell, const struct ifm_pass *pass,
                                               struct ifm_error *error);
/* Around the timed part of a slot, then what was read. These may make system calls; the timed part may not. In a slot
 * with something between its samples, those of `last_sample` apart from the others. */
enum ifm_instruments_part { IFM_INSTRUMENTS_ALL, IFM_INSTRUMENTS_OF_SLOT, IFM_INSTRUMENTS_OF_SAMPLE };
void ifm_instruments_start(struct ifm_cell_run *cell, enum ifm_instruments_part part);
void ifm_instruments_stop(struct ifm_cell_run *cell, enum ifm_instruments_part part);
void ifm_instruments_collect(const struct ifm_cell_run *cell, int64_t *columns);
/* Into how many groups the columns of the pass fall, of which a slot fills one. `grouped`: an instrument has
 * some; it has 0 where it can read nothing here. */
unsigned ifm_instruments_groups(const struct ifm_cell_run *cell, bool *grouped);
void ifm_instruments_choose(const struct ifm_cell_run *cell, unsigned group);
/* Where the numbers come from, and how many slots were read: a fact for each instrument that tells. */
IFM_CHECKED enum ifm_status ifm_instruments_log_read(const struct ifm_cell_run *cell, struct ifm_error *error);
/* How many slots had no cycles from the device, and why; writes nothing where none lacked them. */
IFM_CHECKED enum ifm_status ifm_instruments_log_clock(const struct ifm_cell_run *cell, struct ifm_error *error);

#endif
