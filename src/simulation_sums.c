/* Simulation sums: of fields and particles, in a slot of each step, and what becomes of them: the check for
 * non-finite values, and the rows of the history. The device goes on meanwhile where simulation->reads_late:
 * the slots are two halves, and while the steps of one are taken the host reads the other. */
#include "simulation.h"
#include "simulation_internal.h"

#include <string.h>

enum { HALF = SUM_SLOTS / 2 };

/* What is still to be done with a slot. */
enum {
    READ_FIELDS = 1,
    CHECK_FIELDS = 2,
    READ_PARTICLES = 4,
    SUM_PARTICLES = 8,
    READ_NODES = 16,
    ADD_DRIVE_WORK = 32,
    ADD_WORK = 64,
    WRITE = 128
};

static uint32_t slot_now(const struct simulation *simulation)
{
    return (uint32_t)(simulation->step % SUM_SLOTS);
}

struct view view_of(const struct simulation *simulation, uint64_t step)
{
    struct view view = {
        .config = simulation->config,
        .communicator = &simulation->communicator,
        .slab = &simulation->slab,
        .partition = &simulation->partition,
        .fields = &simulation->fields,
        .particles = simulation->particles,
        .step = step,
        .first_step = simulation->first_step,
        .device = simulation->stepper.device,
        .stepper = simulation->stepper.kind ? simulation->stepper.kind->name : NULL,
        .sort = &simulation->stepper.setup.sort,
        .stop_signal = simulation->stop_signal,
        .started = simulation->started,
        .time = (double)step * simulation->config->time.step,
        .log = simulation->log,
        .first_energy = simulation->first_energy,
        .drive_work = simulation->drive_work,
        .decomposition = simulation->decomposition,
        .ghost = simulation->ghost,
    };
    memcpy(view.work, simulation->work, sizeof view.work);
    return view;
}

/* ---- to the host ---- */

/* The slots [*first, returned end) among `count` that have something to do of the kind `what`. */
static uint32_t range_of(const struct pending_sums *pending, uint32_t count, unsigned what, uint32_t *first)
{
    uint32_t end = *first + count;
    while (end > *first && !(pending[end - 1].to_do & what))
        end--;
    while (*first < end && !(pending[*first].to_do & what))
        (*first)++;
    return end;
}

static void read_particles(const struct simulation *simulation, uint32_t slot, struct history_row *row)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        const struct push_sums sums = stepper_sums(&simulation->stepper, slot, s, &simulation->particles[s]);
        row->species[s][0] = sums.kinetic_energy;
        memcpy(&row->species[s][1], sums.momentum, sizeof sums.momentum);
        memcpy(row->work[s], sums.work, sizeof sums.work);
        for (int n = 0; n < 4; n++)
            row->of_particles[n] += row->species[s][n];
    }
}

/* Reads what is unread in the slots first to before first + count. */
static enum status read_slots(struct simulation *simulation, uint32_t first, uint32_t count)
{
    struct pending_sums *const pending = simulation->pending;
    uint32_t fields = first, particles = first, nodes = first;
    const uint32_t fields_end = range_of(pending, count, READ_FIELDS, &fields);
    const uint32_t particles_end = range_of(pending, count, READ_PARTICLES, &particles);
    const uint32_t nodes_end = range_of(pending, count, READ_NODES, &nodes);
    TRY(energy_read(simulation->energy, fields, fields_end - fields));
    TRY(stepper_read_sums(&simulation->stepper, particles, particles_end - particles));
    TRY(outputs_read(simulation->outputs, nodes, nodes_end - nodes));
    for (uint32_t slot = first; slot < first + count; slot++) {
        struct history_row *row = &pending[slot].row;
        if (pending[slot].to_do & READ_FIELDS) {
            const struct field_sums sums = energy_sums(simulation->energy, slot, row->modes, row->fields);
            row->field_energy = sums.field_energy;
            row->charge = sums.charge;
            row->magnetic_energy = sums.magnetic_energy;
            memcpy(row->field_momentum, sums.momentum, sizeof sums.momentum);
        }
        if (pending[slot].to_do & READ_PARTICLES)
            read_particles(simulation, slot, row);
        pending[slot].to_do &= ~(unsigned)(READ_FIELDS | READ_PARTICLES | READ_NODES);
    }
    return STATUS_OK;
}

enum status sums_read(struct simulation *simulation)
{
    return read_slots(simulation, 0, SUM_SLOTS);
}

/* ---- check and write ---- */

/* Sums over the ranks. */
static enum status check_fields(const struct view *view, struct history_row *row)
{
    communicator_sum(view->communicator, sizeof row->of_fields / sizeof row->of_fields[0], row->of_fields);
    TRY(finite_require(view, "charge", row->charge));
    return finite_require(view, "field energy", row->field_energy + row->magnetic_energy);
}

/* The modes of the drives follow those of the history, the same on all ranks. In the first step of a run
 * there is no step before. */
static enum status add_drive_work(struct simulation *simulation, const struct view *view,
                                  struct history_row *row)
{
    const struct config *config = simulation->config;
    const double *modes = row->modes[config->output.history.mode_count], *before = simulation->drive_modes[0];
    if (row->step > simulation->first_step)
        simulation->drive_work +=
            drives_work(config, ((double)row->step - 0.5) * config->time.step, before, modes);
    memcpy(simulation->drive_modes, modes, sizeof simulation->drive_modes);
    row->drive_work = simulation->drive_work;
    return finite_require(view, "work of the drives", row->drive_work);
}

/* From half a step before the row, where a checkpoint of it has the sums, to half a step after it. What there
 * is at step 0 begins with the second half. */
