/* Moments: density, mean velocity and temperature of each species in every cell of the grid
 * (output.moments), as openPMD meshes, with a launch of kernels/moments.cl for each piece that is written.
 *
 * Densities are those of positions at n, velocities and temperatures are of n-1/2. A temperature is an
 * energy, m <|v - <v>|^2> / 2: that of each of the two directions where they are alike. In a cell without
 * particles all are 0. Sums run in a fixed order, without atomics: the same list gives the same bits.
 */
#include "output/openpmd.h"
#include "output/outputs.h"

#include <string.h>

enum { GROUP_ITEMS = 64 /* 1 on a CPU */, MOST_AT_ONCE = 1 << 20 /* cells */ };

enum quantity { DENSITY, VELOCITY_X, VELOCITY_Y, TEMPERATURE, QUANTITIES }; /* as in the kernel */

struct moments {
    size_t group_items;
    struct program *program;
    struct kernel *kernel;
    uint32_t room;        /* cells that are computed at once */
    struct buffer *cells; /* real[room] */
};

static enum status create_moments(struct device *device, const struct config *config, void **part)
{
    struct moments *moments;
    const uint32_t cells = config->grid.cells[0] * config->grid.cells[1];
    *part = NULL;
    if (config->output.moments.every == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, moments));
    *part = moments;
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
    char *values = hdf5_file_keep(openpmd->file, cells * size);
    if (values && list->count == 0)
        memset(values, 0, cells * size);
    for (size_t done = 0; values && done < cells && list->count > 0; done += moments->room) {
        const size_t count = cells - done < moments->room ? cells - done : moments->room;
        enum status status =
            KERNEL_LAUNCH(moments->kernel, ((struct launch){count, moments->group_items, STAGE_OUTPUT, 0}),
                          list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
                          particles_first(list, ATTRIBUTE_VELOCITY), list->cell_offsets, (uint32_t)done,
                          quantity, factor, moments->cells);
        if (status == STATUS_OK)
            status = buffer_read(moments->cells, 0, count * size, values + done * size);
        hdf5_file_fail(openpmd->file, status);
    }
    return values;
}

static void write_species(struct openpmd *openpmd, const struct moments *moments, uint32_t species)
{
    static const char comment[] = "as an energy: m <|v - <v>|^2> / 2";
    const struct view *view = openpmd->view;
    const struct units *units = &openpmd->units;
    const double back = -view->config->time.step / 2; /* half a step */
    const double number_density = units->charge_density / units->charge;
    const double speed = units->velocity, energy = units->mass * speed * speed;
    const struct particles *list = &view->particles[species];
    const double area = view->slab->box.dx * view->slab->box.dy;
    const double factors[QUANTITIES] = {list->weight / area, 1, 1, list->species->mass / 2};
    const void *of[QUANTITIES];
    for (enum quantity q = 0; q < QUANTITIES; q++)
        of[q] = compute(openpmd, moments, list, q, factors[q]);
    const enum hdf5_type real = hdf5_real(view->config->precision);
    struct openpmd_record records[] = {
        {"density", {-3}, {number_density}, {of[DENSITY]}, NULL, real, 0, NULL},
        {"velocity", {1, 0, -1}, {speed, speed}, {of[VELOCITY_X], of[VELOCITY_Y]}, NULL, real, back, NULL},
        {"temperature", {2, 1, -2}, {energy}, {of[TEMPERATURE]}, NULL, real, back, comment},
    };
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++) {
        char name[CONFIG_NAME_LENGTH + 16];
        snprintf(name, sizeof name, "%s_%s", view->config->species[species].name, records[n].name);
        records[n].name = name;
        openpmd_write_mesh(openpmd, &records[n], 0.5, 0);
    }
}

static enum status record_moments(void *moments, const char *folder, const struct view *view,
                                  struct hdf5_file **file)
{
    struct openpmd openpmd;
    TRY(openpmd_create(view, folder, "moments", OPENPMD_BASE, &openpmd));
    *file = openpmd.file;
    for (uint32_t s = 0; s < view->config->species_count; s++)
        write_species(&openpmd, moments, s);
    return (*file)->status;
}

static uint64_t moments_bytes(const struct config *config)
{
    const uint64_t frame = 16384; /* groups, attributes and chunk indices, of each species too */
    return (frame + openpmd_mesh_bytes(&config->grid, config->precision, QUANTITIES)) *
               config->species_count +
           frame;
}

const struct output_row moments_output = {.name = "moments",
                                          .folder = "moments",
                                          .prefix = "moments_",
                                          .every = offsetof(struct config, output.moments.every),
                                          .create = create_moments,
                                          .record = record_moments,
                                          .thrift = "a larger output.moments.every",
                                          .bytes = moments_bytes};
