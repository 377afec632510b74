/* Moments: a launch of kernels/moments.cl for each piece that is written, in snapshots or in a file of their
 * own (output.moments). */
#include "output/average.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include "shared/moments.h"

#include <string.h>

enum { GROUP_ITEMS = 64 /* 1 on a CPU */, MOST_AT_ONCE = 1 << 17 /* cells */ };

struct moments {
    size_t group_items;
    struct kernel *kernel, *pool;
    uint32_t at_once;     /* cells that are computed in one launch */
    struct buffer *cells; /* real[MOMENTS][at_once] */
};

enum status moments_create(struct device *device, const struct config *config, void **created)
{
    struct program *program = NULL;
    struct moments *moments;
    const uint32_t cells = config->grid.cells[0] * config->grid.cells[1];
    TRY(DEVICE_NEW(device, moments));
    *created = moments;
    moments->at_once = cells < MOST_AT_ONCE ? cells : MOST_AT_ONCE;
    moments->group_items = device_row_items(device, GROUP_ITEMS);
    TRY(program_build(device, "moments.cl", config->precision, &program,
                      "-D GROUP_ITEMS=%zu -D ELECTROMAGNETIC=%d -D WEIGHTS=%d", moments->group_items,
                      config->fields.solver == SOLVER_ELECTROMAGNETIC, config->species[0].carries_weights));
    TRY(kernel_create(program, "moments", &moments->kernel));
    TRY(kernel_create(program, "moments_pool", &moments->pool));
    return buffer_create(device, MOMENTS * (size_t)moments->at_once * precision_bytes(config->precision),
                         "the moments of cells", &moments->cells);
}

/* The meshes of a species: which moments, with two and with three components of velocities; powers of length,
 * mass, time and current in the unit; and whether they are of velocities, at n-1/2. */
static const struct {
    const char *name;
    enum moment first;
    uint32_t components[2];
    double dimension[4];
    bool is_late;
} meshes[] = {
    {"density", DENSITY, {1, 1}, {-3, 0, 0, 0}, false},
    {"temperature", TEMPERATURE, {1, 1}, {2, 1, -2, 0}, true},
    {"velocity", VELOCITY, {2, 3}, {1, 0, -1, 0}, true},
    {"J", CURRENT, {2, 3}, {-2, 0, 0, 1}, true},
    {"pressure", PRESSURE, {3, 6}, {-1, 1, -2, 0}, true},
    {"heatFlux", HEAT_FLUX, {2, 3}, {0, 1, -3, 0}, true},
};
enum { MESHES = sizeof meshes / sizeof meshes[0] };

/* Computes the moments of the cells from own cell `first` on into moments->cells (enqueued); where the output
 * averages, adds them to the means, from mesh `mesh` on. Currents without a charge are those of the charge 1,
 * since averages divide by it. */
static enum status compute(const struct moments *moments, const struct view *view,
                           const struct particles *list, uint32_t first, uint32_t count, uint32_t mesh)
{
    const struct species_config *species = list->species;
    const double numbers[] = {list->weight / (view->slab->box.dx * view->slab->box.dy),
                              species->charge != 0 ? species->charge : 1, species->mass,
                              species_dimensions(species), species->per_c_squared};
    const struct kernel_argument factors = arg_reals(numbers, sizeof numbers / sizeof numbers[0]);
    if (list->count == 0)
        TRY(buffer_fill(moments->cells, 0));
    else
        TRY(KERNEL_LAUNCH(moments->kernel, ((struct launch){count, moments->group_items, STAGE_OUTPUT, 0}),
                          list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
                          particles_first(list, ATTRIBUTE_VELOCITY), particles_w(list),
                          species_has_w(species), list->cell_offsets, first, factors, moments->at_once,
                          moments->cells, arg_if_any(list->attribute[ATTRIBUTE_WEIGHT])));
    for (uint32_t w = 0; w < AVERAGE_WINDOWS && view->average; w++) {
        const struct average_place to = average_place(view->average, view, w, mesh);
        if (to.states > 0)
            TRY(KERNEL_LAUNCH(moments->pool, launch_flat(count, STAGE_OUTPUT, 0), moments->cells,
                              moments->at_once, count, factors, to.states, to.first + first, to.plane,
                              to.means));
    }
    return STATUS_OK;
}

