/* Simulation: the parts, and one step. */
#include "simulation.h"

#include "config/species_speed.h"
#include "diag/snapshot.h"
#include "load/loading.h"

#include <math.h>

enum {
    FEW_STEPS = 100 /* of a run that is timed throughout */
};

/* ---- birth and death ---- */

static uint32_t largest_species(const struct config *config)
{
    uint64_t largest = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (config->species[s].particles > largest)
            largest = config->species[s].particles;
    return (uint32_t)largest; /* at most CONFIG_MAX_PARTICLES */
}

static uint32_t smallest_species(const struct config *config)
{
    uint64_t smallest = CONFIG_MAX_PARTICLES;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (config->species[s].particles < smallest)
            smallest = config->species[s].particles;
    return (uint32_t)smallest;
}

static enum status create_particles(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(particles_create(simulation->device, &simulation->grid, config->precision, &config->species[s],
                             &simulation->particles[s]));
    return STATUS_OK;
}

enum status simulation_plan_sort(const struct config *config, const struct device_info *info,
                                 struct sorter_plan *plan)
{
    const struct grid grid = grid_make(&config->grid);
    return sorter_plan_make(info, &config->sort, grid_key_bits(&grid), largest_species(config), plan);
}

static enum status create_sort(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    struct device *device = simulation->device;
    const uint32_t largest = largest_species(config);
    TRY(simulation_plan_sort(config, device_info(device), &simulation->plan));
    TRY(buffer_create(device, largest * sizeof(uint32_t), "the sort's permutation",
                      &simulation->permutation));
    TRY(cell_key_create(device, &simulation->grid, config->precision, &simulation->cell_key));
    TRY(sorter_create(device, &simulation->plan, largest, &simulation->sorter));
    return permute_create(device, config->precision, &simulation->permute);
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

static struct advance_setup advance_setup(const struct config *config)
{
    const struct grid grid = grid_make(&config->grid);
    return (struct advance_setup){
        .grid = grid,
        .reach = {cells_crossed(config, &grid, 0), cells_crossed(config, &grid, 1)},
        .precision = config->precision,
        .shape = config->deposit.shape,
        .time_step = config->time.step,
        .magnetic = config->fields.magnetic,
        .species_count = config->species_count,
        .capacity = largest_species(config),
        .fewest = smallest_species(config),
    };
}

enum { DEFAULT_PASSES = 2 }; /* of sort.passes, the paper's design */

/* Whether sort.* leaves everything to the program: then a run may do without that sort. */
static bool sort_is_left_open(const struct sort_config *sort)
{
    return sort->method == SORT_METHOD_AUTO &&
           (sort->passes == SORT_AUTO || sort->passes == DEFAULT_PASSES) && sort->key_bits == SORT_AUTO &&
           sort->items_per_group == SORT_AUTO && sort->groups == SORT_AUTO &&
           sort->histogram_splits == SORT_AUTO && sort->transpose == TRANSPOSE_AUTO;
}

enum status simulation_plan_step(const struct config *config, const struct device_info *info,
                                 enum advance_kind *kind)
{
    const enum step_method method = config->step.method;
    const struct advance_setup setup = advance_setup(config);
    *kind = ADVANCE_NONE;
    if (method == STEP_PLAIN || (method == STEP_AUTO && !sort_is_left_open(&config->sort)))
        return STATUS_OK;
    *kind = advance_kind_for(info, &setup);
    if (method == STEP_FUSED && *kind == ADVANCE_NONE)
        return status_fail(STATUS_USAGE,
                           "step.method: %s has no fused step for %ux%u cells with these particles and time "
                           "step; take plain",
                           info->name, config->grid.cells[0], config->grid.cells[1]);
    return STATUS_OK;
}

static enum status create_advance(struct simulation *simulation)
{
    const struct advance_setup setup = advance_setup(simulation->config);
    TRY(simulation_plan_step(simulation->config, device_info(simulation->device), &simulation->advance_kind));
    if (simulation->advance_kind == ADVANCE_NONE)
        return STATUS_OK;
    return advance_create(simulation->device, simulation->advance_kind, &setup, &simulation->advance);
}

static enum status create_field_solver(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    struct device *device = simulation->device;
    const struct grid *grid = &simulation->grid;
    TRY(fields_create(device, grid, config->precision, &simulation->fields));
    TRY(deposit_create(device, grid, config->precision, config->deposit.shape, largest_species(config),
                       &simulation->deposit));
    TRY(filter_create(device, grid, config->precision, &simulation->filter));
    return poisson_create(device, grid, config->precision, config->fields.solver, config->fields.gradient,
                          &simulation->poisson);
}

enum status simulation_create(const struct config *config, struct device *device,
                              struct simulation *simulation)
{
    *simulation = (struct simulation){.config = config, .device = device, .grid = grid_make(&config->grid)};
    simulation->slab = slab_whole_box(&simulation->grid);
    TRY(create_particles(simulation));
    TRY(create_sort(simulation));
    TRY(create_field_solver(simulation));
    TRY(create_advance(simulation));
    TRY(push_create(device, &simulation->grid, config->precision, config->deposit.shape, config->time.step,
                    config->fields.magnetic, config->species_count, &simulation->push));
    TRY(energy_create(device, &simulation->grid, config->precision, &simulation->energy));
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(loading_fill(device, &simulation->grid, config->precision, 0, &simulation->particles[s]));
    return device_finish(device);
}

static void destroy_sort(struct simulation *simulation)
{
    buffer_destroy(&simulation->permutation);
    cell_key_destroy(&simulation->cell_key);
    sorter_destroy(&simulation->sorter);
    permute_destroy(&simulation->permute);
}

void simulation_destroy(struct simulation *simulation)
{
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        particles_destroy(&simulation->particles[s]);
    fields_destroy(&simulation->fields);
    destroy_sort(simulation);
    advance_destroy(&simulation->advance);
    deposit_destroy(&simulation->deposit);
    filter_destroy(&simulation->filter);
    poisson_destroy(&simulation->poisson);
    push_destroy(&simulation->push);
    energy_destroy(&simulation->energy);
}

uint64_t simulation_particles(const struct config *config)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        sum += config->species[s].particles;
    return sum;
}

