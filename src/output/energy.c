/* Energy: launches of kernels/energy.cl. */
#include "output/energy.h"

#include "base/integers.h"

enum {
    GROUP_ITEMS = 256, /* 1 on a CPU */
    GROUPS_PER_UNIT = 8,
    MOST_GROUPS = 1024, /* so that the sums that leave the device are a few KiB */
    SUMS = 2            /* of a group: ex^2 + ey^2, rho (SUM_COUNT of the kernel) */
};

struct energy {
    struct grid grid;
    enum precision precision;
    size_t group_items;
    uint32_t groups, chunk; /* group g owns nodes [g chunk, (g + 1) chunk) */
    struct program *program;
    struct kernel *kernel;
    struct buffer *sums; /* real[groups][SUMS] */
};

enum status energy_create(struct device *device, const struct grid *grid, enum precision precision,
                          struct energy **created)
{
    const size_t items = device_row_items(device, GROUP_ITEMS);
    const uint64_t wanted = (uint64_t)GROUPS_PER_UNIT * device_info(device)->compute_units;
    const uint32_t most = at_most(wanted, MOST_GROUPS);
    const uint32_t pieces = divide_up(grid_cells(grid), items); /* of one node an item */
    const uint32_t pieces_per_group = divide_up(pieces, most);
    struct energy *energy;
    TRY(DEVICE_NEW(device, energy));
    *created = energy;
    energy->grid = *grid;
    energy->precision = precision;
    energy->group_items = items;
    energy->groups = divide_up(pieces, pieces_per_group);
    energy->chunk = (uint32_t)(pieces_per_group * items);
    TRY(program_build(device, "energy.cl", precision, &energy->program, "-D GROUP_ITEMS=%zu", items));
    TRY(kernel_create(energy->program, "energy_sums", &energy->kernel));
    return buffer_create(device, (size_t)energy->groups * SUMS * precision_bytes(precision),
                         "the energy sums", &energy->sums);
}

enum status energy_measure(struct energy *energy, const struct fields *fields, struct field_sums *sums)
{
    const uint32_t nodes = grid_cells(&energy->grid);
    TRY(KERNEL_LAUNCH(energy->kernel,
                      ((struct launch){energy->groups, energy->group_items, STAGE_OUTPUT,
                                       3 * (uint64_t)nodes * precision_bytes(energy->precision)}),
                      fields->ex, fields->ey, fields->rho, nodes, energy->chunk, energy->sums));
    double group_sums[MOST_GROUPS * SUMS];
    TRY(buffer_read_reals(energy->sums, energy->precision, 0, (size_t)energy->groups * SUMS, group_sums));
    double square = 0, rho = 0;
    for (uint32_t group = 0; group < energy->groups; group++) {
        square += group_sums[SUMS * group];
        rho += group_sums[SUMS * group + 1];
    }
    const double area = energy->grid.dx * energy->grid.dy;
    *sums = (struct field_sums){.field_energy = 0.5 * square * area, .charge = rho * area};
    return STATUS_OK;
}
