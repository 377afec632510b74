/* Manifest: manifest.yaml says what the run in a folder is, and from which checkpoints it can be gone on
 * with.
 *
 * It is replaced as a whole, so the folder goes from one state to the next in one moment: a checkpoint counts
 * from the moment the manifest names it, and no longer once the manifest does not. Each start of the program
 * is a run with an id of its own, which goes on from a checkpoint of an earlier one, or from nothing. */
#ifndef RADIXPIC_FOLDER_MANIFEST_H
#define RADIXPIC_FOLDER_MANIFEST_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define MANIFEST_NAME "manifest.yaml"

enum {
    MANIFEST_CHECKPOINTS = 1001, /* output.checkpoints.keep at most, and one */
    MANIFEST_APPENDED = 25,      /* files that grow, at most: history.csv, the file list, and probes */
    MANIFEST_NAME_LENGTH = 80    /* bytes of the name of one, with its end */
};

/* How much of a file that grows there was at some step; 0 bytes: it was not there. */
struct append_mark {
    uint64_t bytes;
    uint64_t digest; /* XXH3, 64 bits, of these bytes */
};

struct manifest_checkpoint {
    uint64_t step;
    uint64_t run;                                   /* which wrote it */
    struct append_mark appended[MANIFEST_APPENDED]; /* of the files of these numbers */
};

enum manifest_state {
    MANIFEST_NONE,       /* no manifest */
    MANIFEST_STARTING,   /* the run has nothing yet; what an earlier one left is being removed */
    MANIFEST_RESTARTING, /* it has files of steps up to from_step; later ones are being removed */
    MANIFEST_RUNNING,
    MANIFEST_COMPLETE
};

struct manifest {
    enum manifest_state state;
    uint64_t run;
    uint64_t from_run, from_step; /* the checkpoint that it went on from; run 0: none */
    uint64_t complete_step;       /* where it is complete */
    char appended[MANIFEST_APPENDED]
                 [MANIFEST_NAME_LENGTH]; /* below the folder; "": no file; 0: history.csv */
    uint32_t checkpoint_count;
    struct manifest_checkpoint checkpoints[MANIFEST_CHECKPOINTS]; /* in the order of their steps */
};

/* Reads that of a folder; without one the state is MANIFEST_NONE. STATUS_FAILED where it is damaged, of
 * another version or cannot be read. */
STATUS_CHECKED enum status manifest_read(const char *folder, struct manifest *manifest);

/* Replaces that of an open folder, whose path is for messages: see replace_end(). */
STATUS_CHECKED enum status manifest_write(int folder, const char *path, const struct manifest *manifest);

/* The checkpoint of this step; NULL where none is named. */
const struct manifest_checkpoint *manifest_find(const struct manifest *manifest, uint64_t step);

/* The number of a file that grows, which gets one that is free where there is none and `add`; else, and where
 * all have names, MANIFEST_APPENDED. */
uint32_t manifest_appended(struct manifest *manifest, const char *name, bool add);

/* Names the `count` oldest checkpoints no longer. */
void manifest_drop(struct manifest *manifest, uint32_t count);

/* Names a checkpoint, and none of its step or a later one beside it. Without room the oldest one goes. */
void manifest_add(struct manifest *manifest, const struct manifest_checkpoint *checkpoint);

/* What belongs to a run that goes on from this step: nothing later, and no file that grew only later. */
void manifest_cut(struct manifest *manifest, uint64_t step);

/* Fails for the file at a path, the manifest or what else says what belongs to the run; `why` stands behind
 * it. */
STATUS_CHECKED enum status manifest_refuse(const char *path, const char *why);

#endif
