/* Moments: a launch of kernels/moments.cl for each piece that is written, in snapshots or in a file of their
 * own (output.moments). */
#include "output/openpmd.h"
#include "output/outputs.h"

#include <string.h>

enum { GROUP_ITEMS = 64 /* 1 on a CPU */, MOST_AT_ONCE = 1 << 20 /* cells */ };

enum quantity { DENSITY, VELOCITY_X, VELOCITY_Y, VELOCITY_Z, TEMPERATURE, QUANTITIES }; /* as in the kernel */

struct moments {
    size_t group_items;
    struct program *program;
    struct kernel *kernel;
    uint32_t room;        /* cells that are computed at once */
    struct buffer *cells; /* real[room] */
};

enum status moments_create(struct device *device, const struct config *config, void **created)
{
    struct moments *moments;
    const uint32_t cells = config->grid.cells[0] * config->grid.cells[1];
    TRY(DEVICE_NEW(device, moments));
    *created = moments;
    moments->room = cells < MOST_AT_ONCE ? cells : MOST_AT_ONCE;
    moments->group_items = device_row_items(device, GROUP_ITEMS);
    TRY(program_build(device, "moments.cl", config->precision, &moments->program, "-D GROUP_ITEMS=%zu",
                      moments->group_items));
    TRY(kernel_create(moments->program, "moments", &moments->kernel));
    return buffer_create(device, moments->room * precision_bytes(config->precision), "the moments of cells",
                         &moments->cells);
}

/* A quantity of a species in the own cells, in memory of the file; NULL after a failure. `factor`: of a
 * count, a mean or a variance. */
static const void *compute(struct openpmd *openpmd, const struct moments *moments,
                           const struct particles *list, enum quantity quantity, double factor)
{
    const size_t size = precision_bytes(list->precision), cells = slab_own_cells(openpmd->view->slab);
    char *values = hdf5_file_room(openpmd->file, cells * size);
    if (!values || openpmd->file->has_no_data)
        return values;
    if (list->count == 0)
        memset(values, 0, cells * size);
    for (size_t done = 0; done < cells && list->count > 0; done += moments->room) {
        const size_t count = cells - done < moments->room ? cells - done : moments->room;
        enum status status = KERNEL_LAUNCH(
            moments->kernel, ((struct launch){count, moments->group_items, STAGE_OUTPUT, 0}),
            list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
            particles_first(list, ATTRIBUTE_VELOCITY), particles_w(list), species_has_w(list->species),
            list->cell_offsets, (uint32_t)done, quantity, factor, moments->cells);
        if (status == STATUS_OK)
            status = buffer_read(moments->cells, 0, count * size, values + done * size);
        hdf5_file_fail(openpmd->file, status);
    }
    return values;
}

static void write_species(struct openpmd *openpmd, const struct moments *moments, uint32_t species,
                          enum precision precision)
{
    static const char *const comments[] = {"as an energy: m <|v - <v>|^2> / 2",
                                           "as an energy: m <|v - <v>|^2> / 3"};
    const struct view *view = openpmd->view;
    const struct units *units = &openpmd->units;
    const double back = -view->config->time.step / 2; /* half a step */
    const double number_density = units->charge_density / units->charge;
    const double speed = units->velocity, energy = units->mass * speed * speed;
    const struct particles *list = &view->particles[species];
    const double area = view->slab->box.dx * view->slab->box.dy;
    const bool has_w = species_has_w(list->species);
    const double factors[QUANTITIES] = {list->weight / area, 1, 1, 1,
                                        list->species->mass / species_dimensions(list->species)};
    const void *of[QUANTITIES];
    for (enum quantity q = 0; q < QUANTITIES; q++)
        of[q] = q == VELOCITY_Z && !has_w ? NULL : compute(openpmd, moments, list, q, factors[q]);
    const enum hdf5_type real = hdf5_real(precision);
    hdf5_fill *fill = openpmd_rounding(view->config->precision, precision);
    struct openpmd_record records[] = {
        {"density", {-3}, {number_density}, {of[DENSITY]}, fill, real, 0, NULL},
        {"velocity",
         {1, 0, -1},
         {speed, speed, speed},
         {of[VELOCITY_X], of[VELOCITY_Y], of[VELOCITY_Z]},
         fill,
         real,
         back,
         list->species->per_c_squared > 0 ? "of u = gamma v" : NULL},
        {"temperature", {2, 1, -2}, {energy}, {of[TEMPERATURE]}, fill, real, back, comments[has_w]},
    };
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++) {
        char name[CONFIG_NAME_LENGTH + 16];
        snprintf(name, sizeof name, "%s_%s", view->config->species[species].name, records[n].name);
        records[n].name = name;
        openpmd_write_mesh(openpmd, &records[n], 0.5, 0);
    }
}

void moments_write(struct openpmd *openpmd, const struct moments *moments, enum precision precision)
{
    for (uint32_t s = 0; s < openpmd->view->config->species_count; s++)
        write_species(openpmd, moments, s, precision);
}

static void record_moments(void *moments, struct hdf5_file *file, const struct view *view)
{
    struct openpmd openpmd = openpmd_begin(file, view, moments_output.prefix, OPENPMD_BASE);
    moments_write(&openpmd, moments, view->config->precision);
}

const struct output_row moments_output = {.name = "moments",
                                          .folder = "moments",
                                          .prefix = "moments_",
                                          .every = offsetof(struct config, output.moments.every),
                                          .create = moments_create,
                                          .record = record_moments,
                                          .cheaper_by = "a larger output.moments.every"};
