/* External: launches of kernels/external.cl, and the work of drives. */
#include "field/external.h"

#include "config/formulas.h"
#include "field/poisson.h"
#include "field/tabulate.h"

#include <math.h>
#include <stdlib.h>

struct external {
    struct device *device;       /* not owned */
    const struct config *config; /* not owned */
    struct communicator communicator;
    struct slab slab;
    uint32_t own, components; /* components of the solver's fields, and of those that particles feel */
    struct buffer *felt;      /* the fields that particles feel; NULL: the config has no external field */
    struct buffer *alone;     /* without the solver's, for their work; NULL: the table, or none is due */
    struct kernel *tabulate, *add, *add_wave;
    struct launch launch;

    /* Fields of formulas, or of a file. */
    bool has_table, has_time;      /* t in a formula */
    struct buffer *table;          /* values of all components */
    bool is_set;                   /* the table has values */
    struct buffer *first_infinite; /* uint: a node where a value is not finite; NO_NODE: none */
    uint64_t first_step, step;     /* of the values that the host has not looked at */
};

#define NO_NODE UINT32_MAX

/* ---- creation ---- */

static const char *key_of(uint32_t component)
{
    return component < 3 ? "fields.external.E" : "fields.external.B";
}

/* *lines <- the definition of FORMULAS for kernels/external.cl, for free(). */
static enum status define_formulas(const struct external *external, char **lines)
{
    const struct config *config = external->config;
    char why[FORMULA_WHY_LENGTH], *source = NULL;
    size_t length;
    enum status status = STATUS_OK;
    FILE *output = open_memstream(lines, &length);
    if (!output)
        return status_fail(STATUS_FAILED, "no memory for the formulas of fields.external");
    fputs("#define FORMULAS", output);
    for (uint32_t c = 0; c < external->components && status == STATUS_OK; c++) {
        const char *formula = fields_external(&config->fields, c);
        if (formula && !external_source(config, formula, &source, why))
            status = status_fail(STATUS_FAILED, "%s: the formula %s: %s", key_of(c), formula, why);
        fprintf(output, "%s %s", c > 0 ? "," : "", formula && source ? source : "0");
        free(source);
        source = NULL;
    }
    fputs("\n", output);
    fclose(output);
    return status;
}

static enum status create_kernels(struct external *external)
{
    struct program *program = NULL;
    char *lines = NULL;
    enum status status = define_formulas(external, &lines);
    TRY_IF_OK(
        program_build_after(external->device, lines, "external.cl", external->config->precision, &program));
    free(lines);
    TRY_IF_OK(kernel_create(program, "external_tabulate", &external->tabulate));
    TRY_IF_OK(kernel_create(program, "external_add", &external->add));
    TRY_IF_OK(kernel_create(program, "external_add_wave", &external->add_wave));
    return status;
}

/* The fields of a file do not change, so their table is written once; each rank has those of its rows. */
static enum status write_table(struct external *external, size_t stride)
{
    const struct slab *slab = &external->slab;
    const size_t nodes = grid_cells(&slab->local);
    double *const *values = external->config->fields.file[FIELDS_EXTERNAL].values;
    double *rows = malloc(nodes * sizeof *rows);
    enum status status = rows ? buffer_fill(external->table, 0)
                              : status_fail(STATUS_FAILED, "no memory for the external fields");
    for (uint32_t c = 0; c < external->components && status == STATUS_OK; c++) {
        if (!values[c])
            continue;
        tabulate_rows(slab, values[c], rows);
        status = buffer_write_reals(external->table, external->config->precision, c * stride, nodes, rows);
    }
    free(rows);
    return status;
}

enum status external_create(const struct rank_place *place, const struct config *config,
                            struct external **created)
{
    struct device *device = place->device;
    const struct slab *slab = place->slab;
    const struct field_file *file = &config->fields.file[FIELDS_EXTERNAL];
    const uint64_t nodes = grid_cells(&slab->local), bytes = nodes * precision_bytes(config->precision);
    struct external *external = NULL;
    TRY(DEVICE_NEW(device, external));
    *created = external;
    external->device = device;
    external->config = config;
    external->communicator = *place->communicator;
    external->slab = *slab;
    external->own = field_first(config->fields.solver, FIELD_PHI);
    external->components = fields_felt(&config->fields);
    external->has_table = file->path[0] != '\0'; /* of 0 too: then it has work */
    for (uint32_t c = 0; c < external->components; c++) {
        external->has_table |= fields_external(&config->fields, c) != NULL;
        external->has_time |= formula_has_time(config, fields_external(&config->fields, c));
    }
    if (!external->has_table && config->fields.drive_count == 0)
        return STATUS_OK;
    const size_t all = external->components * buffer_view_stride(bytes);
    TRY(buffer_create(device, all, "the field with the external one", &external->felt));
    if (config->output.history.work && config->fields.drive_count > 0)
        TRY(buffer_create(device, all, "external fields with waves", &external->alone));
    external->launch = launch_flat(nodes, STAGE_FIELD, 2 * external->components * bytes);
    TRY(create_kernels(external));
    if (!external->has_table)
        return STATUS_OK;
    TRY(buffer_create(device, sizeof(uint32_t), "the mark of infinite fields", &external->first_infinite));
    TRY(buffer_write(external->first_infinite, 0, sizeof(uint32_t), &(uint32_t){NO_NODE}));
    TRY(buffer_create(device, all, "external fields", &external->table));
    external->is_set = file->path[0] != '\0';
    return external->is_set
               ? write_table(external, buffer_view_stride(bytes) / precision_bytes(config->precision))
               : STATUS_OK;
}