/* What a run holds for its particles and their sort: throughout, or before the fused step takes over. */
static enum status plain_bytes(const struct config *config, const struct device_info *info, uint64_t *bytes)
{
    const struct grid grid = grid_make(&config->grid);
    struct sorter_plan plan;
    TRY(simulation_plan_sort(config, info, &plan));
    *bytes = (uint64_t)largest_species(config) * sizeof(uint32_t) +
             sorter_bytes(info, &plan, largest_species(config));
    for (uint32_t s = 0; s < config->species_count; s++)
        *bytes += particles_bytes(&grid, config->precision, &config->species[s]);
    return STATUS_OK;
}

/* And after that. */
static uint64_t fused_bytes(const struct config *config, const struct device_info *info,
                            enum advance_kind kind)
{
    const struct grid grid = grid_make(&config->grid);
    const struct advance_setup setup = advance_setup(config);
    uint64_t bytes = advance_bytes(info, kind, &setup);
    for (uint32_t s = 0; s < config->species_count; s++)
        bytes +=
            config->species[s].particles * advance_particle_bytes(config->precision, &config->species[s]) +
            (grid_cells(&grid) + UINT64_C(1)) * sizeof(uint32_t);
    return bytes;
}

enum status simulation_bytes(const struct config *config, const struct device_info *info, uint64_t *bytes)
{
    const struct grid grid = grid_make(&config->grid);
    enum advance_kind kind;
    TRY(simulation_plan_step(config, info, &kind));
    TRY(plain_bytes(config, info, bytes));
    if (kind != ADVANCE_NONE && fused_bytes(config, info, kind) > *bytes)
        *bytes = fused_bytes(config, info, kind);
    *bytes += fields_bytes(&grid, config->precision);
    *bytes += deposit_bytes(info, &grid, config->precision, config->deposit.shape, largest_species(config));
    *bytes += filter_bytes(&grid, config->precision);
    *bytes += poisson_bytes(&grid, config->precision, config->fields.gradient);
    return STATUS_OK;
}

/* ---- the stages of a step ---- */

/* After a fused step the particles stand in order already. */
static bool is_in_order(const struct simulation *simulation)
{
    return simulation->advance && simulation->step > 0;
}

static enum status find_cells(struct simulation *simulation)
{
    if (is_in_order(simulation))
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(cell_key_update(simulation->cell_key, &simulation->particles[s]));
    return STATUS_OK;
}

