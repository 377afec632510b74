/* Poisson: one transform forward, one kernel over the modes, and one transform back, of both components of
 * the field at once or of the potential. */
#include "field/poisson.h"

#include <math.h>
#include <stdlib.h>

struct wave poisson_wave(uint32_t m, uint32_t n, double length, enum gradient_kind gradient,
                         uint32_t filter_passes)
{
    const bool nyquist = 2 * (uint64_t)m == n;
    const double signed_mode = 2 * (uint64_t)m <= n ? (double)m : (double)m - (double)n;
    const double k = 2 * M_PI / length * signed_mode, cell_angle = 2 * M_PI * signed_mode / n;
    const double slope = gradient == GRADIENT_SPECTRAL ? k : sin(cell_angle) * n / length;
    const double pass = nyquist ? 0 : (1 + cos(cell_angle)) / 2;
    return (struct wave){k * k, nyquist ? 0 : slope, pow(pass, filter_passes)};
}

/* A table of (k^2, k of the gradient) for modes 0 to count-1 of an axis with n nodes. Computed in double: a
 * product of float wave numbers would lose the last digits of every solution. */
static enum status wave_numbers(struct device *device, enum precision precision, uint32_t n, double length,
                                uint32_t count, struct buffer **table)
{
    TRY(buffer_create(device, 2 * (size_t)count * precision_bytes(precision), "wave numbers", table));
    double *numbers = malloc(2 * (size_t)count * sizeof *numbers);
    if (!numbers)
        return status_fail(STATUS_FAILED, "no memory for %u wave numbers", count);
    for (uint32_t m = 0; m < count; m++) {
        const struct wave wave = poisson_wave(m, n, length, GRADIENT_SPECTRAL, 0);
        numbers[2 * m] = wave.k_squared;
        numbers[2 * m + 1] = wave.slope;
    }
    const enum status status = buffer_write_reals(*table, precision, 0, 2 * (size_t)count, numbers);
    free(numbers);
    return status;
}

enum status poisson_program(struct device *device, enum precision precision, enum solver_name solver,
                            struct program **program)
{
    return program_build(device, "poisson.cl", precision, program, "-D GROUP_ITEMS=%zu -D ELECTROMAGNETIC=%d",
                         device_row_items(device, POISSON_ITEMS), solver == SOLVER_ELECTROMAGNETIC);
}

enum status poisson_create(struct device *device, const struct grid *grid, enum precision precision,
                           enum solver_name solver, enum transform_library library,
                           enum gradient_kind gradient, struct poisson **poisson)
{
    const uint32_t sources = field_first(solver, FIELDS) - field_first(solver, FIELD_RHO);
    const uint32_t results = gradient == GRADIENT_SPECTRAL ? field_first(solver, FIELD_PHI) : 1;
    const size_t modes_bytes = fft_complex_bytes(grid, precision), stride = buffer_view_stride(modes_bytes);
    struct poisson *created = NULL;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, created));
    *created =
        (struct poisson){.device = device, .grid = *grid, .precision = precision, .gradient = gradient};
    TRY(buffer_create(device, sources * stride, "modes of the sources", &created->source_modes));
    TRY(buffer_create(device, results * stride, "modes of the fields", &created->result_modes));
    TRY(buffer_view(created->source_modes, 0, modes_bytes, &created->rho_modes));
    TRY(buffer_view(created->result_modes, 0, modes_bytes, &created->phi_modes));
    TRY(wave_numbers(device, precision, grid->nx, grid->lx, grid->nx, &created->wave_x));
    TRY(wave_numbers(device, precision, grid->ny, grid->ly, grid->ny / 2 + 1, &created->wave_y));
    TRY(poisson_program(device, precision, SOLVER_ELECTROSTATIC, &program));
    TRY(kernel_create(program, "poisson_potential", &created->potential));
    TRY(kernel_create(program, "poisson_spectral_field", &created->spectral_field));
    TRY(kernel_create(program, "poisson_centred_field", &created->centred_field));
    *poisson = created;
    return fft_create(device, grid, precision, library, (const uint32_t[]){sources, results},
                      &created->fft); /* last: it goes first, and waits */
}

const char *poisson_solver_name(const struct poisson *poisson)
{
    return poisson->fft->name;
}

struct launch poisson_rows(const struct poisson *poisson, uint32_t elements)
{
    return (struct launch){poisson->grid.nx, device_row_items(poisson->device, elements), STAGE_OTHER, 0};
}

enum status poisson_transform(struct poisson *poisson, struct fields *fields)
{
    return fft_run(poisson->fft, FFT_FORWARD, poisson->fft->batch[FFT_FORWARD], fields->sources,
                   poisson->source_modes);
}

static enum status solve_spectral(struct poisson *poisson, struct fields *fields)
{
    const uint32_t modes_y = poisson->grid.ny / 2 + 1;
    const size_t stride = buffer_view_stride(poisson->fft->modes_bytes);
    const size_t ey_begin = stride / (2 * precision_bytes(poisson->precision));
    TRY(poisson_transform(poisson, fields));
    TRY(KERNEL_LAUNCH(poisson->spectral_field, poisson_rows(poisson, modes_y), poisson->rho_modes,
                      poisson->wave_x, poisson->wave_y, modes_y, 1.0 / grid_cells(&poisson->grid),
                      (uint32_t)ey_begin, poisson->result_modes));
    return fft_run(poisson->fft, FFT_INVERSE, poisson->fft->batch[FFT_INVERSE], fields->of[FIELD_E],
                   poisson->result_modes);
}