/* ---- formulas ---- */

/* The first rows of the local grid, which follow the first own one upwards. */
static uint32_t rows_upward(const struct slab *slab)
{
    return slab_is_whole(slab) ? slab->local.nx : slab->rows + slab->ghost;
}

/* The first formula that muParser finds infinite at that node in a step that was not looked at yet. There is
 * none where a value is beyond single precision alone. */
static enum status fail_at(const struct external *external, uint32_t node)
{
    const struct config *config = external->config;
    const struct grid *box = &external->slab.box;
    const double x = slab_global_row(&external->slab, node / box->ny) * box->dx, y = node % box->ny * box->dy;
    for (uint32_t c = 0; c < external->components; c++) {
        const char *text = fields_external(&config->fields, c);
        char why[FORMULA_WHY_LENGTH];
        struct formula *formula = text ? formula_open(text, "xyt", config->grid.length, why) : NULL;
        double value = 0, time = 0;
        for (uint64_t step = external->first_step; formula && step <= external->step && isfinite(value);
             step++)
            value = formula_at(formula, (double[]){x, y, time = (double)step * config->time.step});
        formula_close(formula);
        if (!isfinite(value))
            return status_fail(STATUS_FAILED, "%s: the formula %s is %g at x = %g, y = %g, t = %g", key_of(c),
                               text, value, x, y, time);
    }
    return status_fail(STATUS_FAILED,
                       "fields.external: a formula is not finite at x = %g, y = %g, up to t = %g", x, y,
                       (double)external->step * config->time.step);
}

enum status external_require_finite(struct external *external, uint64_t last)
{
    uint32_t node = NO_NODE;
    if (last > external->step)
        last = external->step;
    if (!external->is_set || external->first_step > last)
        return STATUS_OK;
    enum status status = buffer_read(external->first_infinite, 0, sizeof node, &node);
    if (status == STATUS_OK && node != NO_NODE)
        status = fail_at(external, node);
    external->first_step = last + 1;
    return communicator_agree(&external->communicator, status);
}

static enum status set_table(struct external *external, uint32_t stride, uint64_t step)
{
    const struct slab *slab = &external->slab;
    const double exact[] = {slab->box.dx, slab->box.dy, (double)step * external->config->time.step};
    double place[6];
    for (int n = 0; n < 3; n++) {
        const volatile float rounded = (float)exact[n]; /* GCC 12.2 leaves out the rounding of a vector */
        place[n] = rounded;
        place[n + 3] = exact[n] - place[n];
    }
    TRY(KERNEL_LAUNCH(external->tabulate, external->launch, slab->local.nx, slab->local.ny, slab->box.nx,
                      slab->first_row, rows_upward(slab), arg_reals(place, 6), stride, external->table,
                      external->first_infinite));
    const bool is_first = !external->is_set;
    external->first_step = is_first ? step : external->first_step;
    external->step = step;
    external->is_set = true;
    return is_first ? external_require_finite(external, step) : STATUS_OK;
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

/* to <- `from` and the waves. */
static enum status add_waves(struct external *external, double time, uint32_t stride, struct buffer *from,
                             struct buffer *to)
{
    const struct slab *slab = &external->slab;
    for (uint32_t n = 0; n < external->config->fields.drive_count; n++) {
        const struct drive_config *drive = &external->config->fields.drive[n];
        double parts[2];
        amplitudes(drive, time, parts);
        TRY(KERNEL_LAUNCH(external->add_wave, external->launch, n > 0 ? to : from, stride,
                          external->components, slab->local.nx, slab->local.ny, slab->box.nx, slab->first_row,
                          rows_upward(slab), (uint32_t)drive->axis, drive->mode, parts[0], parts[1], to));
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
                                              config->fields.gradient, &config->deposit);
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

enum status external_apply(struct external *external, const struct fields *fields, uint64_t step,
                           struct fields *total)
{
    const struct config *config = external->config;
    const double time = (double)step * config->time.step;
    const uint32_t stride = fields->stride;
    struct buffer *const felt = external->felt, *const alone = external->alone;
    *total = *fields;
    if (!felt)
        return STATUS_OK;
    if (external->has_table && (!external->is_set || external->has_time))
        TRY(set_table(external, stride, step));
    if (external->has_table)
        TRY(KERNEL_LAUNCH(external->add, external->launch, fields->felt, external->own, external->table,
                          stride, external->components, grid_cells(&external->slab.local), felt));
    else if (alone)
        TRY(buffer_fill(alone, 0));
    TRY(add_waves(external, time, stride, external->has_table ? felt : fields->felt, felt));
    if (alone)
        TRY(add_waves(external, time, stride, external->has_table ? external->table : alone, alone));
    total->felt = felt;
    if (config->output.history.work)
        total->external = alone ? alone : external->table;
    return STATUS_OK;
}