static enum status sort_particles(struct simulation *simulation)
{
    if (is_in_order(simulation))
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct particles *particles = &simulation->particles[s];
        const struct radix_lists lists = {
            .keys = particles->key,
            .sorted_keys = particles->key_spare,
            .permutation = simulation->permutation,
            .cell_offsets = particles->cell_offsets,
            .cells = grid_cells(&simulation->grid),
        };
        TRY(sorter_run(simulation->sorter, particles->count, &lists));
        buffer_swap(&particles->key, &particles->key_spare);
        TRY(permute_apply(simulation->permute, simulation->permutation, particles));
    }
    return STATUS_OK;
}

static enum status deposit_charge(struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(deposit_species(simulation->deposit, &simulation->particles[s], s == 0, simulation->fields.rho));
    return filter_apply(simulation->filter, simulation->config->deposit.filter_passes,
                        &simulation->fields.rho);
}

static enum status solve_field(struct simulation *simulation)
{
    return poisson_solve(simulation->poisson, &simulation->fields);
}

static enum status start_velocities(struct simulation *simulation)
{
    if (simulation->step > 0)
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(push_start(simulation->push, &simulation->fields, &simulation->particles[s]));
    return STATUS_OK;
}

static bool is_last_step(const struct simulation *simulation)
{
    return simulation->step >= simulation->config->time.steps;
}

static bool is_due(const struct simulation *simulation, uint64_t every)
{
    return every > 0 && (simulation->step % every == 0 || is_last_step(simulation));
}

static enum status push_plainly(struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct particles *particles = &simulation->particles[s];
        if (is_last_step(simulation))
            TRY(push_measure(simulation->push, &simulation->fields, s, particles));
        else
            TRY(push_step(simulation->push, &simulation->fields, s, particles));
    }
    return STATUS_OK;
}

/* Hands the particles, once in order, from the plain parts to the fused step. */
static enum status hand_over(struct simulation *simulation)
{
    destroy_sort(simulation);
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        buffer_destroy(&simulation->particles[s].key);
        buffer_destroy(&simulation->particles[s].key_spare);
    }
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(advance_take_over(simulation->advance, s, &simulation->particles[s]));
    return STATUS_OK;
}

static enum status push_and_sort(struct simulation *simulation)
{
    if (simulation->step == 0)
        TRY(hand_over(simulation));
    const bool measured = is_due(simulation, simulation->config->output.history.every);
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct particles *particles = &simulation->particles[s];
        if (is_last_step(simulation))
            TRY(advance_measure(simulation->advance, &simulation->fields, s, particles));
        else
            TRY(advance_step(simulation->advance, &simulation->fields, s, measured, particles));
    }
    return STATUS_OK;
}

static enum status push_particles(struct simulation *simulation)
{
    return simulation->advance ? push_and_sort(simulation) : push_plainly(simulation);
}

/* ---- diagnostics ---- */

static double current_time(const struct simulation *simulation)
{
    return (double)simulation->step * simulation->config->time.step;
}

static enum status write_snapshot(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    if (!simulation->output.snapshot_folder || !is_due(simulation, config->output.snapshots.every))
        return STATUS_OK;
    static const struct communicator alone = {.size = 1, .local_size = 1};
    const struct snapshot snapshot = {
        .config = config,
        .communicator = &alone,
        .slab = &simulation->slab,
        .fields = &simulation->fields,
        .particles = simulation->particles,
        .step = simulation->step,
        .time = current_time(simulation),
    };
    TRY(poisson_potential(simulation->poisson, &simulation->fields));
    TRY(device_finish(simulation->device));
    const double start = timer_now();
    uint64_t bytes = 0;
    TRY(snapshot_write(simulation->output.snapshot_folder, &snapshot, &bytes));
    device_add_time(simulation->device, STAGE_OUTPUT, timer_now() - start, bytes);
    return STATUS_OK;
}

/* Whether a diagnostic of this step needs the sums of the fields; every few steps they are taken anyway, so
 * that a run that has gone wrong stops soon. */
static bool needs_field_sums(const struct simulation *simulation)
{
    const struct output_config *output = &simulation->config->output;
    return is_due(simulation, output->history.every) || is_due(simulation, output->snapshots.every) ||
           is_due(simulation, simulation->config->time.check_every);
}

static enum status require_finite(const struct simulation *simulation, const char *what, double value)
{
    if (isfinite(value))
        return STATUS_OK;
    return status_fail(
        STATUS_FAILED,
        "step %llu (t = %g): the %s is not a finite number; the run stops here. Try a smaller time.step "
        "(omega_p dt below 2) or smaller charges and velocities",
        (unsigned long long)simulation->step, current_time(simulation), what);
}

