/* Poisson: one transform forward, one kernel over the modes, and one transform back, of both components of
 * the field at once or of the potential. On a small grid the five launches take longer than the work, so on a
 * GPU the field there is the convolution of the charge with the field of one node's charge, in one launch. */
#include "field/poisson.h"

#include "base/integers.h"

#include <math.h>
#include <stdlib.h>

struct wave poisson_wave(uint32_t m, uint32_t n, double length, enum gradient_kind gradient,
                         const struct deposit_config *deposit)
{
    const bool nyquist = 2 * (uint64_t)m == n;
    const double signed_mode = 2 * (uint64_t)m <= n ? (double)m : (double)m - (double)n;
    const double k = 2 * M_PI / length * signed_mode, cell_angle = 2 * M_PI * signed_mode / n;
    const double slope = gradient == GRADIENT_SPECTRAL ? k : sin(cell_angle) * n / length;
    return (struct wave){k * k, nyquist ? 0 : slope, deposit ? deposit_filter(deposit, cell_angle) : 1};
}

/* Tables of `modes` modes from `first` on of an axis with n nodes: (k^2, k of the gradient), and the filter,
 * where there is one. In double: a product of float wave numbers would lose the last digits. */
static enum status wave_numbers(struct poisson *poisson, uint32_t n, double length, uint32_t first,
                                uint32_t modes, const struct deposit_config *deposit, struct buffer **table,
                                struct buffer **filter)
{
    const size_t count = at_least(modes, 1), bytes = count * precision_bytes(poisson->precision);
    TRY(buffer_create(poisson->device, 2 * bytes, "wave numbers", table));
    double *numbers = malloc(3 * count * sizeof *numbers);
    if (!numbers)
        return status_fail(STATUS_FAILED, "no memory for %zu wave numbers", count);
    for (uint32_t m = 0; m < count; m++) {
        const struct wave wave = poisson_wave(first + m, n, length, poisson->gradient, deposit);
        numbers[2 * m] = wave.k_squared;
        numbers[2 * m + 1] = wave.slope;
        numbers[2 * count + m] = wave.filter;
    }
    enum status status = buffer_write_reals(*table, poisson->precision, 0, 2 * count, numbers);
    if (status == STATUS_OK && deposit && deposit->filter_passes > 0)
        status = buffer_create(poisson->device, bytes, "the filter of waves", filter);
    if (status == STATUS_OK && deposit && deposit->filter_passes > 0)
        status = buffer_write_reals(*filter, poisson->precision, 0, count, numbers + 2 * count);
    free(numbers);
    return status;
}

enum status poisson_program(struct device *device, enum precision precision, enum solver_name solver,
                            struct program **program)
{
    return program_build(device, "poisson.cl", precision, program, "-D GROUP_ITEMS=%zu -D ELECTROMAGNETIC=%d",
                         device_row_items(device, POISSON_ITEMS), solver == SOLVER_ELECTROMAGNETIC);
}

/* By a solve with transforms. */
static enum status find_response(struct poisson *poisson)
{
    const size_t nodes = grid_cells(&poisson->grid);
    struct device *scratch = NULL;
    struct buffer *response = NULL;
    struct fields fields;
    double *values = NULL;
    TRY(device_branch(poisson->device, &scratch));
    TRY(fields_create(scratch, &poisson->grid, poisson->precision, SOLVER_ELECTROSTATIC, &fields));
    TRY(DEVICE_NEW_ARRAY(scratch, values, 4 * nodes));
    values[0] = 1;
    TRY(buffer_write_reals(field_component(&fields, FIELD_RHO, 0), poisson->precision, 0, nodes, values));
    device_weigh_times(poisson->device, 0); /* it is no step's */
    const enum status status = poisson_solve(poisson, &fields);
    device_weigh_times(poisson->device, 1);
    TRY(status);
    for (uint32_t c = 0; c < 2; c++)
        TRY(buffer_read_reals(field_component(&fields, FIELD_E, c), poisson->precision, 0, nodes,
                              values + c * nodes));
    for (size_t n = 0; n < 2 * nodes; n++)
        values[2 * nodes + n] = values[n / 2 + n % 2 * nodes];
    TRY(buffer_create(poisson->device, 2 * nodes * precision_bytes(poisson->precision),
                      "the field of a node's charge", &response));
    TRY(buffer_write_reals(response, poisson->precision, 0, 2 * nodes, values + 2 * nodes));
    poisson->response = response; /* from now on solves take it */
    device_close(&scratch);
    return STATUS_OK;
}

