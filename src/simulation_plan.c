/* Simulation plan: how a run will step and sort, and what it will hold. */
#include "simulation_plan.h"

#include "config/species_speed.h"
#include "output/phase_space.h"

#include <math.h>

uint32_t plan_largest(const struct config *config, const uint32_t *capacity)
{
    uint32_t largest = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (capacity[s] > largest)
            largest = capacity[s];
    return largest;
}

static uint32_t largest_species(const struct config *config)
{
    uint64_t largest = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (config->species[s].particles > largest)
            largest = config->species[s].particles;
    return (uint32_t)largest; /* after require_one_rank() */
}

/* Before largest_species(): a run on one rank is asked for. */
static enum status require_one_rank(const struct config *config)
{
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(particles_require_one_rank(&config->species[s]));
    return STATUS_OK;
}

static uint64_t smallest_species(const struct config *config)
{
    uint64_t smallest = CONFIG_MAX_SPECIES_PARTICLES;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (config->species[s].particles < smallest)
            smallest = config->species[s].particles;
    return smallest;
}

uint64_t simulation_particles(const struct config *config)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        sum += config->species[s].particles;
    return sum;
}

enum status simulation_plan_sort(const struct config *config, const struct device_info *info,
                                 struct sorter_plan *plan)
{
    const struct grid grid = grid_make(&config->grid);
    TRY(require_one_rank(config));
    return sorter_plan_make(info, &config->sort, grid_key_bits(&grid), largest_species(config), plan);
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
    const uint32_t crossed = cells_crossed(config, &box, 0) + 1;
    return crossed > SLAB_LEAST_GHOST ? crossed : SLAB_LEAST_GHOST;
}

struct advance_setup plan_advance(const struct config *config, const struct slab *slab, int ranks,
                                  uint32_t capacity)
{
    const uint64_t share = (smallest_species(config) + (uint64_t)ranks - 1) / (uint64_t)ranks;
    return (struct advance_setup){
        .grid = slab->local,
        .ghost_rows = slab->ghost,
        .own_rows = slab->rows,
        .reach = {cells_crossed(config, &slab->box, 0), cells_crossed(config, &slab->box, 1)},
        .precision = config->precision,
        .shape = config->deposit.shape,
        .time_step = config->time.step,
        .magnetic = config->fields.magnetic,
        .species_count = config->species_count,
        .capacity = capacity,
        .fewest = share < CONFIG_MAX_PARTICLES ? (uint32_t)share : CONFIG_MAX_PARTICLES,
    };
}

static struct advance_setup setup_alone(const struct config *config)
{
    const struct grid box = grid_make(&config->grid);
    const struct slab slab = slab_whole_box(&box);
    return plan_advance(config, &slab, 1, largest_species(config));
}

enum { DEFAULT_PASSES = 2 }; /* of sort.passes, the paper's design */

/* Whether sort.* leaves everything to the program: then a run may do without that sort. */
static bool sort_is_left_open(const struct sort_config *sort)
{
    return sort->method == SORT_METHOD_AUTO &&
           (sort->passes == SORT_AUTO || sort->passes == DEFAULT_PASSES) && sort->key_bits == SORT_AUTO &&
           sort->items_per_group == SORT_AUTO && sort->groups == SORT_AUTO &&
           sort->histogram_splits == SORT_AUTO && sort->transpose == TRANSPOSE_AUTO &&
           sort->table == TABLE_AUTO;
}

enum advance_kind plan_kind(const struct config *config, const struct device_info *info,
                            const struct advance_setup *setup)
{
    enum advance_kind kind = ADVANCE_NONE;
    switch (config->step.method) {
    case STEP_PLAIN:
        return ADVANCE_NONE;
    case STEP_AUTO:
        return sort_is_left_open(&config->sort) ? advance_kind_for(info, setup) : ADVANCE_NONE;
    case STEP_FUSED:
        return advance_kind_for(info, setup);
    case STEP_TILED:
        kind = ADVANCE_TILED;
        break;
    case STEP_CHUNKED:
        kind = ADVANCE_CHUNKED;
        break;
    }
    return advance_supports(info, kind, setup) ? kind : ADVANCE_NONE;
}

enum status plan_step(const struct config *config, const struct device_info *info,
                      const struct advance_setup *setup, enum advance_kind *kind)
{
    const enum step_method method = config->step.method;
    *kind = plan_kind(config, info, setup);
    if (*kind == ADVANCE_NONE && method != STEP_PLAIN && method != STEP_AUTO)
        return status_fail(STATUS_USAGE,
                           "step.method: %s has no fused step for %ux%u cells with these particles and time "
                           "step; take plain",
                           info->name, config->grid.cells[0], config->grid.cells[1]);
    return STATUS_OK;
}

enum status simulation_plan_step(const struct config *config, const struct device_info *info,
                                 enum advance_kind *kind)
{
    TRY(require_one_rank(config));
    const struct advance_setup setup = setup_alone(config);
    return plan_step(config, info, &setup, kind);
}

enum status simulation_bytes(const struct config *config, const struct device_info *info, uint64_t *bytes)
{
    struct device *counting;
    struct simulation simulation;
    TRY(require_one_rank(config));
    TRY(device_open_counting(info, &counting));
    enum status status = simulation_create(config, counting, &simulation);
    if (status == STATUS_OK && !simulation_done(&simulation))
        status = simulation_step(&simulation); /* in which the fused step takes the lists over */
    simulation_destroy(&simulation);
    *bytes = device_most_bytes_held(counting);
    device_close(&counting);
    return status;
}
