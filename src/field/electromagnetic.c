/* Electromagnetic: Maxwell's equations on the periodic grid, by FFT: launches of kernels/electromagnetic.cl.
 *
 * The state is the modes of B and of the transverse part of E, at a whole step, with their means; the
 * longitudinal part of E is that of Poisson's equation, so Gauss's law holds in every step.
 */
#include "base/integers.h"
#include "config/formula.h"
#include "field/poisson.h"
#include "field/tabulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct electromagnetic {
    struct poisson *poisson; /* of rho, with the transforms */
    struct grid grid;
    struct slab slab; /* where the fields are */
    enum precision precision;
    double c_squared;
    struct waves waves;
    struct buffer *turn; /* real2[nx * (ny/2 + 1)] */
    struct kernel *begin, *advance;
};

/* ---- creation ---- */

/* For each mode 1 - cos(th) = 2 sin(th/2)^2 and sin(th)/(c k), th = c k dt, with k of the gradient; of the
 * mean their limits, 0 and dt, where Ampere's law moves it. */
static enum status create_turns(struct electromagnetic *solver, const struct config *config)
{
    const struct grid *grid = &solver->grid;
    const uint32_t modes_y = solver->poisson->columns, first = solver->poisson->first_column;
    const size_t modes = (size_t)grid->nx * at_least(modes_y, 1);
    double *turns = malloc(2 * modes * sizeof *turns);
    if (!turns)
        return status_fail(STATUS_FAILED, "no memory for %zu waves", modes);
    for (uint32_t m = 0; m < grid->nx; m++)
        for (uint32_t n = 0; n < modes_y; n++) {
            const double k =
                hypot(poisson_wave(m, grid->nx, grid->lx, GRADIENT_SPECTRAL, NULL).slope,
                      poisson_wave(first + n, grid->ny, grid->ly, GRADIENT_SPECTRAL, NULL).slope);
            const double ck = config->fields.speed_of_light * k, th = ck * config->time.step;
            double *turn = turns + 2 * ((size_t)m * modes_y + n);
            turn[0] = 2 * sin(th / 2) * sin(th / 2);
            turn[1] = k > 0 ? sin(th) / ck : 0;
            if (m == 0 && first + n == 0 && config->fields.mean == MEAN_AMPERE)
                turn[1] = config->time.step;
        }
    enum status status =
        buffer_create(solver->poisson->device, 2 * modes * precision_bytes(solver->precision),
                      "the turns of waves", &solver->turn);
    TRY_IF_OK(buffer_write_reals(solver->turn, solver->precision, 0, 2 * modes, turns));
    free(turns);
    return status;
}

/* The unnormalised modes of a component of fields.initial, of a formula or of a file, on the own rows. */
static enum status transform_initial(struct electromagnetic *solver, struct device *scratch, const char *text,
                                     const double *box, double *values, struct buffer *nodes,
                                     struct buffer *modes)
{
    const size_t cells = grid_cells(&solver->slab.local), own = slab_own_cells(&solver->slab);
    if (box)
        tabulate_rows(&solver->slab, box, values);
    else
        TRY(tabulate(&solver->slab, "fields.initial", text, 0, values));
    memset(values + own, 0, (cells - own) * sizeof *values); /* no rank leaves anything for another one */
    TRY(buffer_write_reals(nodes, solver->precision, 0, cells, values));
    TRY(device_region_begin(scratch));
    TRY(device_region_end(scratch, STAGE_START_OTHER, 0,
                          fft_run(solver->poisson->fft, FFT_FORWARD, 1, nodes, modes)));
    return device_finish(scratch);
}

/* The state at 0: the transverse part of fields.initial. */
static enum status begin(struct electromagnetic *solver, struct device *scratch, const struct config *config)
{
    struct poisson *poisson = solver->poisson;
    const size_t bytes = solver->waves.stride * precision_bytes(solver->precision);
    struct buffer *nodes = NULL, *modes = NULL;
    double *values = NULL;
    TRY(DEVICE_NEW_ARRAY(scratch, values, grid_cells(&solver->slab.local)));
    TRY(buffer_create(scratch, poisson->fft->real_bytes, "initial fields", &nodes));
    TRY(buffer_fill(poisson->result_modes, 0));
    for (size_t c = 0; c < WAVE_COMPONENTS; c++) {
        const char *text = config->fields.initial[c / 3][c % 3];
        const double *box = config->fields.file[FIELDS_INITIAL].values[c];
        if (!box && !profile_is_given(text, "0"))
            continue;
        TRY(buffer_view(poisson->result_modes, c * bytes, poisson->fft->modes_bytes, &modes));
        TRY(transform_initial(solver, scratch, text, box, values, nodes, modes));
    }
    TRY(KERNEL_LAUNCH(solver->begin, poisson_rows(poisson, poisson->columns), poisson->result_modes,
                      poisson->wave_x, poisson->wave_y, poisson->columns,
                      (uint32_t)(solver->waves.stride / 2), 1.0 / grid_cells(&solver->grid),
                      solver->waves.modes));
    return device_finish(scratch);
}

