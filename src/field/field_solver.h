/* Field solver: from the densities that a rank's particles left on its local grid to the fields that they
 * feel: the sum over ranks, the filter, a solver's equations.
 *
 * On one rank that is filter.h and a solver (solver.h) on the arrays as they are. On several, one of
 *   replicated  every rank gets the whole densities, solves for all of the box on its device and keeps its
 *               rows: one gathering of rows for each, for grids that a device solves faster than ranks can
 *   slabs       the ranks share transforms and solver (fft_create_shared()): for large grids, since the
 *               memory and the work of a rank fall with the number of ranks
 * both of the same discrete equations.
 */
#ifndef RADIXPIC_FIELD_FIELD_SOLVER_H
#define RADIXPIC_FIELD_FIELD_SOLVER_H

#include "field/solver.h"
#include "parallel/ghost_rows.h"

struct field_solver;

/* *decomposition is the one that is asked for, and then the one that was taken. Collective. */
STATUS_CHECKED enum status field_solver_create(const struct rank_place *place, const struct config *config,
                                               enum decomposition_kind *decomposition,
                                               struct field_solver **solver);

/* What DECOMPOSITION_AUTO takes: slabs where all ranks have CPUs and the grid has at least FIELD_LARGE_GRID
 * nodes, as measured in docs/measurements/ranks.md. */
enum { FIELD_LARGE_GRID = 1 << 16 };
enum decomposition_kind field_solver_decomposition(bool on_cpus, int ranks, uint64_t nodes);

/* "VkFFT 1.3.4", "FFTW 3.3.10" or "a sum over nodes". */
const char *field_solver_name(const struct field_solver *solver);

/* `fields` are those of the slab's local grid. In: the solver's sources as deposited, with the rows beside
 * the own ones that particles reached. Out: the sources, filtered, and what it provides, all at n, on the own
 * rows; the latter on the rows beside, too. A solver with a state comes from n-1 or is at n already.
 * Collective; on one rank it only enqueues, as far as fft.h says so. */
STATUS_CHECKED enum status field_solver_solve(struct field_solver *solver, struct fields *fields, uint64_t n);

/* The solver's state, for checkpoints and for another solver of the same box; NULL: it has none. */
struct waves *field_solver_waves(const struct field_solver *solver);

/* A density as it was deposited on the local grid <- its sum over ranks, filtered, on the own rows. The
 * solver and its fields stay as the last solve left them. Collective. */
STATUS_CHECKED enum status field_solver_sum(struct field_solver *solver, struct buffer *density);

/* Sets phi on the own rows from the rho of the last solve. Collective. */
STATUS_CHECKED enum status field_solver_potential(struct field_solver *solver, struct fields *fields);

/* field_solver_modes() has the modes of the config's history, then one for each drive, of the whole box. It
 * has none with slabs: there field_solver_read_modes() gives every rank the modes of the last solve, as
 * energy_sums() does. Collective, and waits, and fails on all ranks together; else it does nothing. */
enum { FIELD_MOST_MODES = CONFIG_MAX_MODES + CONFIG_MAX_DRIVES };
const struct followed_modes *field_solver_modes(const struct field_solver *solver);
STATUS_CHECKED enum status field_solver_read_modes(const struct field_solver *solver, double (*modes)[2],
                                                   mode_of_fields *fields);

#endif
