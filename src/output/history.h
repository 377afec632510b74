/* History: history.csv, one row for every step that is measured. */
#ifndef RADIXPIC_OUTPUT_HISTORY_H
#define RADIXPIC_OUTPUT_HISTORY_H

#include "output/run_folder.h"
#include "output/view.h"

/* Everything at one time level. Energies, momentum and charge are sums over the box. */
struct history_row {
    uint64_t step;
    double time;
    double field_energy;
    double kinetic_energy;
    double momentum[2];
    double charge;
    double modes[CONFIG_MAX_MODES][2]; /* real and imaginary part of each mode of the config */
};

/* Creates FOLDER/history.csv, replacing an older one, and writes its head. In a folder that a run goes on in:
 * keeps the rows before `step`, and cuts the others and a last line that was written by half, which takes no
 * room on the disk. STATUS_USAGE when its columns are not those of
 * `config`; STATUS_FAILED names path, and line or errno text. After a failure the file is as it was. The
 * caller closes the history, also after a failure, and keeps `config` until then. */
STATUS_CHECKED enum status history_open(const struct run_folder *folder, const struct config *config,
                                        uint64_t step, void **history);

/* Writes view->measured with 17 significant digits and hands it to the system, so that a killed run keeps it.
 * Nothing where there is no history (NULL). STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status history_write(void *history, const char *folder, const struct view *view,
                                         uint64_t *bytes);

/* Returns when every row is on the disk, so that a checkpoint written after it never knows of steps whose
 * rows a power loss took. NULL is fine. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status history_sync(void *history);

/* Closes the file; STATUS_FAILED when its last bytes could not be written. NULL is fine. */
STATUS_CHECKED enum status history_close(void **history);

void history_print_size(const struct config *config);

#endif
