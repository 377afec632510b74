/* Restart: which checkpoint `run --restart` means, and the config it goes on with. */
#ifndef RADIXPIC_COMMANDS_RESTART_H
#define RADIXPIC_COMMANDS_RESTART_H

#include "commands/overrides.h"
#include "output/checkpoint.h"

/* A checkpoint to go on from. */
struct restart {
    const char
        *request; /* "latest", or the path of a checkpoint, of a folder of them or of a run; NULL: none */
    struct checkpoint *checkpoint; /* owned */
    uint64_t step;                 /* of it */
    char *warnings;                /* lines about broken ones that were passed by; NULL: none. Owned. */
};

/* Collective. Opens the requested checkpoint, and reads CONFIG, or else that of the checkpoint, with
 * all overrides. STATUS_USAGE when there is no checkpoint, or when the config is not one that it can go on
 * with; STATUS_FAILED when it is broken. All ranks come to the same end. The caller frees it in any case. */
STATUS_CHECKED enum status restart_open(const struct communicator *communicator,
                                        const struct overrides *overrides, struct restart *restart,
                                        struct config *config);
void restart_free(struct restart *restart);

/* The command that goes on with a run of `folder` that was stopped. The caller frees it; NULL: no memory. */
char *restart_command(const struct overrides *overrides, int ranks, const char *folder);

#endif