static bool takes_no_transforms(struct device *device, const struct grid *grid,
                                enum transform_library library)
{
    return library == TRANSFORMS_NONE || (library == TRANSFORMS_AUTO && !device_info(device)->is_cpu &&
                                          grid_cells(grid) <= POISSON_DIRECT_NODES);
}

enum status poisson_create(struct device *device, const struct grid *grid, enum precision precision,
                           enum solver_name solver, enum transform_library library,
                           enum gradient_kind gradient, const struct sharing *sharing,
                           struct poisson **poisson)
{
    const int ranks = sharing ? sharing->place->communicator->size : 1;
    const int rank = sharing ? sharing->place->communicator->rank : 0;
    const uint32_t first = fft_first_column(grid, ranks, rank);
    const uint32_t columns = sharing ? fft_columns(grid, ranks, rank) : grid->ny / 2 + 1;
    const struct deposit_config *deposit = sharing ? sharing->deposit : NULL;
    const bool is_spectral = sharing || gradient == GRADIENT_SPECTRAL;
    const uint32_t sources = field_first(solver, FIELDS) - field_first(solver, FIELD_RHO);
    const uint32_t results = is_spectral ? field_first(solver, FIELD_PHI) : 1;
    const size_t modes_bytes = fft_complex_bytes(grid, columns, precision),
                 stride = buffer_view_stride(modes_bytes);
    const uint32_t batch[FFT_DIRECTIONS] = {sources, results};
    struct poisson *created = NULL;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, created));
    *created = (struct poisson){.device = device,
                                .grid = *grid,
                                .precision = precision,
                                .gradient = sharing ? gradient : GRADIENT_SPECTRAL,
                                .direct_items = device_row_items(device, POISSON_ITEMS),
                                .columns = columns,
                                .first_column = first};
    TRY(buffer_create(device, sources * stride, "modes of the sources", &created->source_modes));
    TRY(buffer_create(device, results * stride, "modes of the fields", &created->result_modes));
    TRY(buffer_view(created->source_modes, 0, modes_bytes, &created->rho_modes));
    TRY(buffer_view(created->result_modes, 0, modes_bytes, &created->phi_modes));
    TRY(wave_numbers(created, grid->nx, grid->lx, 0, grid->nx, deposit, &created->wave_x,
                     &created->filter_x));
    TRY(wave_numbers(created, grid->ny, grid->ly, first, columns, deposit, &created->wave_y,
                     &created->filter_y));
    created->gradient = is_spectral ? GRADIENT_SPECTRAL : gradient;
    TRY(poisson_program(device, precision, solver, &program)); /* as for the energy */
    TRY(kernel_create(program, "poisson_potential", &created->potential));
    TRY(kernel_create(program, "poisson_spectral_field", &created->spectral_field));
    TRY(kernel_create(program, "poisson_centred_field", &created->centred_field));
    TRY(kernel_create(program, "poisson_direct_field", &created->direct_field));
    TRY(kernel_create(program, "poisson_filter", &created->filter));
    *poisson = created;
    const enum transform_library used = library == TRANSFORMS_NONE ? TRANSFORMS_AUTO : library;
    if (sharing)
        return fft_create_shared(sharing->place, sharing->transport, sharing->part_bytes, used, batch,
                                 &created->fft);
    /* Last, so that it goes first, and waits. */
    TRY(fft_create(device, grid, FFT_ALONG_BOTH, columns, precision, used, batch, &created->fft));
    return solver == SOLVER_ELECTROSTATIC && takes_no_transforms(device, grid, library)
               ? find_response(created)
               : STATUS_OK;
}

const char *poisson_transforms(const void *own)
{
    const struct poisson *poisson = own;
    return poisson->response ? "a sum over nodes" : poisson->fft->name;
}

struct launch poisson_rows(const struct poisson *poisson, uint32_t elements)
{
    return (struct launch){poisson->grid.nx, device_row_items(poisson->device, elements), STAGE_OTHER, 0};
}

