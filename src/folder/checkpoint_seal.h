/* Checkpoint seal: the format of a checkpoint, and the digest by which a damaged one is found. A checkpoint
 * is the whole state between two steps in one HDF5 file, for `run --restart`.
 *
 * Positions stand at step n, velocities at n-1/2, every list sorted, every particle with the rank that owns
 * its row. Lists are stored in the order of the ranks, which is that of the keys, with the particles of every
 * cell counted; so any number of ranks can read them, each its own rows. Reals are stored in the precision of
 * the run, so a restart on as many ranks goes on with the same bits.
 *
 * A file appears whole or not at all (hdf5_file.h). A digest over all bytes of the file, kept in the block
 * before HDF5's first byte, is checked before anything is believed. Each rank writes its part of the arrays,
 * as the device has it.
 *
 *     attributes of the file: version, run, step, first_energy, ranks, ghost; of a run with drives drive_work
 *     and of fields from files initialFileDigest, externalFileDigest
 *     /config                         uint8[bytes]            YAML, as config_echo() writes it
 *     /first_rows                     uint32[ranks + 1]       of the ranks, and the number of rows
 *     /capacities                     uint32[ranks][species]  of the lists
 *     /external_work                  double[species]         of a run with output.history.work
 *     /waves                          real[ny/2 + 1][6 nx 2]  of an electromagnetic run: waves_place()
 *     /OUTPUT                                                 of an output that averages: outputs_save()
 *     /tracks/kept                    uint64[count]           ids that output.tracks.keep follows on
 *     /particles/SPECIES/row_counts   uint64[nx]
 *     /particles/SPECIES/cell_counts  uint32[nx][ny]
 *     /particles/SPECIES/ATTRIBUTE    real or uint64[N][components], in the order of the cells
 *     /particles/SPECIES/file         uint64[8]               of a species from a file: struct species_facts
 */
#ifndef RADIXPIC_FOLDER_CHECKPOINT_SEAL_H
#define RADIXPIC_FOLDER_CHECKPOINT_SEAL_H

#include "base/status.h"

#include <stdbool.h>

/* ---- the block before HDF5's first byte (its user block), by which a damaged file is found ---- */

/* The block holds a magic text, the version of the format, the size of the file, a digest (XXH3, 128 bits) of
 * the digests of all 4 MiB pieces after the block, and one of the block itself. So no bit of the file can
 * change unnoticed. The place of magic, version and the block's own digest is the same in every version. */
enum { CHECKPOINT_VERSION = 5, CHECKPOINT_BLOCK = 512 /* bytes; HDF5 allows powers of two from 512 on */ };

/* Writes the block of the complete file at `path`. */
STATUS_CHECKED enum status checkpoint_seal(const char *path);

/* A sentence unless the file is a whole checkpoint of this version, with STATUS_USAGE where it does not begin
 * as one, else STATUS_FAILED. Reads all of it, or only its block, and its size, at a glance. *is_damaged: the
 * file was read and is not a whole checkpoint; false where reading failed, or for another version. */
STATUS_CHECKED enum status checkpoint_seal_check(const char *path, bool all, bool *is_damaged);

#endif
