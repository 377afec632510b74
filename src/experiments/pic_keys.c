/* PIC keys: load, sort, move. */
#include "experiments/pic_keys.h"

#include "load/loading.h"
#include "sort/cell_key.h"
#include "sort/permute.h"

enum { MOVE_ITEMS = 64 };

/* x, y, u, v in the unit square: bases 2, 3, 5, 7. */
static enum status load(struct device *device, const struct grid *grid, uint32_t count, struct pic_keys *list)
{
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
    return loading_fill(device, grid, PRECISION_SINGLE, 0, &list->particles);
}

static enum status sort(struct device *device, const struct sorter_plan *plan, struct particles *particles)
{
    struct sorter *sorter = NULL;
    struct permute *permute = NULL;
    struct buffer *permutation = NULL;
    enum status status = STATUS_OK;
    TRY_CLEANUP(sorter_create(device, plan, particles->count, &sorter));
    TRY_CLEANUP(permute_create(device, PRECISION_SINGLE, &permute));
    TRY_CLEANUP(buffer_create(device, particles->count * sizeof(uint32_t), "permutation", &permutation));
    const struct radix_lists lists = {
        .keys = particles->key, .sorted_keys = particles->key_spare, .permutation = permutation};
    TRY_CLEANUP(sorter_run(sorter, particles->count, &lists));
    buffer_swap(particles->key, particles->key_spare);
    TRY_CLEANUP(permute_apply(permute, permutation, particles));
    TRY_CLEANUP(device_finish(device));
cleanup:
    sorter_destroy(&sorter);
    permute_destroy(&permute);
    buffer_destroy(&permutation);
    return status;
}

static enum status move(struct device *device, const struct grid *grid, struct particles *particles)
{
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    struct cell_key *cell_key = NULL;
    enum status status = STATUS_OK;
    TRY_CLEANUP(program_build(device, "pic_sort.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY_CLEANUP(kernel_create(program, "pic_sort_move", &kernel));
    TRY_CLEANUP(cell_key_create(device, grid, 0, PRECISION_SINGLE, &cell_key));
    TRY_CLEANUP(KERNEL_LAUNCH(
        kernel, launch_covering(particles->count, device_group_items(device, MOVE_ITEMS), STAGE_OTHER, 0),
        arg_buffer(particles->offset), arg_buffer(particles->velocity), arg_uint(particles->count)));
    TRY_CLEANUP(cell_key_update(cell_key, particles));
    TRY_CLEANUP(device_finish(device));
cleanup:
    kernel_destroy(&kernel);
    program_destroy(&program);
    cell_key_destroy(&cell_key);
    return status;
}

enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                            const struct sorter_plan *plan, struct pic_keys *list)
{
    TRY(load(device, grid, count, list));
    TRY(sort(device, plan, &list->particles));
    return move(device, grid, &list->particles);
}

void pic_keys_destroy(struct pic_keys *list)
{
    particles_destroy(&list->particles);
}