/* Source c, with modes number c of `modes`, and `nodes`, becomes what it is after any filter. */
static enum status filter(struct poisson *poisson, uint32_t c, struct buffer *modes, struct buffer *nodes)
{
    const size_t stride =
        buffer_view_stride(poisson->fft->modes_bytes) / (2 * precision_bytes(poisson->precision));
    if (!poisson->filter_x)
        return STATUS_OK;
    TRY(KERNEL_LAUNCH(poisson->filter, poisson_rows(poisson, poisson->columns), poisson->filter_x,
                      poisson->filter_y, poisson->columns, (uint32_t)(c * stride),
                      1.0 / grid_cells(&poisson->grid), modes, poisson->phi_modes));
    return fft_run(poisson->fft, FFT_INVERSE, 1, nodes, poisson->phi_modes);
}

enum status poisson_transform(struct poisson *poisson, struct fields *fields)
{
    const uint32_t sources = poisson->fft->batch[FFT_FORWARD], first = field_first(fields->solver, FIELD_RHO);
    TRY(fft_run(poisson->fft, FFT_FORWARD, sources, fields->sources, poisson->source_modes));
    for (uint32_t c = 0; c < sources; c++)
        TRY(filter(poisson, c, poisson->source_modes, fields->component[first + c]));
    return STATUS_OK;
}

static enum status solve_spectral(struct poisson *poisson, struct fields *fields)
{
    const uint32_t modes_y = poisson->columns;
    const size_t stride = buffer_view_stride(poisson->fft->modes_bytes);
    const size_t ey_begin = stride / (2 * precision_bytes(poisson->precision));
    TRY(poisson_transform(poisson, fields));
    TRY(KERNEL_LAUNCH(poisson->spectral_field, poisson_rows(poisson, modes_y), poisson->rho_modes,
                      poisson->wave_x, poisson->wave_y, modes_y, 1.0 / grid_cells(&poisson->grid),
                      (uint32_t)ey_begin, poisson->result_modes));
    return fft_run(poisson->fft, FFT_INVERSE, poisson->fft->batch[FFT_INVERSE], fields->of[FIELD_E],
                   poisson->result_modes);
}

static enum status solve_directly(struct poisson *poisson, struct fields *fields)
{
    const struct grid *grid = &poisson->grid;
    TRY(KERNEL_LAUNCH(poisson->direct_field,
                      ((struct launch){grid->nx, poisson->direct_items, STAGE_OTHER, 0}),
                      field_component(fields, FIELD_RHO, 0), poisson->response, grid->nx, grid->ny,
                      fields->of[FIELD_E], fields->stride));
    return poisson->is_followed ? poisson_transform(poisson, fields) : STATUS_OK;
}

/* From the modes of the density. */
static enum status solve_potential(struct poisson *poisson, struct fields *fields)
{
    const uint32_t modes_y = poisson->columns;
    TRY(KERNEL_LAUNCH(poisson->potential, poisson_rows(poisson, modes_y), poisson->rho_modes, poisson->wave_x,
                      poisson->wave_y, modes_y, 1.0 / grid_cells(&poisson->grid), poisson->phi_modes));
    return fft_run(poisson->fft, FFT_INVERSE, 1, field_component(fields, FIELD_PHI, 0), poisson->phi_modes);
}

static enum status find_potential(struct poisson *poisson, struct fields *fields)
{
    if (poisson->response && !poisson->is_followed)
        TRY(poisson_transform(poisson, fields));
    return solve_potential(poisson, fields);
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
    return device_region_end(poisson->device, STAGE_FIELD, bytes, solve(poisson, fields));
}

enum status poisson_solve(struct poisson *poisson, struct fields *fields)
{
    const uint64_t each = poisson->fft->bytes + poisson->fft->modes_bytes; /* transform */
    if (poisson->response)
        return timed(poisson, fields,
                     5 * poisson->fft->real_bytes + (poisson->is_followed ? poisson->fft->bytes : 0),
                     solve_directly);
    return poisson->gradient == GRADIENT_SPECTRAL
               ? timed(poisson, fields, 3 * each, solve_spectral)
               : timed(poisson, fields, 2 * each + 3 * poisson->fft->real_bytes, solve_centred);
}

enum status poisson_potential(void *own, struct fields *fields)
{
    struct poisson *poisson = own;
    if (poisson->gradient == GRADIENT_CENTRED && !poisson->response)
        return STATUS_OK; /* the solve needed it */
    return timed(poisson, fields, poisson->fft->bytes + 2 * poisson->fft->modes_bytes, find_potential);
}