static enum status add_work(struct simulation *simulation, const struct view *view, struct history_row *row)
{
    double all = 0;
    communicator_sum(&simulation->communicator, 2 * simulation->config->species_count, row->work[0]);
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        double *const work = row->work[s];
        work[0] = row->step > 0 ? simulation->work[s] + work[0] : 0;
        work[1] += work[0];
        simulation->work[s] = work[1];
        all += work[1];
    }
    return finite_require(view, "work of external fields", all);
}

static enum status sum_particles(struct simulation *simulation, const struct view *view,
                                 struct history_row *row)
{
    enum { SUMS = sizeof row->of_particles / sizeof row->of_particles[0] };
    communicator_sum(&simulation->communicator, SUMS, row->of_particles);
    if (simulation->config->output.history.species.count > 0)
        communicator_sum(&simulation->communicator, SUMS * simulation->config->species_count,
                         row->species[0]);
    TRY(finite_require(view, "kinetic energy", row->kinetic_energy));
    TRY(finite_require(view, "momentum", row->momentum[0] + row->momentum[1] + row->momentum[2]));
    if (row->step == 0)
        simulation->first_energy = history_total_energy(row);
    simulation->row = *row;
    return STATUS_OK;
}

/* All that is to be done with the slots first to before first + count, in the order of their steps. */
static enum status finish_slots(struct simulation *simulation, uint32_t first, uint32_t count)
{
    TRY(read_slots(simulation, first, count));
    for (uint32_t slot = first; slot < first + count; slot++) {
        struct pending_sums *pending = &simulation->pending[slot];
        const unsigned to_do = pending->to_do;
        if (to_do == 0)
            continue;
        struct view view = view_of(simulation, pending->row.step);
        pending->to_do = 0;
        if (to_do & ADD_DRIVE_WORK)
            TRY(add_drive_work(simulation, &view, &pending->row));
        if (to_do & CHECK_FIELDS)
            TRY(check_fields(&view, &pending->row));
        if (to_do & ADD_WORK)
            TRY(add_work(simulation, &view, &pending->row));
        if (to_do & SUM_PARTICLES)
            TRY(sum_particles(simulation, &view, &pending->row));
        view.measured = &pending->row;
        if (to_do & WRITE)
            TRY(outputs_write(simulation->outputs, &view));
    }
    return STATUS_OK;
}

/* The half that the steps before those of this one's half have. */
static uint32_t earlier_half(const struct simulation *simulation)
{
    return slot_now(simulation) < HALF ? HALF : 0;
}

static enum status finish_all(struct simulation *simulation)
{
    TRY(external_require_finite(simulation->external, simulation->step));
    TRY(finish_slots(simulation, earlier_half(simulation), HALF));
    return finish_slots(simulation, HALF - earlier_half(simulation), HALF);
}

/* Reading by the side queue waits for no more than what the main queue had when the later half was begun. */
static enum status finish_earlier_half(struct simulation *simulation)
{
    const uint32_t first = earlier_half(simulation);
    TRY(device_use(simulation->device, QUEUE_SIDE));
    enum status status = read_slots(simulation, first, HALF);
    if (simulation->step >= HALF)
        TRY_IF_OK(external_require_finite(simulation->external, simulation->step - HALF));
    TRY(device_use(simulation->device, QUEUE_MAIN));
    TRY(status);
    TRY(finish_slots(simulation, first, HALF));
    return device_fork(simulation->device);
}

/* ---- of a step ---- */

enum status sums_measure_fields(struct simulation *simulation)
{
    const bool is_due = simulation->needs != 0, is_driven = simulation->config->fields.drive_count > 0;
    const bool waits = !simulation->reads_late || simulation->needs & OUTPUT_NEEDS_CHECK ||
                       simulation->config->time.check_every == 1;
    const uint32_t slot = simulation->stepper.slot = slot_now(simulation);
    struct pending_sums *pending = &simulation->pending[slot];
    *pending = (struct pending_sums){.row = {.step = simulation->step}};
    if (!is_due && !is_driven)
        return STATUS_OK;
    pending->to_do = READ_FIELDS | (is_due ? CHECK_FIELDS : 0u) | (is_driven ? ADD_DRIVE_WORK : 0u);
    TRY(energy_measure(simulation->energy, &simulation->fields, slot));
    if (is_driven || simulation->needs & OUTPUT_NEEDS_MEASURED)
        TRY(field_solver_read_modes(simulation->field_solver, pending->row.modes, pending->row.fields));
    return is_due && waits ? finish_all(simulation) : STATUS_OK;
}

enum status sums_write(struct simulation *simulation)
{
    struct pending_sums *pending = &simulation->pending[slot_now(simulation)];
    const bool is_last = simulation->step >= simulation->config->time.steps;
    const bool ends_half = (simulation->step + 1) % HALF == 0;
    if (simulation->needs & OUTPUT_NEEDS_MEASURED)
        pending->to_do |= READ_PARTICLES | SUM_PARTICLES;
    if (simulation->config->output.history.work)
        pending->to_do |= READ_PARTICLES | ADD_WORK;
    if (simulation->needs & OUTPUT_NEEDS_NODES)
        pending->to_do |= READ_NODES;
    if (simulation->needs & OUTPUT_AFTER)
        pending->to_do |= WRITE;
    if (is_last || (!simulation->reads_late && (simulation->needs != 0 || ends_half)))
        return finish_all(simulation);
    return ends_half && simulation->reads_late ? finish_earlier_half(simulation) : STATUS_OK;
}
