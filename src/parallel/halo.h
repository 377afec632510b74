/* Halo: the rows of nodes beside a slab, which its own particles reach and its neighbours own.
 *
 * After the deposit they are added to the rows of their owners; after the field solve they are filled from
 * there. On small grids several ranks may lie within reach, or a rank beside itself, around the ring. Sums
 * run in the order of the ranks: the same bits in every run.
 */
#ifndef RADIXPIC_PARALLEL_HALO_H
#define RADIXPIC_PARALLEL_HALO_H

#include "config/field_table.h"
#include "parallel/ghost_rows.h"

struct halo;

STATUS_CHECKED enum status halo_create(const struct rank_place *place, struct halo **halo);

/* Collective. To the own rows of local[local nx][ny] is added what other ranks hold for them in the rows
 * beside their own. */
void halo_add(struct halo *halo, void *local);

/* Collective. The rows beside the own ones become those of their owners, in up to FIELD_COMPONENTS such
 * arrays. */
void halo_fill(struct halo *halo, size_t count, void *const local[]);

#endif
