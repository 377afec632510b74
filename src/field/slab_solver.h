/* Slab solver: Poisson's equation over ranks, by FFTW-MPI on the hosts, each rank transforming a share of the
 * rows. For grids so large that solving all of it on every rank (field/poisson.h) costs more.
 *
 * The same discrete equations as filter.h and poisson.h, taken in Fourier space: a binomial pass multiplies a
 * mode by cos^2(kx dx/2) cos^2(ky dy/2), the spectral gradient by i k (0 at the Nyquist mode of an axis), the
 * centred one by i sin(k dx)/dx. All in double precision. Rows travel between the ranks' own ranges and
 * FFTW's. Every call is collective over all ranks and blocks.
 */
#ifndef RADIXPIC_FIELD_SLAB_SOLVER_H
#define RADIXPIC_FIELD_SLAB_SOLVER_H

#include "parallel/ghost_rows.h"

struct slab_solver;

/* After the rows changed hands a new solver is made. The handle that owns it is closed before MPI ends. */
STATUS_CHECKED enum status slab_solver_create(const struct rank_place *place, enum gradient_kind gradient,
                                              uint32_t filter_passes, struct slab_solver **solver);

/* From the charge density of the rank's own rows, double[rows * ny], to the field there. With filter passes
 * rho is filtered in place, too. */
void slab_solver_solve(struct slab_solver *solver, double *rho, double *ex, double *ey);

/* Filters a density of the rank's own rows in place; the last solve stays known. */
void slab_solver_filter(struct slab_solver *solver, double *density);

/* The potential of the last solve, of mean 0, on the rank's own rows. */
void slab_solver_potential(struct slab_solver *solver, double *phi);

/* Fourier coefficients of the (filtered) rho of the last solve, as energy_sums() defines them, on all
 * ranks. */
void slab_solver_read_modes(struct slab_solver *solver, uint32_t count, const int32_t (*wanted)[2],
                            double *modes);

#endif
