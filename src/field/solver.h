/* Solver: one way to the fields on the nodes of the whole box, a row of a table (config word fields.solver).
 * field_solver.h brings the sources of all ranks to it, and the fields back to them.
 *
 * A solver without a state finds the fields at n from the sources at n alone. The state of another one is in
 * checkpoints, and it is carried along where rows change hands.
 */
#ifndef RADIXPIC_FIELD_SOLVER_H
#define RADIXPIC_FIELD_SOLVER_H

#include "domain/fields.h"

/* Modes of rho, and of E and B, that a history and drives follow: `wanted` (mx, my). Buffers belong to the
 * solver. A launch after a solve, or where ranks share the box the host, reads `parts` numbers of each. */
struct followed_modes {
    const struct buffer *modes;  /* of rho, as fft.h lays them out, unnormalised */
    const struct buffer *places; /* uint[count]: where in `modes` each of them stands, or its conjugate */
    const struct waves *waves;   /* whose modes stand alike; NULL: there are none, or none are followed */
    struct grid grid;
    enum gradient_kind gradient;
    uint32_t count;
    uint32_t parts;             /* 1: rho; with `waves` E across the wave and B behind it */
    const int32_t (*wanted)[2]; /* not owned */
    bool has_fields;            /* E and B are followed */
};

/* What a mode is of E and B, in this order: real and imaginary parts; 0 where there is no such component. */
typedef double mode_of_fields[WAVE_COMPONENTS][2];

struct sharing;

struct solver_kind {
    const char *name;
    unsigned sources;  /* the fields that it needs deposited, summed and filtered */
    unsigned provides; /* the fields that solve() sets; potential() sets those of FIELD_ON_REQUEST */

    /* Creates the solver for the whole box, or where `sharing` is not NULL for the part of the box that the
     * rank solves (poisson.h). It dies with the device handle. `followed` has what is wanted, and the solver
     * sets the rest. */
    enum status (*create)(struct device *device, const struct grid *box, const struct config *config,
                          const struct sharing *sharing, struct followed_modes *followed, void **own);

    /* The fields at n from the sources; a state of n-1 goes on to n, one of n stays. Waits as fft.h says. */
    enum status (*solve)(void *own, struct fields *fields, uint64_t n);

    /* Sets phi from the sources of the last solve, which `fields` still have. */
    enum status (*potential)(void *own, struct fields *fields);

    /* With `sharing`: a density of the local grid <- its sum over ranks, filtered, on the own rows; the
     * result of the last solve stays. */
    enum status (*sum)(void *own, struct buffer *density);

    /* Returns the name of the library that transforms. */
    const char *(*transforms)(const void *own);

    /* Returns the state; NULL: the solver has none. */
    struct waves *(*waves)(void *own);
};

/* field/poisson.c */
extern const struct solver_kind electrostatic_solver;

/* field/electromagnetic.c */
extern const struct solver_kind electromagnetic_solver;

#endif
