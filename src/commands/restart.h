/* Restart: which checkpoint `run --restart` means, and the config it goes on with. */
#ifndef RADIXPIC_COMMANDS_RESTART_H
#define RADIXPIC_COMMANDS_RESTART_H

#include "commands/overrides.h"
#include "output/checkpoint.h"

/* Collective. Opens the requested checkpoint ("latest", or the path of one, of a folder of them or of a run),
 * and reads CONFIG, or else that of the checkpoint, with all overrides. STATUS_USAGE when there is no
 * checkpoint, or when the config is not one that it can go on with; STATUS_FAILED when it is broken. All
 * ranks come to the same end. The caller closes the checkpoint in any case. */
STATUS_CHECKED enum status restart_open(const struct communicator *communicator,
                                        const struct overrides *overrides, const char *request,
                                        struct checkpoint **checkpoint, struct config *config);

/* The command that goes on with a run of `folder` that was stopped. The caller frees it; NULL: no memory. */
char *restart_command(const struct overrides *overrides, int ranks, const char *folder);

#endif
