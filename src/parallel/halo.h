/* Halo: the rows of nodes beside a slab, which its own particles reach and its neighbours own.
 *
 * After the deposit they are added to the rows of their owners; after the field solve they are filled from
 * there. On small grids several ranks may lie within reach, or a rank beside itself, around the ring. Sums
 * run in the order of the ranks: the same bits in every run.
 */
#ifndef RADIXPIC_PARALLEL_HALO_H
#define RADIXPIC_PARALLEL_HALO_H

#include "device/device.h"
#include "parallel/communicator.h"
#include "parallel/ghost_rows.h"

struct halo;

/* For slabs of all ranks with this number of ghost rows. */
STATUS_CHECKED enum status halo_create(const struct communicator *communicator, struct device *device,
                                       const struct partition *partition, const struct grid *box,
                                       uint32_t ghost, struct halo **halo);

/* How many rows of nodes beside its own a rank reaches, at most GHOST_NODE_ROWS, and which row of the local
 * grid number n is. */
uint32_t halo_rows(const struct halo *halo);
uint32_t halo_local_row(const struct halo *halo, uint32_t n);

/* Collective. own[rows][ny] += what other ranks hold for these rows in their beside[halo_rows()][ny]. */
void halo_add(struct halo *halo, double *own, const double *beside);

/* Collective. beside[halo_rows()][ny] <- own[rows][ny] of their owners. */
void halo_fill(struct halo *halo, const double *own, double *beside);

#endif
