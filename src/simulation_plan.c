/* Simulation plan: how a run will step and sort. */
#include "simulation.h"
#include "simulation_internal.h"

#include "base/integers.h"

#include <math.h>

uint64_t simulation_particles(const struct config *config)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        sum += config->species[s].particles;
    return sum;
}

uint32_t plan_capacity(uint64_t count)
{
    enum { LEAST = 4096 };
    return at_most(count + count / 8 + LEAST, CONFIG_MAX_PARTICLES);
}

/* Cells along an axis that the fastest species crosses in a step. */
static uint32_t cells_crossed(const struct config *config, const struct grid *grid, int axis)
{
    const double spacing = axis == 0 ? grid->dx : grid->dy, most = config->grid.cells[axis];
    double crossed = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        crossed =
            fmax(crossed, species_fastest_speed(&config->species[s], axis) * config->time.step / spacing);
    return (uint32_t)fmin(ceil(crossed), most);
}

uint32_t plan_ghost_rows(const struct config *config)
{
    if (config->parallel.ghost_rows != GHOST_AUTO)
        return config->parallel.ghost_rows;
    const struct grid box = grid_make(&config->grid);
    return at_least(cells_crossed(config, &box, 0) + UINT64_C(1), SLAB_LEAST_GHOST);
}

enum status plan_step(const struct config *config, const struct device_info *info, const struct slab *slab,
                      int ranks, uint32_t capacity, struct stepper_setup *setup)
{
    const double *magnetic = config->fields.magnetic;
    uint64_t smallest = CONFIG_MAX_SPECIES_PARTICLES;
    bool carries = false, sorts[2] = {false, false};
    for (uint32_t s = 0; s < config->species_count; s++) {
        smallest = config->species[s].particles < smallest ? config->species[s].particles : smallest;
        sorts[species_has_w(&config->species[s])] = true;
        for (enum attribute a = ATTRIBUTE_W + 1; a < ATTRIBUTES; a++)
            carries |= attribute_present(&config->species[s], a);
    }
    *setup = (struct stepper_setup){
        .grid = slab->local,
        .ghost_rows = slab->ghost,
        .own_rows = slab->rows,
        .leaves_room = ranks > 1,
        .carries = carries,
        .sorts = {sorts[false], sorts[true]},
        .reach = {cells_crossed(config, &slab->box, 0), cells_crossed(config, &slab->box, 1)},
        .precision = config->precision,
        .shape = config->deposit.shape,
        .time_step = config->time.step,
        .magnetic = {magnetic[0], magnetic[1], magnetic[2]},
        .species_count = config->species_count,
        .capacity = capacity,
        .fewest = at_most((smallest + (uint64_t)ranks - 1) / (uint64_t)ranks, CONFIG_MAX_PARTICLES),
    };
    return sorter_plan_make(info, &config->sort, grid_key_bits(&slab->local), capacity, &setup->sort);
}
