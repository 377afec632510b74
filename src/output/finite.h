/* Finite: where a number is none. For when a sum says that something went wrong: it reads everything, piece
 * by piece, and names the first particle or node. */
#ifndef RADIXPIC_OUTPUT_FINITE_H
#define RADIXPIC_OUTPUT_FINITE_H

#include "domain/fields.h"
#include "domain/particles.h"
#include "domain/slab.h"
#include "parallel/communicator.h"

/* What this rank has. Nothing is owned. */
struct finite_state {
    const struct communicator *communicator;
    const struct slab *slab;
    enum precision precision;
    uint32_t species_count;
    const struct particles *particles; /* [species_count], in either layout. A particle's cell is its key, */
    const struct particles
        *guests;                 /* or in a list without keys, sorted then, that of its place; NULL: none */
    const struct fields *fields; /* of the slab's local grid */
    uint64_t step;
    double time;
};

/* Collective. STATUS_OK when every offset and velocity and, on the ranks' own rows, rho, ex and ey are finite
 * numbers. Otherwise STATUS_FAILED with the same sentence on all ranks: species, cell, node and row are those
 * of the box. Particles come first, whichever rank has them: a field that is none follows from them, on all
 * ranks. Blocking. */
STATUS_CHECKED enum status finite_find(const struct finite_state *state);

#endif