/* values[m] <- moment m in the own cells, in memory of the file; NULL for those that are not written. */
static void read_moments(struct openpmd *openpmd, const struct moments *moments, const struct particles *list,
                         char *values[MOMENTS])
{
    const struct view *view = openpmd->view;
    struct hdf5_file *file = openpmd->file;
    const uint32_t cells = slab_own_cells(view->slab), first = file->meshes;
    const size_t size = precision_bytes(list->precision);
    file->meshes += MOMENTS;
    for (size_t n = 0; n < MESHES; n++)
        for (uint32_t c = 0; c < meshes[n].components[species_has_w(list->species)]; c++)
            values[meshes[n].first + c] = hdf5_file_room(file, cells * size);
    for (uint32_t done = 0, count; done < cells && moments && file->status == STATUS_OK; done += count) {
        count = cells - done < moments->at_once ? cells - done : moments->at_once;
        hdf5_file_fail(file, compute(moments, view, list, done, count, first));
        for (uint32_t m = 0; m < ENERGY && !view->average; m++)
            if (values[m])
                hdf5_file_fail(file, buffer_read(moments->cells, m * moments->at_once * size, count * size,
                                                 values[m] + done * size));
    }
    for (uint32_t m = 0; m < ENERGY && view->average && !file->has_no_data; m++)
        hdf5_file_fail(file, average_read(view->average, view, first + m, values[m]));
    for (uint32_t m = CURRENT; m < PRESSURE && list->species->charge == 0 && !file->has_no_data; m++)
        if (values[m])
            memset(values[m], 0, cells * size);
    for (uint32_t m = 0; m < ENERGY && !file->has_no_data; m++)
        if (values[m])
            openpmd_pick(openpmd, list->precision, values[m]);
}

static void write_species(struct openpmd *openpmd, const struct moments *moments, uint32_t species,
                          enum precision precision)
{
    static const char *const of_temperature[] = {"as an energy: m <|v - <v>|^2> / 2",
                                                 "as an energy: m <|v - <v>|^2> / 3"};
    static const char *const relativistic[MOMENTS] = {
        [TEMPERATURE] =
            "an energy, of the plasma at rest: gamma(<v>) m <(u - <u>)(v - <v>)> / 3, u = gamma v",
        [VELOCITY] = "of u = gamma v",
        [PRESSURE] = "flux of momentum about the mean flow: m n <(u - <u>)(v - <v>)>, u = gamma v",
        [HEAT_FLUX] = "flux of energy about the mean flow, less the work of the pressure"};
    const struct view *view = openpmd->view;
    const struct units *units = &openpmd->units;
    const struct particles *list = &view->particles[species];
    const bool has_w = species_has_w(list->species);
    const double density = units->charge_density / units->charge, speed = units->velocity;
    const double energy = units->mass * speed * speed;
    const double unit[MESHES] = {
        density, energy, speed, units->current_density, density * energy, density * energy * speed};
    char *values[MOMENTS] = {NULL};
    read_moments(openpmd, moments, list, values);
    for (size_t n = 0; n < MESHES; n++) {
        const bool is_tensor = meshes[n].first == PRESSURE;
        char name[CONFIG_NAME_LENGTH + 16];
        struct openpmd_record record = {.name = name,
                                        .unit = {unit[n], unit[n], unit[n]},
                                        .fill = openpmd_rounding(view->config->precision, precision),
                                        .type = hdf5_real(precision),
                                        .time_offset = meshes[n].is_late ? -view->config->time.step / 2 : 0,
                                        .comment = list->species->per_c_squared > 0
                                                       ? relativistic[meshes[n].first]
                                                   : meshes[n].first == TEMPERATURE ? of_temperature[has_w]
                                                                                    : NULL};
        memcpy(record.dimension, meshes[n].dimension, sizeof meshes[n].dimension);
        for (uint32_t c = 0; c < meshes[n].components[has_w]; c++)
            record.source[is_tensor ? OPENPMD_AXES + c : c] = values[meshes[n].first + c];
        snprintf(name, sizeof name, "%s_%s", list->species->name, meshes[n].name);
        openpmd_write_mesh(openpmd, &record, 0.5, 0);
    }
}

void moments_write(struct openpmd *openpmd, const struct moments *moments, enum precision precision)
{
    for (uint32_t s = 0; s < openpmd->view->config->species_count; s++)
        write_species(openpmd, moments, s, precision);
}

static void record_moments(void *moments, struct hdf5_file *file, const struct view *view)
{
    struct openpmd openpmd = openpmd_begin(file, view, moments_files.prefix, OPENPMD_BASE);
    moments_write(&openpmd, moments, view->config->precision);
}

const struct output_row moments_output = {.name = "moments",
                                          .files = &moments_files,
                                          .every = offsetof(struct config, output.moments.every),
                                          .average = offsetof(struct config, output.moments.average),
                                          .same = sizeof(struct moments_config),
                                          .create = moments_create,
                                          .record = record_moments,
                                          .cheaper_by = "a larger output.moments.every"};
