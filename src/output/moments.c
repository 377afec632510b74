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

enum { GROUP_ITEMS = 64 /* 1 on a CPU */ };

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
    moments->room = cells < HDF5_PIECE ? cells : HDF5_PIECE;
    moments->group_items = device_row_items(device, GROUP_ITEMS);
    TRY(program_build(device, "moments.cl", config->precision, &moments->program, "-D GROUP_ITEMS=%zu",
                      moments->group_items));
    TRY(kernel_create(moments->program, "moments", &moments->kernel));
    return buffer_create(device, moments->room * precision_bytes(config->precision), "the moments of cells",
                         &moments->cells);
}

/* A quantity of a species. */
struct source {
    const struct moments *moments;
    const struct particles *particles;
    enum quantity quantity;
    double factor; /* of a count, a mean or a variance */
};

static enum status fill_cells(const void *context, uint64_t first, size_t count, void *values)
{
    const struct source *source = context;
    const struct moments *moments = source->moments;
    const struct particles *list = source->particles;
    const size_t size = precision_bytes(list->precision);
    if (list->count == 0)
        memset(values, 0, count * size);
    for (size_t done = 0; done < count && list->count > 0; done += moments->room) {
        const size_t cells = count - done < moments->room ? count - done : moments->room;
        TRY(KERNEL_LAUNCH(moments->kernel, ((struct launch){cells, moments->group_items, STAGE_OUTPUT, 0}),
                          list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
                          particles_first(list, ATTRIBUTE_VELOCITY), list->cell_offsets,
                          (uint32_t)(first + done), source->quantity, source->factor, moments->cells));
        TRY(buffer_read(moments->cells, 0, cells * size, (char *)values + done * size));
    }
    return STATUS_OK;
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
    struct source of[QUANTITIES];
    for (enum quantity q = 0; q < QUANTITIES; q++)
        of[q] = (struct source){moments, list, q, factors[q]};
    const hid_t real = hdf5_real(view->config->precision);
    struct openpmd_record records[] = {
        {"density", {-3}, number_density, {&of[DENSITY]}, fill_cells, real, 0, NULL},
        {"velocity", {1, 0, -1}, speed, {&of[VELOCITY_X], &of[VELOCITY_Y]}, fill_cells, real, back, NULL},
        {"temperature", {2, 1, -2}, energy, {&of[TEMPERATURE]}, fill_cells, real, back, comment},
    };
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++) {
        char name[CONFIG_NAME_LENGTH + 16];
        snprintf(name, sizeof name, "%s_%s", view->config->species[species].name, records[n].name);
        records[n].name = name;
        openpmd_write_mesh(openpmd, &records[n], 0.5, 0);
    }
}

static enum status write_moments(void *moments, const char *folder, const struct view *view, uint64_t *bytes)
{
    struct openpmd openpmd;
    *bytes = 0;
    TRY(openpmd_create(view, folder, "moments", OPENPMD_BASE, &openpmd));
    for (uint32_t s = 0; s < view->config->species_count; s++)
        write_species(&openpmd, moments, s);
    return openpmd_finish(&openpmd, bytes);
}

static uint64_t moments_bytes(const struct config *config)
{
    const uint64_t frame = 16384; /* groups, attributes and chunk indices, of each species too */
    return (frame + openpmd_mesh_bytes(config, QUANTITIES)) * config->species_count + frame;
}

const struct output_row moments_output = {.name = "moments",
                                          .folder = "moments",
                                          .prefix = "moments_",
                                          .every = offsetof(struct config, output.moments.every),
                                          .create = create_moments,
                                          .write = write_moments,
                                          .bytes = moments_bytes};
