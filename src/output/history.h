/* History: history.csv, one row for every step that is measured. */
#ifndef RADIXPIC_OUTPUT_HISTORY_H
#define RADIXPIC_OUTPUT_HISTORY_H

#include "config/config.h"

struct history;

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

/* Creates FOLDER/history.csv, replacing an older one, and writes its head. The caller closes it. */
STATUS_CHECKED enum status history_open(const char *folder, const struct history_config *config,
                                        struct history **history);

/* Goes on with the FOLDER/history.csv of a run that stands at `step` again: the rows of earlier steps stay,
 * the others are cut, and so is a last line that was written by half. Whenever the process ends, the file is
 * the old one or the new one. STATUS_USAGE when its columns are not those of `config`; STATUS_FAILED names
 * path, and line or errno text. After a failure the file is as it was. The caller closes the history. */
STATUS_CHECKED enum status history_continue(const char *folder, const struct history_config *config,
                                            uint64_t step, struct history **history);

/* Writes one row with 17 significant digits and hands it to the system, so that a killed run keeps it.
 * STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status history_append(struct history *history, const struct history_row *row);

/* Returns when every row is on the disk, so that a checkpoint written after it never knows of steps whose
 * rows a power loss took. NULL is fine. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status history_sync(struct history *history);

/* Closes the file; STATUS_FAILED when its last bytes could not be written. NULL is fine. */
STATUS_CHECKED enum status history_close(struct history **history);

#endif
