/* History: history.csv, one row for every step that is measured. */
#ifndef RADIXPIC_DIAG_HISTORY_H
#define RADIXPIC_DIAG_HISTORY_H

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

/* Writes one row with 17 significant digits and hands it to the system, so that a killed run keeps it.
 * STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status history_append(struct history *history, const struct history_row *row);

/* Closes the file; STATUS_FAILED when its last bytes could not be written. NULL is fine. */
STATUS_CHECKED enum status history_close(struct history **history);

#endif
