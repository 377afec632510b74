/* Slab solver: rows to FFTW's ranks, one transform forward, a product for every mode, and a transform back
 * for every result.
 *
 * Between the transforms the modes stay transposed, as the forward one leaves them: a rank has columns, that
 * is modes along y, and each is contiguous along x. That spares two exchanges among all ranks. Plans are
 * estimated, not measured, so that every run has the same bits (field/fft_fftw.c).
 */
#include "field/slab_solver.h"
#include "field/poisson.h"
#include "parallel/rows.h"

#include <fftw3-mpi.h>

#include <math.h>

struct slab_solver {
    struct communicator communicator;
    struct grid box;
    bool is_filtered;
    struct row_exchange *rows;      /* the partition's here, FFTW's there */
    uint32_t columns, first_column; /* the own modes along y */
    struct wave *along_x, *along_y; /* [nx], [columns]: enough for all modes */
    fftw_complex *modes;            /* [columns * nx]: of the (filtered) rho of the last solve */
    fftw_complex *spare;            /* the same of another density */
    fftw_complex *work;             /* the same for a result, or as double[rows][2 (ny/2 + 1)] its nodes */
    fftw_plan forward, inverse;     /* work -> modes, work -> work */
};

/* ---- creation ---- */

/* The rows of the partition and those that FFTW's rank wants, which may be none. */
static enum status create_rows(struct device *device, const struct partition *partition, uint32_t fftw_rows,
                               struct slab_solver *solver)
{
    const size_t ranks = (size_t)solver->communicator.size;
    const uint32_t ny = solver->box.ny;
    uint32_t *fftw_first = NULL;
    TRY(communicator_agree(&solver->communicator, DEVICE_NEW_ARRAY(device, fftw_first, ranks + 1)));
    communicator_gather(&solver->communicator, sizeof fftw_rows, &fftw_rows, fftw_first + 1);
    for (size_t rank = 0; rank < ranks; rank++)
        fftw_first[rank + 1] += fftw_first[rank];
    const struct row_division here = {partition->first, ny}, there = {fftw_first, 2 * (ny / 2 + 1)};
    return rows_create(&solver->communicator, device, ny, &here, &there, &solver->rows);
}

/* What FFTW made, plans and memory. */
static void destroy_fftw(void *object)
{
    struct slab_solver *solver = object;
    if (solver->forward)
        fftw_destroy_plan(solver->forward);
    if (solver->inverse)
        fftw_destroy_plan(solver->inverse);
    fftw_free(solver->modes);
    fftw_free(solver->spare);
    fftw_free(solver->work);
}

static enum status create_arrays(struct device *device, size_t complex_numbers, enum gradient_kind gradient,
                                 uint32_t filter_passes, struct slab_solver *solver)
{
    const struct grid *box = &solver->box;
    TRY(device_at_close(device, destroy_fftw, solver));
    TRY(DEVICE_NEW_ARRAY(device, solver->along_x, box->nx));
    TRY(DEVICE_NEW_ARRAY(device, solver->along_y, solver->columns));
    for (uint32_t m = 0; m < box->nx; m++)
        solver->along_x[m] = poisson_wave(m, box->nx, box->lx, gradient, filter_passes);
    for (uint32_t c = 0; c < solver->columns; c++)
        solver->along_y[c] =
            poisson_wave(solver->first_column + c, box->ny, box->ly, gradient, filter_passes);
    solver->modes = fftw_alloc_complex(complex_numbers);
    solver->work = fftw_alloc_complex(complex_numbers);
    solver->spare = solver->is_filtered ? fftw_alloc_complex(complex_numbers) : NULL;
    if (!solver->modes || !solver->work || (solver->is_filtered && !solver->spare))
        return status_fail(STATUS_FAILED, "no memory for %zu modes of the field", complex_numbers);
    return STATUS_OK;
}