/* From the modes of the density. */
static enum status solve_potential(struct poisson *poisson, struct fields *fields)
{
    const uint32_t modes_y = poisson->grid.ny / 2 + 1;
    TRY(KERNEL_LAUNCH(poisson->potential, poisson_rows(poisson, modes_y), poisson->rho_modes, poisson->wave_x,
                      poisson->wave_y, modes_y, 1.0 / grid_cells(&poisson->grid), poisson->phi_modes));
    return fft_run(poisson->fft, FFT_INVERSE, 1, field_component(fields, FIELD_PHI, 0), poisson->phi_modes);
}

static enum status solve_centred(struct poisson *poisson, struct fields *fields)
{
    const struct grid *grid = &poisson->grid;
    TRY(poisson_transform(poisson, fields));
    TRY(solve_potential(poisson, fields));
    return KERNEL_LAUNCH(poisson->centred_field, poisson_rows(poisson, grid->ny),
                         field_component(fields, FIELD_PHI, 0), grid->nx, grid->ny, 0.5 / grid->dx,
                         0.5 / grid->dy, fields->of[FIELD_E], fields->stride);
}

/* Times all work of a solve as one: on a GPU each marker costs as much as a small kernel. */
static enum status timed(struct poisson *poisson, struct fields *fields, uint64_t bytes,
                         enum status (*solve)(struct poisson *poisson, struct fields *fields))
{
    TRY(device_region_begin(poisson->device));
    const enum status status = solve(poisson, fields);
    const enum status ended = device_region_end(poisson->device, STAGE_FIELD, bytes);
    return status != STATUS_OK ? status : ended;
}

enum status poisson_solve(struct poisson *poisson, struct fields *fields)
{
    const uint64_t each = poisson->fft->bytes + poisson->fft->modes_bytes; /* transform */
    return poisson->gradient == GRADIENT_SPECTRAL
               ? timed(poisson, fields, 3 * each, solve_spectral)
               : timed(poisson, fields, 2 * each + 3 * poisson->fft->real_bytes, solve_centred);
}

enum status poisson_potential(struct poisson *poisson, struct fields *fields)
{
    if (poisson->gradient == GRADIENT_CENTRED)
        return STATUS_OK; /* the solve needed it */
    return timed(poisson, fields, poisson->fft->bytes + 2 * poisson->fft->modes_bytes, solve_potential);
}

struct stored_mode poisson_stored_mode(const struct grid *grid, const int32_t wanted[2])
{
    const bool is_conjugate = wanted[1] < 0;
    const int64_t mx = is_conjugate ? -(int64_t)wanted[0] : wanted[0];
    const int64_t my = is_conjugate ? -(int64_t)wanted[1] : wanted[1];
    return (struct stored_mode){(uint32_t)(mx < 0 ? mx + grid->nx : mx), (uint32_t)my, is_conjugate};
}

enum status poisson_follow(struct poisson *poisson, uint32_t count, const int32_t (*wanted)[2],
                           struct followed_modes *followed)
{
    const struct grid *grid = &poisson->grid;
    uint32_t *numbers = NULL;
    struct buffer *places = NULL;
    TRY(DEVICE_NEW_ARRAY(poisson->device, numbers, count + (size_t)1));
    for (uint32_t n = 0; n < count; n++) {
        const struct stored_mode stored = poisson_stored_mode(grid, wanted[n]);
        numbers[n] = stored.m * (grid->ny / 2 + 1) + stored.n;
    }
    TRY(buffer_create_with(poisson->device, count * sizeof *numbers, "the places of modes", numbers,
                           &places));
    *followed = (struct followed_modes){poisson->rho_modes, places, *grid, count, wanted};
    return STATUS_OK;
}

/* ---- the row of the table of solvers ---- */

static enum status create(struct device *device, const struct grid *box, const struct config *config,
                          struct followed_modes *followed, void **own)
{
    struct poisson *poisson = NULL;
    TRY(poisson_create(device, box, config->precision, config->fields.solver, config->fields.transforms,
                       config->fields.gradient, &poisson));
    *own = poisson;
    return poisson_follow(poisson, followed->count, followed->wanted, followed);
}

static enum status solve(void *own, struct fields *fields, uint64_t n)
{
    (void)n;
    return poisson_solve(own, fields);
}

static enum status potential(void *own, struct fields *fields)
{
    return poisson_potential(own, fields);
}

static const char *transforms(const void *own)
{
    return poisson_solver_name(own);
}

const struct solver_kind electrostatic_solver = {.name = "electrostatic",
                                                 .sources = 1u << FIELD_RHO,
                                                 .provides = 1u << FIELD_E,
                                                 .create = create,
                                                 .solve = solve,
                                                 .potential = potential,
                                                 .transforms = transforms};
