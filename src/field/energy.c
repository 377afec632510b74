/* Energy: launches of energy_sums() in kernels/poisson.cl. */
#include "field/energy.h"

#include "base/integers.h"

enum {
    GROUPS_PER_UNIT = 8,
    MOST_GROUPS = 1024, /* so that the sums that leave the device are a few KiB */
    MOST_SUMS = 6       /* of a group: |E|^2, rho; |B|^2 and E x B (SUM_COUNT of the kernel) */
};

struct energy {
    struct grid grid;
    enum precision precision;
    enum solver_name solver;
    double c_squared;
    size_t group_items;
    uint32_t sums_of_group;
    uint32_t groups, chunk; /* group g owns nodes [g chunk, (g + 1) chunk) */
    struct followed_modes modes;
    struct kernel *kernel;
    size_t row;          /* reals of a slot: SUMS of each group, then the modes */
    struct buffer *sums; /* real[SUM_SLOTS][row] */
    double *read;        /* `sums` of some slots on the host */
};

enum status energy_create(struct device *device, const struct grid *grid, enum precision precision,
                          const struct fields_config *config, const struct followed_modes *modes,
                          struct energy **created)
{
    const size_t items = device_row_items(device, POISSON_ITEMS);
    const uint64_t wanted = (uint64_t)GROUPS_PER_UNIT * device_info(device)->compute_units;
    const uint32_t pieces = divide_up(grid_cells(grid), items); /* of one node an item */
    const uint32_t pieces_per_group = divide_up(pieces, at_most(wanted, MOST_GROUPS));
    struct program *program = NULL;
    struct energy *energy;
    TRY(DEVICE_NEW(device, energy));
    *created = energy;
    energy->grid = *grid;
    energy->precision = precision;
    energy->solver = config->solver;
    energy->c_squared = config->speed_of_light * config->speed_of_light;
    energy->sums_of_group = config->solver == SOLVER_ELECTROMAGNETIC ? MOST_SUMS : 2;
    energy->group_items = items;
    energy->groups = divide_up(pieces, pieces_per_group);
    energy->chunk = (uint32_t)(pieces_per_group * items);
    energy->modes = *modes;
    energy->row = (size_t)energy->groups * energy->sums_of_group + 2 * (size_t)modes->count * modes->parts;
    TRY(DEVICE_NEW_ARRAY(device, energy->read, SUM_SLOTS * energy->row));
    TRY(poisson_program(device, precision, config->solver, &program));
    TRY(kernel_create(program, "energy_sums", &energy->kernel));
    return buffer_create(device, SUM_SLOTS * energy->row * precision_bytes(precision), "the energy sums",
                         &energy->sums);
}

enum status energy_measure(struct energy *energy, const struct fields *fields, uint32_t slot)
{
    const uint32_t nodes = grid_cells(&energy->grid);
    const struct followed_modes *modes = &energy->modes;
    const struct buffer *rho = field_component(fields, FIELD_RHO, 0);
    return KERNEL_LAUNCH(energy->kernel,
                         ((struct launch){energy->groups, energy->group_items, STAGE_OUTPUT,
                                          (field_first(energy->solver, FIELD_PHI) + UINT64_C(1)) * nodes *
                                              precision_bytes(energy->precision)}),
                         fields->felt, fields->stride, rho, nodes, energy->chunk,
                         modes->count > 0 ? modes->modes : rho, modes->count > 0 ? modes->places : rho,
                         modes->count, modes->waves ? modes->waves->modes : rho,
                         (uint32_t)(modes->waves ? modes->waves->stride / 2 : 0), modes->parts,
                         (uint32_t)(slot * energy->row), energy->sums);
}

enum status energy_read(struct energy *energy, uint32_t first, uint32_t count)
{
    return buffer_read_reals(energy->sums, energy->precision, first * energy->row, count * energy->row,
                             energy->read + first * energy->row);
}

struct field_sums energy_sums(const struct energy *energy, uint32_t slot, double (*modes)[2],
                              mode_of_fields *fields)
{
    const uint32_t each = energy->sums_of_group;
    const double *sums = energy->read + slot * energy->row, area = energy->grid.dx * energy->grid.dy;
    const double(*parts)[2] = (const double(*)[2])(sums + (size_t)energy->groups * each);
    double added[MOST_SUMS] = {0};
    for (uint32_t n = 0; n < energy->groups * each; n++)
        added[n % each] += sums[n];
    for (uint32_t n = 0; n < energy->modes.count; n++)
        poisson_read_mode(&energy->modes, n, parts + (size_t)n * energy->modes.parts, modes[n], fields[n]);
    return (struct field_sums){.field_energy = 0.5 * added[0] * area,
                               .charge = added[1] * area,
                               .magnetic_energy = 0.5 * energy->c_squared * added[2] * area,
                               .momentum = {added[3] * area, added[4] * area, added[5] * area}};
}
