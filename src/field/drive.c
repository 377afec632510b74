/* Drive: launches of kernels/drive.cl, and the work. */
#include "field/drive.h"

#include "field/poisson.h"

#include <math.h>

struct drives {
    const struct config *config; /* not owned */
    struct slab slab;
    struct buffer *acting; /* as that of the fields, with the drives; NULL where there is no drive */
    uint32_t components;
    struct kernel *add;
    struct launch launch;
};

enum status drives_create(struct device *device, const struct config *config, const struct slab *slab,
                          struct drives **created)
{
    const uint64_t nodes = grid_cells(&slab->local), bytes = nodes * precision_bytes(config->precision);
    const uint32_t components = field_first(config->fields.solver, FIELD_PHI);
    struct program *program = NULL;
    struct drives *drives = NULL;
    TRY(DEVICE_NEW(device, drives));
    *created = drives;
    drives->config = config;
    drives->slab = *slab;
    drives->components = components;
    if (config->fields.drive_count == 0)
        return STATUS_OK;
    TRY(buffer_create(device, components * buffer_view_stride(bytes), "the field with the drives",
                      &drives->acting));
    drives->launch = launch_flat(nodes, STAGE_FIELD, 2 * components * bytes);
    TRY(program_build(device, "drive.cl", config->precision, &program, "%s", ""));
    return kernel_create(program, "drive_add", &drives->add);
}

/* From 0 to 1 while `passed` goes from 0 to `ramp`. */
static double rise(double passed, double ramp)
{
    if (passed < 0)
        return 0;
    const double s = passed < ramp ? sin(0.5 * acos(-1.0) * passed / ramp) : 1;
    return s * s;
}

/* A g cos(omega t) and A g sin(omega t). */
static void amplitudes(const struct drive_config *drive, double time, double parts[2])
{
    double height = drive->amplitude * rise(time - drive->from, drive->ramp);
    if (drive->until > 0)
        height *= rise(drive->until - time, drive->ramp);
    parts[0] = height * cos(drive->frequency * time);
    parts[1] = height * sin(drive->frequency * time);
}

enum status drives_apply(struct drives *drives, const struct fields *fields, double time,
                         struct fields *acting)
{
    const struct fields_config *config = &drives->config->fields;
    const struct slab *slab = &drives->slab;
    const uint32_t upward = slab_is_whole(slab) ? slab->local.nx : slab->rows + slab->ghost;
    *acting = *fields;
    for (uint32_t n = 0; n < config->drive_count; n++) {
        const struct drive_config *drive = &config->drive[n];
        double parts[2];
        amplitudes(drive, time, parts);
        TRY(KERNEL_LAUNCH(drives->add, drives->launch, acting->acting, fields->stride, drives->components,
                          slab->local.nx, slab->local.ny, slab->box.nx, slab->first_row, upward,
                          (uint32_t)drive->axis, drive->mode, parts[0], parts[1], drives->acting));
        acting->acting = drives->acting;
    }
    return STATUS_OK;
}

double drives_work(const struct config *config, double time, const double *before, const double *after)
{
    double work = 0;
    for (uint32_t n = 0; n < config->fields.drive_count; n++) {
        const struct drive_config *drive = &config->fields.drive[n];
        const double length = config->grid.length[drive->axis];
        const struct wave wave = poisson_wave(drive->mode, config->grid.cells[drive->axis], length,
                                              config->fields.gradient, config->deposit.filter_passes);
        double parts[2];
        amplitudes(drive, time, parts);
        /* -phi = (A g/k) (sin(k x) cos(omega t) - cos(k x) sin(omega t)), and the sums of rho sin(k x) and
         * of rho cos(k x) are the box's area times -imaginary and real part of the mode. */
        const double sine = before[2 * n + 1] - after[2 * n + 1], cosine = after[2 * n] - before[2 * n];
        work += (parts[0] * sine - parts[1] * cosine) / (sqrt(wave.k_squared) * wave.filter);
    }
    return work * config->grid.length[0] * config->grid.length[1];
}