/* Before anything of this step is written: numbers that are none must not reach a snapshot. */
static enum status check_fields(struct simulation *simulation)
{
    if (!needs_field_sums(simulation))
        return STATUS_OK;
    TRY(energy_measure(simulation->energy, &simulation->fields, &simulation->field_sums));
    TRY(require_finite(simulation, "charge", simulation->field_sums.charge));
    return require_finite(simulation, "field energy", simulation->field_sums.field_energy);
}

/* The history's sums of step n: fields as they stand, kinetic energy and momentum as the push met them at n.
 */
static enum status measure(struct simulation *simulation, struct history_row *row)
{
    const struct history_config *history = &simulation->config->output.history;
    *row = (struct history_row){
        .step = simulation->step,
        .time = current_time(simulation),
        .field_energy = simulation->field_sums.field_energy,
        .charge = simulation->field_sums.charge,
    };
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct push_sums sums;
        if (simulation->advance)
            TRY(advance_read_sums(simulation->advance, s, &simulation->particles[s], &sums));
        else
            TRY(push_read_sums(simulation->push, s, &simulation->particles[s], &sums));
        row->kinetic_energy += sums.kinetic_energy;
        row->momentum[0] += sums.momentum[0];
        row->momentum[1] += sums.momentum[1];
    }
    return poisson_read_modes(simulation->poisson, history->mode_count, history->modes, &row->modes[0][0]);
}

static enum status record_history(struct simulation *simulation)
{
    if (!is_due(simulation, simulation->config->output.history.every))
        return STATUS_OK;
    struct history_row *row = &simulation->row;
    TRY(measure(simulation, row));
    TRY(require_finite(simulation, "kinetic energy", row->kinetic_energy));
    TRY(require_finite(simulation, "momentum", row->momentum[0] + row->momentum[1]));
    if (simulation->step == 0)
        simulation->first_energy = row->field_energy + row->kinetic_energy;
    return simulation->output.history ? history_append(simulation->output.history, row) : STATUS_OK;
}

/* ---- one step ---- */

bool simulation_samples_times(const struct simulation *simulation)
{
    return simulation->timing == TIME_SAMPLES && !device_info(simulation->device)->is_cpu &&
           simulation->config->time.steps >= FEW_STEPS;
}

/* The first step, which does more than the others, stands for itself. */
static void choose_timing(const struct simulation *simulation)
{
    uint32_t weight = simulation->timing == TIME_NO_STEP ? 0 : 1;
    if (simulation_samples_times(simulation) && simulation->step > 0)
        weight = simulation->step % SIMULATION_TIMED_EVERY == SIMULATION_TIMED_EVERY / 2
                     ? SIMULATION_TIMED_EVERY
                     : 0;
    device_weigh_times(simulation->device, weight);
}

enum status simulation_step(struct simulation *simulation)
{
    choose_timing(simulation);
    /* clang-format off */
    TRY(find_cells(simulation));       /* x at n, v at n-1/2, E at n-1; keys: the cell of every x        */
    TRY(sort_particles(simulation));   /* the same, in the order of their cells, where they are not yet  */
    TRY(deposit_charge(simulation));   /* rho at n, filtered                                             */
    TRY(solve_field(simulation));      /* phi and E at n                                                 */
    TRY(start_velocities(simulation)); /* in the first step v at 0 becomes v at -1/2, otherwise nothing  */
    TRY(check_fields(simulation));     /* finite, or the run stops before it writes anything              */
    TRY(write_snapshot(simulation));   /* x and E at n, v at n-1/2                                       */
    TRY(push_particles(simulation));   /* v at n+1/2, x at n+1; the sums of v at n were taken on the way;
                                        * a fused step leaves the particles in order                     */
    TRY(record_history(simulation));   /* energies, momentum, charge and modes, all at n                 */
    /* clang-format on */
    simulation->step++;
    return STATUS_OK;
}

bool simulation_done(const struct simulation *simulation)
{
    return simulation->step > simulation->config->time.steps;
}

double simulation_energy_drift(const struct simulation *simulation)
{
    if (simulation->row.step + 1 != simulation->step)
        return NAN;
    const double total = simulation->row.field_energy + simulation->row.kinetic_energy;
    return simulation->first_energy != 0 ? total / simulation->first_energy - 1 : 0;
}
