/* External: launches of kernels/external.cl, and the work of drives. */
#include "field/external.h"

#include "config/formulas.h"
#include "field/poisson.h"
#include "field/tabulate.h"

#include <math.h>

enum { MOST_COMPONENTS = 6 };

struct external {
    struct device *device;       /* not owned */
    const struct config *config; /* not owned */
    struct communicator communicator;
    struct slab slab;
    uint32_t own, components; /* components of the solver's fields, and of those that particles feel */
    struct buffer *felt;      /* the fields that particles feel; NULL: the config has no external field */
    struct kernel *add, *add_wave;
    struct launch launch;

    /* What formulas say. */
    const char *formulas[MOST_COMPONENTS]; /* not owned; NULL: 0 */
    bool has_time[MOST_COMPONENTS];
    struct buffer *table; /* values of all components; NULL: there is no formula */
    bool is_set;          /* the table has the formulas that do not change */
    double *values;       /* values of one component, on the host */
};

/* ---- creation ---- */

enum status external_create(const struct rank_place *place, const struct config *config,
                            struct external **created)
{
    struct device *device = place->device;
    const struct slab *slab = place->slab;
    const uint64_t nodes = grid_cells(&slab->local), bytes = nodes * precision_bytes(config->precision);
    struct program *program = NULL;
    struct external *external = NULL;
    bool has_formulas = false;
    TRY(DEVICE_NEW(device, external));
    *created = external;
    external->device = device;
    external->config = config;
    external->communicator = *place->communicator;
    external->slab = *slab;
    external->own = field_first(config->fields.solver, FIELD_PHI);
    external->components = fields_felt(&config->fields);
    for (uint32_t c = 0; c < external->components; c++) {
        external->formulas[c] = fields_external(&config->fields, c);
        external->has_time[c] = formula_has_time(config, external->formulas[c]);
        has_formulas |= external->formulas[c] != NULL;
    }
    if (!has_formulas && config->fields.drive_count == 0)
        return STATUS_OK;
    const size_t all = external->components * buffer_view_stride(bytes);
    TRY(buffer_create(device, all, "the field with the external one", &external->felt));
    external->launch = launch_flat(nodes, STAGE_FIELD, 2 * external->components * bytes);
    TRY(program_build(device, "external.cl", config->precision, &program, "%s", ""));
    TRY(kernel_create(program, "external_add", &external->add));
    TRY(kernel_create(program, "external_add_wave", &external->add_wave));
    if (!has_formulas)
        return STATUS_OK;
    TRY(DEVICE_NEW_ARRAY(device, external->values, nodes));
    TRY(buffer_create(device, all, "external fields", &external->table));
    return buffer_fill(external->table, 0);
}

/* ---- formulas ---- */

/* The table at `time`, as far as it changes. */
static enum status set_table(struct external *external, uint32_t stride, double time)
{
    const enum precision precision = external->config->precision;
    const uint32_t nodes = grid_cells(&external->slab.local);
    for (uint32_t c = 0; c < external->components; c++) {
        const char *formula = external->formulas[c];
        if (!formula || (external->is_set && !external->has_time[c]))
            continue;
        const char *key = c < 3 ? "fields.external.E" : "fields.external.B";
        const double start = timer_now();
        TRY(tabulate(&external->slab, key, formula, time, external->values));
        device_add_time(external->device, STAGE_FIELD, timer_now() - start, 0);
        TRY(buffer_write_reals(external->table, precision, (size_t)c * stride, nodes, external->values));
    }
    external->is_set = true;
    return STATUS_OK;
}

static enum status add_formulas(struct external *external, double time, struct fields *total)
{
    bool changes = !external->is_set;
    for (uint32_t c = 0; c < external->components; c++)
        changes |= external->has_time[c];
    if (changes)
        TRY(communicator_agree(&external->communicator, set_table(external, total->stride, time)));
    TRY(KERNEL_LAUNCH(external->add, external->launch, total->felt, external->own, external->table,
                      total->stride, external->components, grid_cells(&external->slab.local),
                      external->felt));
    total->felt = external->felt;
    return STATUS_OK;
}

/* ---- waves ---- */

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

static enum status add_wave(struct external *external, const struct drive_config *drive, double time,
                            struct fields *total)
{
    const struct slab *slab = &external->slab;
    const uint32_t upward = slab_is_whole(slab) ? slab->local.nx : slab->rows + slab->ghost;
    double parts[2];
    amplitudes(drive, time, parts);
    TRY(KERNEL_LAUNCH(external->add_wave, external->launch, total->felt, total->stride, external->components,
                      slab->local.nx, slab->local.ny, slab->box.nx, slab->first_row, upward,
                      (uint32_t)drive->axis, drive->mode, parts[0], parts[1], external->felt));
    total->felt = external->felt;
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

/* ---- both ---- */

enum status external_apply(struct external *external, const struct fields *fields, double time,
                           struct fields *total)
{
    const struct fields_config *config = &external->config->fields;
    *total = *fields;
    if (external->table)
        TRY(add_formulas(external, time, total));
    for (uint32_t n = 0; n < config->drive_count; n++)
        TRY(add_wave(external, &config->drive[n], time, total));
    return STATUS_OK;
}