static enum status sum(struct poisson *poisson, struct buffer *density)
{
    TRY(fft_run(poisson->fft, FFT_FORWARD, 1, density, poisson->phi_modes)); /* which adds on the way */
    return filter(poisson, 0, poisson->phi_modes, density);
}

enum status poisson_sum(void *own, struct buffer *density)
{
    struct poisson *poisson = own;
    TRY(device_region_begin(poisson->device));
    return device_region_end(poisson->device, STAGE_FIELD, 0, sum(poisson, density));
}

struct stored_mode poisson_stored_mode(const struct grid *grid, const int32_t wanted[2])
{
    const bool is_conjugate = wanted[1] < 0;
    const int64_t mx = is_conjugate ? -(int64_t)wanted[0] : wanted[0];
    const int64_t my = is_conjugate ? -(int64_t)wanted[1] : wanted[1];
    return (struct stored_mode){(uint32_t)(mx < 0 ? mx + grid->nx : mx), (uint32_t)my, is_conjugate};
}

enum status poisson_follow(struct poisson *poisson, const struct waves *waves,
                           struct followed_modes *followed)
{
    const struct grid *grid = &poisson->grid;
    const uint32_t count = followed->count;
    uint32_t *numbers = NULL;
    struct buffer *places = NULL;
    TRY(DEVICE_NEW_ARRAY(poisson->device, numbers, count + (size_t)1));
    for (uint32_t n = 0; n < count; n++) {
        const struct stored_mode stored = poisson_stored_mode(grid, followed->wanted[n]);
        numbers[n] = stored.m * (grid->ny / 2 + 1) + stored.n;
    }
    TRY(buffer_create_with(poisson->device, count * sizeof *numbers, "the places of modes", numbers,
                           &places));
    poisson->is_followed = count > 0;
    followed->modes = poisson->rho_modes;
    followed->places = places;
    followed->grid = *grid;
    followed->waves = followed->has_fields ? waves : NULL;
    followed->parts = followed->waves ? 1 + WAVE_COMPONENTS : 1;
    return STATUS_OK;
}

void poisson_read_mode(const struct followed_modes *followed, uint32_t n, const double (*parts)[2],
                       double rho[2], mode_of_fields fields)
{
    const struct grid *grid = &followed->grid;
    const struct stored_mode stored = poisson_stored_mode(grid, followed->wanted[n]);
    const double cells = grid_cells(grid);
    rho[0] = parts[0][0] / cells;
    rho[1] = parts[0][1] / (stored.is_conjugate ? -cells : cells);
    if (!followed->has_fields)
        return;
    const struct wave x = poisson_wave(stored.m, grid->nx, grid->lx, followed->gradient, NULL);
    const struct wave y = poisson_wave(stored.n, grid->ny, grid->ly, followed->gradient, NULL);
    const double square = x.k_squared + y.k_squared, none[2] = {0};
    for (uint32_t c = 0; c < WAVE_COMPONENTS; c++) {
        const double slope = c == 0 ? x.slope : c == 1 ? y.slope : 0;
        const double along = square > 0 ? slope / (square * cells) : 0; /* E_L = -i k rho/k^2 */
        const double *wave = c + 1 < followed->parts ? parts[1 + c] : none;
        const double imaginary = wave[1] - along * parts[0][0];
        fields[c][0] = wave[0] + along * parts[0][1];
        fields[c][1] = stored.is_conjugate ? -imaginary : imaginary;
    }
}

/* ---- the row of the table of solvers ---- */

static enum status create(struct device *device, const struct grid *box, const struct config *config,
                          const struct sharing *sharing, struct followed_modes *followed, void **own)
{
    struct poisson *poisson = NULL;
    TRY(poisson_create(device, box, config->precision, config->fields.solver, config->fields.transforms,
                       config->fields.gradient, sharing, &poisson));
    *own = poisson;
    return poisson_follow(poisson, NULL, followed);
}

static enum status solve(void *own, struct fields *fields, uint64_t n)
{
    (void)n;
    return poisson_solve(own, fields);
}

const struct solver_kind electrostatic_solver = {.name = "electrostatic",
                                                 .sources = 1u << FIELD_RHO,
                                                 .provides = 1u << FIELD_E,
                                                 .create = create,
                                                 .solve = solve,
                                                 .potential = poisson_potential,
                                                 .sum = poisson_sum,
                                                 .transforms = poisson_transforms};
