/* PIC keys: load, sort, move. */
#include "experiments/sorting/pic_keys.h"

#include "load/loading.h"
#include "sort/cell_key.h"
#include "sort/permute.h"

enum { MOVE_ITEMS = 64 };

static enum status sort(struct device *device, const struct sorter_plan *plan, struct particles *particles)
{
    struct sorter *sorter = NULL;
    struct permute *permute = NULL;
    struct buffer *permutation = NULL;
    TRY(sorter_create(device, plan, particles->count, &sorter));
    TRY(permute_create(device, PRECISION_SINGLE, &permute));
    TRY(buffer_create(device, particles->count * sizeof(uint32_t), "permutation", &permutation));
    const struct radix_lists lists = {
        .keys = particles->key, .sorted_keys = particles->key_spare, .permutation = permutation};
    TRY(sorter_run(sorter, particles->count, &lists));
    buffer_swap(particles->key, particles->key_spare);
    return permute_apply(permute, permutation, particles);
}

static enum status move(struct device *device, const struct grid *grid, struct particles *particles)
{
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    struct cell_key *cell_key = NULL;
    TRY(program_build(device, "pic_sort.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "pic_sort_move", &kernel));
    TRY(cell_key_create(device, grid, 0, PRECISION_SINGLE, &cell_key));
    TRY(KERNEL_LAUNCH(
        kernel, launch_covering(particles->count, device_group_items(device, MOVE_ITEMS), STAGE_OTHER, 0),
        arg_buffer(particles->offset), arg_buffer(particles->velocity), arg_uint(particles->count)));
    return cell_key_update(cell_key, particles);
}

/* x, y, u, v in the unit square: bases 2, 3, 5, 7. */
enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                            const struct sorter_plan *plan, struct pic_keys *list)
{
    struct device *only_here = NULL;
    list->species = (struct species_config){
        .name = "particles",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_UNIFORM, .bases = {5, 7}, .range = {{0, 1}, {0, 1}}},
    };
    TRY(particles_create(device, grid, PRECISION_SINGLE, &list->species, &list->particles));
    TRY(loading_fill(device, grid, PRECISION_SINGLE, 0, &list->particles));
    TRY(device_branch(device, &only_here));
    enum status status = sort(only_here, plan, &list->particles);
    if (status == STATUS_OK)
        status = move(only_here, grid, &list->particles);
    if (status == STATUS_OK)
        status = device_finish(device);
    device_close(&only_here);
    return status;
}
