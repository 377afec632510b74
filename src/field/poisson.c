/* Poisson: one transform forward, one kernel over the modes, and the transforms back. */
#include "field/poisson.h"
#include "field/fft.h"

#include <math.h>
#include <stdlib.h>

struct poisson {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    enum gradient_kind gradient;
    struct fft *fft;
    struct buffer *rho_modes, *phi_modes; /* complex[nx * (ny/2 + 1)] */
    struct buffer *ex_modes, *ey_modes;   /* the same; NULL with the centred gradient */
    struct buffer *wave_x, *wave_y;       /* real2[nx], real2[ny/2 + 1]: see wave_numbers() */
    struct program *program;
    struct kernel *potential, *spectral_field, *centred_field;
};

static uint64_t mode_count(const struct grid *grid)
{
    return (uint64_t)grid->nx * (grid->ny / 2 + 1);
}

uint64_t poisson_bytes(const struct grid *grid, enum precision precision, enum gradient_kind gradient)
{
    const uint64_t spectra = gradient == GRADIENT_SPECTRAL ? 4 : 2; /* rho, phi, and E */
    const uint64_t tables = grid->nx + (uint64_t)(grid->ny / 2 + 1);
    return spectra * (uint64_t)fft_complex_bytes(grid, precision) + tables * 2 * precision_bytes(precision);
}

/* A table of (k^2, k of the gradient) for modes 0 to count-1 of an axis with n nodes. Computed in double: a
 * product of float wave numbers would lose the last digits of every solution. */
static enum status wave_numbers(struct device *device, enum precision precision, uint32_t n, double length,
                                uint32_t count, const char *what, struct buffer **table)
{
    TRY(buffer_create(device, 2 * (size_t)count * precision_bytes(precision), what, table));
    double *waves = malloc(2 * (size_t)count * sizeof *waves);
    if (!waves)
        return status_fail(STATUS_FAILED, "no memory for the %s", what);
    for (uint32_t m = 0; m < count; m++) {
        const double signed_mode = 2 * (uint64_t)m <= n ? (double)m : (double)m - (double)n;
        const double k = 2 * M_PI / length * signed_mode;
        const bool nyquist = 2 * (uint64_t)m == n;
        waves[2 * m] = k * k;
        waves[2 * m + 1] = nyquist ? 0.0 : k;
    }
    const enum status status = buffer_write_reals(*table, precision, 0, 2 * (size_t)count, waves);
    free(waves);
    return status;
}

static enum status create_buffers(struct poisson *poisson)
{
    struct device *device = poisson->device;
    const struct grid *grid = &poisson->grid;
    const size_t bytes = fft_complex_bytes(grid, poisson->precision);
    TRY(buffer_create(device, bytes, "modes of the charge density", &poisson->rho_modes));
    TRY(buffer_create(device, bytes, "modes of the potential", &poisson->phi_modes));
    if (poisson->gradient == GRADIENT_SPECTRAL) {
        TRY(buffer_create(device, bytes, "modes of the field along x", &poisson->ex_modes));
        TRY(buffer_create(device, bytes, "modes of the field along y", &poisson->ey_modes));
    }
    TRY(wave_numbers(device, poisson->precision, grid->nx, grid->lx, grid->nx, "wave numbers along x",
                     &poisson->wave_x));
    return wave_numbers(device, poisson->precision, grid->ny, grid->ly, grid->ny / 2 + 1,
                        "wave numbers along y", &poisson->wave_y);
}

static enum status create_kernels(struct poisson *poisson)
{
    TRY(program_build(poisson->device, "poisson.cl", poisson->precision, &poisson->program, "%s", ""));
    TRY(kernel_create(poisson->program, "poisson_potential", &poisson->potential));
    TRY(kernel_create(poisson->program, "poisson_spectral_field", &poisson->spectral_field));
    return kernel_create(poisson->program, "poisson_centred_field", &poisson->centred_field);
}

enum status poisson_create(struct device *device, const struct grid *grid, enum precision precision,
                           enum solver_kind solver, enum gradient_kind gradient, struct poisson **poisson)
{
    *poisson = NULL;
    struct poisson *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the Poisson solver");
    created->device = device;
    created->grid = *grid;
    created->precision = precision;
    created->gradient = gradient;
    enum status status = STATUS_OK;
    TRY_CLEANUP(fft_create(device, grid, precision, solver, &created->fft));
    TRY_CLEANUP(create_buffers(created));
    TRY_CLEANUP(create_kernels(created));
    *poisson = created;
    return STATUS_OK;
cleanup:
    poisson_destroy(&created);
    return status;
}

