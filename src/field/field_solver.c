/* Field solver: the two ways over ranks, and which is taken. */
#include "field/field_solver.h"

#include "field/filter.h"
#include "field/slab_solver.h"
#include "parallel/gather.h"
#include "parallel/halo.h"

#include <math.h>
#include <string.h>

enum { PIECES = 2 };

/* Bytes of an array on the local grid: rows that the particles reach, those from the own ones up and those
 * below. */
struct piece {
    size_t begin, bytes;
};

struct field_solver {
    struct device *device; /* not owned */
    struct slab slab;
    enum precision precision;
    uint32_t filter_passes;

    const struct solver_kind *kind;

    /* Replicated, and on one rank. */
    struct filter *filter;
    void *own_solver;      /* of the kind */
    struct gather *gather; /* NULL on one rank, where the local grid is the box */
    struct fields box;     /* of all rows; with a gather */
    struct followed_modes followed;

    /* What the history follows, then those of the drives. */
    uint32_t wanted_count;
    int32_t wanted[FIELD_MOST_MODES][2];

    /* Slabs. */
    struct slab_solver *slabs;
    struct halo *halo;
    double *own[FIELD_COMPONENTS]; /* of the own rows, on the host */
    void *local[FIELD_COMPONENTS]; /* of the local grid, as the device has them, in memory that it reaches */
    struct piece pieces[PIECES];
};

static const struct solver_kind *const solver_table[] = {
    [SOLVER_ELECTROSTATIC] = &electrostatic_solver, [SOLVER_ELECTROMAGNETIC] = &electromagnetic_solver};

/* ---- creation ---- */

static void choose_modes(struct field_solver *solver, const struct config *config)
{
    const struct history_config *history = &config->output.history;
    solver->wanted_count = history->mode_count + config->fields.drive_count;
    memcpy(solver->wanted, history->modes, history->mode_count * sizeof *history->modes);
    for (uint32_t n = 0; n < config->fields.drive_count; n++) {
        const struct drive_config *drive = &config->fields.drive[n];
        solver->wanted[history->mode_count + n][drive->axis] = (int32_t)drive->mode;
    }
}

/* Components of what the solver needs deposited, one behind the other in fields->sources. */
static uint32_t source_count(const struct field_solver *solver, enum solver_name name)
{
    return (uint32_t)__builtin_popcount(field_component_bits(name, solver->kind->sources));
}

static enum status create_replicated(struct field_solver *solver, const struct rank_place *place,
                                     const struct config *config)
{
    const struct grid *box = &solver->slab.box;
    if (place->communicator->size > 1) {
        TRY(fields_create(solver->device, box, solver->precision, config->fields.solver, &solver->box));
        TRY(gather_create(place, source_count(solver, config->fields.solver), GATHER_AUTO, &solver->gather));
    }
    if (solver->filter_passes > 0)
        TRY(filter_create(solver->device, box, solver->precision, NULL, &solver->filter));
    solver->followed =
        (struct followed_modes){.count = solver->wanted_count, .wanted = (const int32_t(*)[2])solver->wanted};
    return solver->kind->create(solver->device, box, config, &solver->followed, &solver->own_solver);
}

/* The number of a field's first component with the solver that the slabs are for. */
static uint32_t place_of(enum field field)
{
    return field_first(SOLVER_ELECTROSTATIC, field);
}

static enum status create_slabs(struct field_solver *solver, const struct rank_place *place,
                                const struct config *config)
{
    struct device *device = solver->device;
    const struct slab *slab = &solver->slab;
    const size_t row_bytes = slab->box.ny * precision_bytes(solver->precision);
    const uint32_t upward = ghost_upward_rows(slab), below = ghost_reached_rows(slab) - upward;
    solver->pieces[0] = (struct piece){0, upward * row_bytes};
    solver->pieces[1] = (struct piece){(slab->local.nx - below) * row_bytes, below * row_bytes};
    for (uint32_t n = 0; n < field_first(SOLVER_ELECTROSTATIC, FIELDS); n++) {
        TRY(DEVICE_NEW_ARRAY(device, solver->own[n], slab_own_cells(slab)));
        TRY(host_memory_create(device, slab->local.nx * row_bytes, &solver->local[n]));
    }
    TRY(halo_create(place, &solver->halo));
    return slab_solver_create(place, config->fields.gradient, config->deposit.filter_passes, &solver->slabs);
}

static enum status create(const struct rank_place *place, const struct config *config,
                          enum decomposition_kind decomposition, struct field_solver **solver)
{
    TRY(DEVICE_NEW(place->device, *solver));
    **solver = (struct field_solver){
        .device = place->device,
        .kind = solver_table[config->fields.solver],
        .slab = *place->slab,
        .precision = place->precision,
        .filter_passes = config->deposit.filter_passes,
    };
    choose_modes(*solver, config);
    return decomposition == DECOMPOSITION_SLABS ? create_slabs(*solver, place, config)
                                                : create_replicated(*solver, place, config);
}