static enum status create(struct device *device, const struct grid *box, const struct config *config,
                          const struct sharing *sharing, struct followed_modes *followed, void **own)
{
    const int ranks = sharing ? sharing->place->communicator->size : 1;
    const int rank = sharing ? sharing->place->communicator->rank : 0;
    struct electromagnetic *solver = NULL;
    struct program *program = NULL;
    struct device *scratch = NULL;
    TRY(DEVICE_NEW(device, solver));
    *own = solver;
    solver->grid = *box;
    solver->slab = sharing ? *sharing->place->slab : slab_whole_box(box);
    solver->precision = config->precision;
    solver->c_squared = config->fields.speed_of_light * config->fields.speed_of_light;
    TRY(poisson_create(device, box, config->precision, config->fields.solver, config->fields.transforms,
                       GRADIENT_SPECTRAL, sharing, &solver->poisson));
    TRY(poisson_follow(solver->poisson, &solver->waves, followed));
    const size_t bytes = buffer_view_stride(solver->poisson->fft->modes_bytes);
    solver->waves.nx = box->nx;
    solver->waves.row = solver->poisson->columns;
    solver->waves.stride = bytes / precision_bytes(config->precision);
    solver->waves.first_column = solver->poisson->first_column;
    solver->waves.columns = fft_first_column(box, ranks, rank + 1) - solver->waves.first_column;
    TRY(buffer_create(device, WAVE_COMPONENTS * bytes, "the waves of E and B", &solver->waves.modes));
    TRY(create_turns(solver, config));
    TRY(program_build(device, "electromagnetic.cl", config->precision, &program, "%s", ""));
    TRY(kernel_create(program, "electromagnetic_begin", &solver->begin));
    TRY(kernel_create(program, "electromagnetic_step", &solver->advance));
    TRY(buffer_fill(solver->waves.modes, 0));
    TRY(device_branch(device, &scratch));
    return device_close_after(&scratch, begin(solver, scratch, config));
}

/* ---- a step ---- */

static enum status transform(struct electromagnetic *solver, struct fields *fields, uint64_t n)
{
    struct poisson *poisson = solver->poisson;
    const uint32_t modes_y = poisson->columns;
    TRY(poisson_transform(poisson, fields));
    TRY(KERNEL_LAUNCH(solver->advance, poisson_rows(poisson, modes_y), poisson->source_modes, poisson->wave_x,
                      poisson->wave_y, solver->turn, modes_y, (uint32_t)(solver->waves.stride / 2),
                      solver->c_squared, 1.0 / grid_cells(&solver->grid), (uint32_t)(n != solver->waves.step),
                      solver->waves.modes, poisson->result_modes));
    solver->waves.step = n;
    return fft_run(poisson->fft, FFT_INVERSE, WAVE_COMPONENTS, fields->felt, poisson->result_modes);
}

static enum status solve(void *own, struct fields *fields, uint64_t n)
{
    struct electromagnetic *solver = own;
    struct device *device = solver->poisson->device;
    const struct fft *fft = solver->poisson->fft;
    TRY(device_region_begin(device));
    return device_region_end(device, STAGE_FIELD, 10 * fft->bytes + 22 * (uint64_t)fft->modes_bytes,
                             transform(solver, fields, n));
}

static enum status potential(void *own, struct fields *fields)
{
    return poisson_potential(((struct electromagnetic *)own)->poisson, fields);
}

static enum status sum(void *own, struct buffer *density)
{
    return poisson_sum(((struct electromagnetic *)own)->poisson, density);
}

static const char *transforms(const void *own)
{
    return poisson_transforms(((const struct electromagnetic *)own)->poisson);
}

static struct waves *waves(void *own)
{
    return &((struct electromagnetic *)own)->waves;
}

const struct solver_kind electromagnetic_solver = {
    .name = "electromagnetic",
    .sources = 1u << FIELD_RHO | 1u << FIELD_J,
    .provides = 1u << FIELD_E | 1u << FIELD_B,
    .create = create,
    .solve = solve,
    .potential = potential,
    .sum = sum,
    .transforms = transforms,
    .waves = waves,
};