/* Collective: no rank may miss. */
static enum status create_plans(struct slab_solver *solver)
{
    const struct grid *box = &solver->box;
    double *nodes = (double *)solver->work;
    solver->forward = fftw_mpi_plan_dft_r2c_2d(box->nx, box->ny, nodes, solver->modes, MPI_COMM_WORLD,
                                               FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
    solver->inverse = fftw_mpi_plan_dft_c2r_2d(box->nx, box->ny, solver->work, nodes, MPI_COMM_WORLD,
                                               FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
    if (!solver->forward || !solver->inverse)
        return status_fail(STATUS_FAILED, "FFTW makes no plan for %u x %u cells over %d ranks", box->nx,
                           box->ny, solver->communicator.size);
    return STATUS_OK;
}

enum status slab_solver_create(const struct rank_place *place, enum gradient_kind gradient,
                               uint32_t filter_passes, struct slab_solver **solver)
{
    const struct grid *box = &place->slab->box;
    TRY(communicator_start_mpi());
    fftw_mpi_init(); /* again does nothing */
    ptrdiff_t rows, first_row, columns, first_column;
    const ptrdiff_t least = fftw_mpi_local_size_2d_transposed(box->nx, box->ny / 2 + 1, MPI_COMM_WORLD, &rows,
                                                              &first_row, &columns, &first_column);
    enum status status = DEVICE_NEW(place->device, *solver);
    if (status == STATUS_OK) {
        **solver = (struct slab_solver){.communicator = *place->communicator,
                                        .box = *box,
                                        .is_filtered = filter_passes > 0,
                                        .columns = (uint32_t)columns,
                                        .first_column = (uint32_t)first_column};
        status =
            create_arrays(place->device, least > 0 ? (size_t)least : 1, gradient, filter_passes, *solver);
    }
    TRY(communicator_agree(place->communicator, status));
    TRY(create_rows(place->device, place->partition, (uint32_t)rows, *solver));
    return communicator_agree(place->communicator, create_plans(*solver));
}

/* ---- modes ---- */

static void filter_modes(const struct slab_solver *solver, fftw_complex *modes)
{
    const size_t nx = solver->box.nx;
    for (size_t c = 0; c < solver->columns; c++) {
        fftw_complex *rho = modes + c * nx;
        for (size_t m = 0; m < nx; m++) {
            const double factor = solver->along_x[m].filter * solver->along_y[c].filter;
            rho[m][0] *= factor;
            rho[m][1] *= factor;
        }
    }
}

/* What a transform back is made of. */
enum result { RESULT_DENSITY, RESULT_POTENTIAL, RESULT_FIELD_X, RESULT_FIELD_Y };

/* work <- the modes of a result, over the nodes, which the transforms leave out: rho_k; phi_k = rho_k / k^2,
 * 0 for k = 0, as the neutral background takes the mean away; E_k = -i slope phi_k along an axis. */
static void make_modes(struct slab_solver *solver, fftw_complex *modes, enum result result)
{
    const double scale = 1.0 / grid_cells(&solver->box);
    const size_t nx = solver->box.nx;
    for (size_t c = 0; c < solver->columns; c++)
        for (size_t m = 0; m < nx; m++) {
            const struct wave x = solver->along_x[m], y = solver->along_y[c];
            const double k_squared = x.k_squared + y.k_squared;
            const double potential = k_squared > 0 ? scale / k_squared : 0;
            const double field = potential * (result == RESULT_FIELD_X ? x.slope : y.slope);
            const double factor = result == RESULT_DENSITY ? scale : potential;
            const double *rho = modes[c * nx + m];
            double *mode = solver->work[c * nx + m];
            const bool is_field = result == RESULT_FIELD_X || result == RESULT_FIELD_Y;
            mode[0] = is_field ? field * rho[1] : factor * rho[0];
            mode[1] = is_field ? -field * rho[0] : factor * rho[1];
        }
}

/* ---- a solve ---- */

static void to_own_rows(struct slab_solver *solver, fftw_complex *modes, enum result result, double *own)
{
    make_modes(solver, modes, result);
    fftw_execute(solver->inverse);
    rows_move(solver->rows, true, (const double *)solver->work, own);
}

void slab_solver_solve(struct slab_solver *solver, double *rho, double *ex, double *ey)
{
    rows_move(solver->rows, false, rho, (double *)solver->work);
    fftw_execute(solver->forward);
    if (solver->is_filtered) {
        filter_modes(solver, solver->modes);
        to_own_rows(solver, solver->modes, RESULT_DENSITY, rho);
    }
    to_own_rows(solver, solver->modes, RESULT_FIELD_X, ex);
    to_own_rows(solver, solver->modes, RESULT_FIELD_Y, ey);
}

void slab_solver_filter(struct slab_solver *solver, double *density)
{
    if (!solver->is_filtered)
        return;
    rows_move(solver->rows, false, density, (double *)solver->work);
    fftw_mpi_execute_dft_r2c(solver->forward, (double *)solver->work, solver->spare);
    filter_modes(solver, solver->spare);
    to_own_rows(solver, solver->spare, RESULT_DENSITY, density);
}

void slab_solver_potential(struct slab_solver *solver, double *phi)
{
    to_own_rows(solver, solver->modes, RESULT_POTENTIAL, phi);
}

void slab_solver_read_modes(struct slab_solver *solver, uint32_t count, const int32_t (*wanted)[2],
                            double *modes)
{
    const double cells = grid_cells(&solver->box);
    for (size_t n = 0; n < count; n++) {
        const struct stored_mode stored = poisson_stored_mode(&solver->box, wanted[n]);
        double *mode = &modes[2 * n];
        mode[0] = mode[1] = 0;
        if (stored.n < solver->first_column || stored.n >= solver->first_column + solver->columns)
            continue; /* another rank's */
        const size_t element = (size_t)(stored.n - solver->first_column) * solver->box.nx + stored.m;
        mode[0] = solver->modes[element][0] / cells;
        mode[1] = solver->modes[element][1] / (stored.is_conjugate ? -cells : cells);
    }
    communicator_sum(&solver->communicator, 2 * (size_t)count, modes);
}