const char *field_solver_name(const struct field_solver *solver)
{
    return solver->slabs ? "FFTW-MPI" : solver->kind->transforms(solver->own_solver);
}

/* ---- replicated ---- */

static struct buffer *rho_of(const struct fields *fields)
{
    return field_component(fields, FIELD_RHO, 0);
}

static enum status filter(struct field_solver *solver, struct buffer *density)
{
    return solver->filter_passes > 0 ? filter_apply(solver->filter, solver->filter_passes, density)
                                     : STATUS_OK;
}

static enum status solve_replicated(struct field_solver *solver, struct fields *fields, uint64_t n)
{
    struct fields *box = solver->gather ? &solver->box : fields;
    const unsigned solved =
        field_component_bits(fields->solver, solver->kind->sources | solver->kind->provides);
    const unsigned sources = field_component_bits(fields->solver, solver->kind->sources);
    if (solver->gather)
        TRY(gather_sum(solver->gather, source_count(solver, fields->solver), fields->sources, fields->stride,
                       box->sources, box->stride));
    for (uint32_t c = 0; c < FIELD_COMPONENTS; c++)
        if (sources >> c & 1)
            TRY(filter(solver, box->component[c]));
    TRY(solver->kind->solve(solver->own_solver, box, n));
    return solver->gather
               ? gather_keep(solver->gather, solved, box->all, box->stride, fields->all, fields->stride)
               : STATUS_OK;
}

/* ---- slabs ---- */

static void to_doubles(enum precision precision, size_t count, const void *reals, double *doubles)
{
    if (precision == PRECISION_DOUBLE)
        memcpy(doubles, reals, count * sizeof *doubles);
    else
        for (size_t n = 0; n < count; n++)
            doubles[n] = (double)((const float *)reals)[n];
}

static void from_doubles(enum precision precision, size_t count, const double *doubles, void *reals)
{
    if (precision == PRECISION_DOUBLE)
        memcpy(reals, doubles, count * sizeof *doubles);
    else
        for (size_t n = 0; n < count; n++)
            ((float *)reals)[n] = (float)doubles[n];
}

/* The host's rho <- a density of the own rows, with what the neighbours deposited there. */
static enum status sum_rows(struct field_solver *solver, const struct buffer *density)
{
    char *const local = solver->local[place_of(FIELD_RHO)];
    TRY(device_finish(solver->device)); /* so that the deposit is not timed as waiting for rows */
    const double start = timer_now();
    for (int n = 0; n < PIECES; n++) {
        const struct piece piece = solver->pieces[n];
        TRY(host_memory_read(density, piece.begin, piece.bytes, local + piece.begin, STAGE_OTHER));
    }
    TRY(device_finish(solver->device));
    halo_add(solver->halo, local);
    to_doubles(solver->precision, slab_own_cells(&solver->slab), local, solver->own[place_of(FIELD_RHO)]);
    device_add_time(solver->device, STAGE_HALO, timer_now() - start,
                    solver->pieces[0].bytes + solver->pieces[1].bytes);
    return STATUS_OK;
}

/* The own rows of a set of fields, and those beside from their owners, to the device. Only enqueues: the
 * device must have taken what was sent before. */
static enum status send_rows(struct field_solver *solver, unsigned fields, struct buffer *const components[])
{
    const unsigned which = field_component_bits(SOLVER_ELECTROSTATIC, fields);
    const double start = timer_now();
    void *sent[FIELD_COMPONENTS];
    size_t count = 0;
    for (unsigned c = 0; c < FIELD_COMPONENTS; c++)
        if (which >> c & 1) {
            from_doubles(solver->precision, slab_own_cells(&solver->slab), solver->own[c], solver->local[c]);
            sent[count++] = solver->local[c];
        }
    halo_fill(solver->halo, count, sent);
    device_add_time(solver->device, STAGE_HALO, timer_now() - start, 0);
    for (unsigned c = 0; c < FIELD_COMPONENTS; c++)
        for (int n = 0; n < PIECES && (which >> c & 1); n++) {
            const struct piece piece = solver->pieces[n];
            const char *const local = solver->local[c];
            TRY(host_memory_write(components[c], piece.begin, piece.bytes, local + piece.begin, STAGE_HALO));
        }
    return STATUS_OK;
}

static enum status solve_slabs(struct field_solver *solver, struct fields *fields)
{
    double **own = solver->own;
    TRY(sum_rows(solver, rho_of(fields)));
    const double start = timer_now();
    slab_solver_solve(solver->slabs, own[place_of(FIELD_RHO)], own[place_of(FIELD_E)],
                      own[place_of(FIELD_E) + 1]);
    device_add_time(solver->device, STAGE_FIELD, timer_now() - start,
                    6 * sizeof(double) * (uint64_t)slab_own_cells(&solver->slab));
    return send_rows(solver, solver->kind->sources | solver->kind->provides, fields->component);
}

/* ---- either ---- */

