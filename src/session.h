/* Session: all that one run holds, from its config to its end, and how it begins and ends: for `radixpic run`
 * and for the library. Arguments, progress and signals are the caller's. */
#ifndef RADIXPIC_SESSION_H
#define RADIXPIC_SESSION_H

#include "simulation.h"

struct session {
    struct config config;
    struct communicator communicator;
    double mpi_seconds;            /* that its start took */
    bool builds_ahead;             /* by processes of this program, which is radixpic */
    struct log log;                /* of rank 0; the others have none */
    struct checkpoint *checkpoint; /* to go on from, until the run has begun; NULL: none */
    struct device *device;
    struct run_folder folder;
    struct simulation simulation;
};

/* Whether this rank is the first, which keeps the folder. */
bool session_is_first(const struct session *session);

/* Collective: communicator_agree() on the status of each rank. */
STATUS_CHECKED enum status session_agree(const struct session *session, enum status status);

/* Collective. STATUS_USAGE with one line for each key in which the config of a rank is not that of rank 0,
 * but for the device, which each may have of its own. */
STATUS_CHECKED enum status session_require_same(const struct communicator *communicator,
                                                const struct config *config);

/* The ranks of the config's run, which is set with the communicator and, for a restart, the checkpoint: opens
 * the device and builds the simulation on it. Collective. */
STATUS_CHECKED enum status session_begin(struct session *session);

/* Chooses what becomes of an earlier run in config.output.directory; STATUS_USAGE where it is not to be
 * replaced, and the checkpoint is not one of it. Collective. */
STATUS_CHECKED enum status session_choose_folder(struct session *session, bool replaces);

/* From now on outputs are written into the folder that was chosen. Collective. */
STATUS_CHECKED enum status session_open_outputs(struct session *session);

/* After the last step and outputs_finish(): the folder holds a complete run. Collective. */
STATUS_CHECKED enum status session_complete(struct session *session);

/* Closes files and folder; the log gets the sentence of a failed `status`. Returns the first failure. */
STATUS_CHECKED enum status session_close_files(struct session *session, enum status status);

/* Closes files and folder like session_close_files(), and destroys the rest but for the config, which the
 * caller frees. */
STATUS_CHECKED enum status session_end(struct session *session, enum status status);

#endif