void poisson_destroy(struct poisson **poisson)
{
    struct poisson *destroyed = *poisson;
    if (!destroyed)
        return;
    kernel_destroy(&destroyed->potential);
    kernel_destroy(&destroyed->spectral_field);
    kernel_destroy(&destroyed->centred_field);
    program_destroy(&destroyed->program);
    buffer_destroy(&destroyed->rho_modes);
    buffer_destroy(&destroyed->phi_modes);
    buffer_destroy(&destroyed->ex_modes);
    buffer_destroy(&destroyed->ey_modes);
    buffer_destroy(&destroyed->wave_x);
    buffer_destroy(&destroyed->wave_y);
    fft_destroy(&destroyed->fft);
    free(destroyed);
    *poisson = NULL;
}

const char *poisson_solver_name(const struct poisson *poisson)
{
    return fft_name(poisson->fft);
}

/* One item per element, that moves `arrays` reals or complex numbers of it. */
static struct launch launch_elements(const struct poisson *poisson, uint64_t elements, size_t element_bytes,
                                     uint64_t arrays)
{
    return launch_covering(elements, device_group_items(poisson->device, 64), STAGE_FIELD,
                           arrays * elements * element_bytes);
}

static enum status solve_spectral(struct poisson *poisson, struct fields *fields)
{
    const struct grid *grid = &poisson->grid;
    const uint64_t modes = mode_count(grid);
    const struct launch launch = launch_elements(poisson, modes, 2 * precision_bytes(poisson->precision), 4);
    TRY(KERNEL_LAUNCH(poisson->spectral_field, launch, arg_buffer(poisson->rho_modes),
                      arg_buffer(poisson->wave_x), arg_buffer(poisson->wave_y), arg_uint((uint32_t)modes),
                      arg_uint(grid->ny / 2 + 1), arg_real(1.0 / grid_cells(grid)),
                      arg_buffer(poisson->phi_modes), arg_buffer(poisson->ex_modes),
                      arg_buffer(poisson->ey_modes)));
    TRY(fft_inverse(poisson->fft, poisson->phi_modes, fields->phi));
    TRY(fft_inverse(poisson->fft, poisson->ex_modes, fields->ex));
    return fft_inverse(poisson->fft, poisson->ey_modes, fields->ey);
}

static enum status solve_centred(struct poisson *poisson, struct fields *fields)
{
    const struct grid *grid = &poisson->grid;
    const uint64_t modes = mode_count(grid);
    const size_t real_bytes = precision_bytes(poisson->precision);
    TRY(KERNEL_LAUNCH(poisson->potential, launch_elements(poisson, modes, 2 * real_bytes, 2),
                      arg_buffer(poisson->rho_modes), arg_buffer(poisson->wave_x),
                      arg_buffer(poisson->wave_y), arg_uint((uint32_t)modes), arg_uint(grid->ny / 2 + 1),
                      arg_real(1.0 / grid_cells(grid)), arg_buffer(poisson->phi_modes)));
    TRY(fft_inverse(poisson->fft, poisson->phi_modes, fields->phi));
    return KERNEL_LAUNCH(poisson->centred_field, launch_elements(poisson, grid_cells(grid), real_bytes, 3),
                         arg_buffer(fields->phi), arg_uint(grid->nx), arg_uint(grid->ny),
                         arg_real(0.5 / grid->dx), arg_real(0.5 / grid->dy), arg_buffer(fields->ex),
                         arg_buffer(fields->ey));
}

enum status poisson_solve(struct poisson *poisson, struct fields *fields)
{
    TRY(fft_forward(poisson->fft, fields->rho, poisson->rho_modes));
    return poisson->gradient == GRADIENT_SPECTRAL ? solve_spectral(poisson, fields)
                                                  : solve_centred(poisson, fields);
}

enum status poisson_read_modes(const struct poisson *poisson, uint32_t count, const int32_t (*wanted)[2],
                               double *modes)
{
    const struct grid *grid = &poisson->grid;
    for (uint32_t n = 0; n < count; n++) {
        /* Of a real density only my >= 0 is stored: mode (-mx, -my) is the conjugate of (mx, my). */
        const bool conjugate = wanted[n][1] < 0;
        const int64_t mx = conjugate ? -(int64_t)wanted[n][0] : wanted[n][0];
        const int64_t my = conjugate ? -(int64_t)wanted[n][1] : wanted[n][1];
        const size_t row = (size_t)(mx < 0 ? mx + grid->nx : mx);
        const size_t element = row * (grid->ny / 2 + 1) + (size_t)my;
        double *mode = &modes[2 * (size_t)n];
        TRY(buffer_read_reals(poisson->rho_modes, poisson->precision, 2 * element, 2, mode));
        mode[0] /= grid_cells(grid);
        mode[1] /= conjugate ? -(double)grid_cells(grid) : (double)grid_cells(grid);
    }
    return STATUS_OK;
}