enum status field_solver_solve(struct field_solver *solver, struct fields *fields, uint64_t n)
{
    return solver->slabs ? solve_slabs(solver, fields) : solve_replicated(solver, fields, n);
}

struct waves *field_solver_waves(const struct field_solver *solver)
{
    return solver->kind->waves ? solver->kind->waves(solver->own_solver) : NULL;
}

enum status field_solver_potential(struct field_solver *solver, struct fields *fields)
{
    if (solver->slabs) {
        TRY(device_finish(solver->device)); /* it has taken the rows of the solve */
        slab_solver_potential(solver->slabs, solver->own[place_of(FIELD_PHI)]);
        return send_rows(solver, 1u << FIELD_PHI, fields->component);
    }
    if (!solver->gather)
        return solver->kind->potential(solver->own_solver, fields);
    TRY(solver->kind->potential(solver->own_solver, &solver->box));
    return gather_keep(solver->gather, field_component_bits(fields->solver, 1u << FIELD_PHI), solver->box.all,
                       solver->box.stride, fields->all, fields->stride);
}

static enum status sum_slabs(struct field_solver *solver, struct buffer *density)
{
    struct buffer *components[FIELD_COMPONENTS] = {NULL};
    components[place_of(FIELD_RHO)] = density;
    TRY(sum_rows(solver, density));
    slab_solver_filter(solver->slabs, solver->own[place_of(FIELD_RHO)]);
    return send_rows(solver, 1u << FIELD_RHO, components);
}

enum status field_solver_sum(struct field_solver *solver, struct buffer *density)
{
    if (solver->slabs)
        return sum_slabs(solver, density);
    struct buffer *const sum = solver->gather ? rho_of(&solver->box) : density;
    if (solver->gather)
        TRY(gather_sum(solver->gather, 1, density, 0, sum, 0));
    TRY(filter(solver, sum));
    return solver->gather ? gather_keep(solver->gather, 1, sum, 0, density, 0) : STATUS_OK;
}

const struct followed_modes *field_solver_modes(const struct field_solver *solver)
{
    return &solver->followed;
}

void field_solver_read_modes(const struct field_solver *solver, double *modes)
{
    if (solver->slabs)
        slab_solver_read_modes(solver->slabs, solver->wanted_count, (const int32_t(*)[2])solver->wanted,
                               modes);
}

/* ---- which ---- */

/* Seconds that the slowest rank takes for a solve: the least of a few, after one that is not counted. A rank
 * that fails alone leaves the others waiting in a solve, where they cannot agree on anything. */
static enum status measure(const struct rank_place *place, struct field_solver *solver, double *seconds)
{
    enum { REPEATS = 3 };
    struct fields fields;
    TRY(fields_create(place->device, &place->slab->local, place->precision, SOLVER_ELECTROSTATIC, &fields));
    TRY(buffer_fill(rho_of(&fields), 0));
    *seconds = INFINITY;
    for (int n = 0; n <= REPEATS; n++) {
        const double start = timer_now();
        TRY(field_solver_solve(solver, &fields, 0));
        TRY(device_finish(place->device));
        double taken = timer_now() - start;
        communicator_max(place->communicator, 1, &taken);
        if (n > 0)
            *seconds = fmin(*seconds, taken);
    }
    return STATUS_OK;
}

/* Both ways, each with a handle of its own, until one is closed. Slabs only where they clearly win: a choice
 * by a hair would differ from run to run. */
static enum status choose(const struct rank_place *place, const struct config *config,
                          enum decomposition_kind *decomposition, struct field_solver **solver)
{
    static const enum decomposition_kind kinds[2] = {DECOMPOSITION_REPLICATED, DECOMPOSITION_SLABS};
    const double clearly = 0.8;
    struct field_solver *solvers[2];
    struct device *handles[2];
    double times[2];
    for (int n = 0; n < 2; n++) {
        struct rank_place own = *place, measured = *place;
        TRY(device_branch(place->device, &handles[n]));
        TRY(device_branch(place->device, &measured.device));
        own.device = handles[n];
        TRY(create(&own, config, kinds[n], &solvers[n]));
        TRY(measure(&measured, solvers[n], &times[n]));
        device_close(&measured.device);
    }
    const int better = times[1] < clearly * times[0];
    device_close(&handles[1 - better]);
    *solver = solvers[better];
    *decomposition = kinds[better];
    return STATUS_OK;
}

enum status field_solver_create(const struct rank_place *place, const struct config *config,
                                enum decomposition_kind *decomposition, struct field_solver **solver)
{
    const uint32_t nodes = grid_cells(&place->slab->box);
    const bool is_large = place->communicator->size > 1 && nodes > FIELD_SMALL_GRID &&
                          config->fields.solver == SOLVER_ELECTROSTATIC;
    if (*decomposition == DECOMPOSITION_AUTO && is_large)
        return choose(place, config, decomposition, solver);
    if (*decomposition == DECOMPOSITION_AUTO)
        *decomposition = DECOMPOSITION_REPLICATED;
    return create(place, config, *decomposition, solver);
}
