/* Field files: E and B that fields.initial and fields.external have from files. */
#ifndef RADIXPIC_INPUT_FIELD_FILES_H
#define RADIXPIC_INPUT_FIELD_FILES_H

#include "base/log.h"
#include "config/config.h"
#include "parallel/communicator.h"

/* Collective. Sets digest and values of fields.file[], on each rank for the whole box, since rows
 * change hands. Of a run that goes on `before` is the config in its checkpoint, else NULL: initial fields are
 * then in the state and are not read. STATUS_USAGE where a file is not what the config says, or an external
 * one is not that of the run before. The caller frees values in any case. */
STATUS_CHECKED enum status field_files_read(const struct communicator *communicator, struct config *config,
                                            const struct config *before);

/* Frees the values of one file, which are then NULL; its digest stays. */
void field_file_free(struct field_file *file);

/* A line for each file. */
void field_files_announce(const struct config *config, struct log *log);

#endif
