/* Field solver: the two decompositions over ranks, and which is taken. */
#include "field/field_solver.h"

#include "field/filter.h"
#include "field/poisson.h"
#include "parallel/gather.h"

#include <string.h>

struct field_solver {
    struct device *device; /* not owned */
    struct communicator communicator;
    struct slab slab;
    enum precision precision;
    struct deposit_config deposit; /* its filter */
    bool is_shared;                /* slabs */

    const struct solver_kind *kind;
    void *own_solver;      /* of the kind */
    struct filter *filter; /* NULL: there is none, or the solver filters itself */
    struct gather *gather; /* NULL unless ranks replicate the solve: the local grid is the solver's */
    struct fields box;     /* of all rows; with a gather */
    struct followed_modes followed;

    /* What the history follows, then those of the drives; whether it follows them in E or B, too. */
    bool has_fields;
    uint32_t wanted_count;
    int32_t wanted[FIELD_MOST_MODES][2];
};

static const struct solver_kind *const solver_table[] = {
    [SOLVER_ELECTROSTATIC] = &electrostatic_solver, [SOLVER_ELECTROMAGNETIC] = &electromagnetic_solver};

/* ---- creation ---- */

static void choose_modes(struct field_solver *solver, const struct config *config)
{
    const struct history_config *history = &config->output.history;
    solver->has_fields =
        fields_hold(&history->mode_fields, FIELD_E) || fields_hold(&history->mode_fields, FIELD_B);
    solver->wanted_count = history->mode_count + config->fields.drive_count;
    memcpy(solver->wanted, history->modes, history->mode_count * sizeof *history->modes);
    for (uint32_t n = 0; n < config->fields.drive_count; n++) {
        const struct drive_config *drive = &config->fields.drive[n];
        solver->wanted[history->mode_count + n][drive->axis] = (int32_t)drive->mode;
    }
}

/* Components that the solver needs deposited, one behind the other in fields->sources. */
static uint32_t source_count(const struct field_solver *solver, enum solver_name name)
{
    return (uint32_t)__builtin_popcount(field_component_bits(name, solver->kind->sources));
}

static enum status create_solver(struct field_solver *solver, const struct rank_place *place,
                                 const struct config *config)
{
    const struct grid *box = &solver->slab.box;
    const struct sharing sharing = {place, GATHER_AUTO, FFT_PART_BYTES, &solver->deposit};
    if (place->communicator->size > 1 && !solver->is_shared) {
        TRY(fields_create(solver->device, box, solver->precision, config->fields.solver, &solver->box));
        TRY(gather_create(place, source_count(solver, config->fields.solver), GATHER_AUTO, &solver->gather));
    }
    if (solver->deposit.filter_passes > 0 && !solver->is_shared)
        TRY(filter_create(solver->device, box, solver->precision, NULL, &solver->filter));
    solver->followed = (struct followed_modes){.count = solver->is_shared ? 0 : solver->wanted_count,
                                               .wanted = (const int32_t(*)[2])solver->wanted,
                                               .gradient = config->fields.gradient,
                                               .has_fields = solver->has_fields};
    return solver->kind->create(solver->device, box, config, solver->is_shared ? &sharing : NULL,
                                &solver->followed, &solver->own_solver);
}

static enum status create(const struct rank_place *place, const struct config *config,
                          enum decomposition_kind decomposition, struct field_solver **solver)
{
    TRY(DEVICE_NEW(place->device, *solver));
    **solver = (struct field_solver){
        .device = place->device,
        .communicator = *place->communicator,
        .kind = solver_table[config->fields.solver],
        .slab = *place->slab,
        .precision = place->precision,
        .deposit = config->deposit,
        .is_shared = decomposition == DECOMPOSITION_SLABS && place->communicator->size > 1,
    };
    choose_modes(*solver, config);
    return create_solver(*solver, place, config);
}

const char *field_solver_name(const struct field_solver *solver)
{
    return solver->kind->transforms(solver->own_solver);
}

/* ---- a solve ---- */

static enum status filter(struct field_solver *solver, struct buffer *density)
{
    return solver->filter ? filter_apply(solver->filter, &solver->deposit, density) : STATUS_OK;
}

enum status field_solver_solve(struct field_solver *solver, struct fields *fields, uint64_t n)
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

struct waves *field_solver_waves(const struct field_solver *solver)
{
    return solver->kind->waves ? solver->kind->waves(solver->own_solver) : NULL;
}

enum status field_solver_potential(struct field_solver *solver, struct fields *fields)
{
    if (!solver->gather)
        return solver->kind->potential(solver->own_solver, fields);
    TRY(solver->kind->potential(solver->own_solver, &solver->box));
    return gather_keep(solver->gather, field_component_bits(fields->solver, 1u << FIELD_PHI), solver->box.all,
                       solver->box.stride, fields->all, fields->stride);
}

enum status field_solver_sum(struct field_solver *solver, struct buffer *density)
{
    if (solver->is_shared)
        return solver->kind->sum(solver->own_solver, density);
    /* The ranks have kept their rows of the box's E; phi may still be asked for, which needs its rho. */
    struct buffer *const sum = solver->gather ? field_component(&solver->box, FIELD_E, 0) : density;
    if (solver->gather)
        TRY(gather_sum(solver->gather, 1, density, 0, sum, 0));
    TRY(filter(solver, sum));
    return solver->gather ? gather_keep(solver->gather, 1, sum, 0, density, 0) : STATUS_OK;
}

const struct followed_modes *field_solver_modes(const struct field_solver *solver)
{
    return &solver->followed;
}

/* The parts of a mode in the rank's columns; of another one they stay. */
static enum status read_parts(const struct field_solver *solver, const int32_t wanted[2], double (*parts)[2])
{
    const struct followed_modes *followed = &solver->followed;
    const struct grid *box = &solver->slab.box;
    const int ranks = solver->communicator.size, rank = solver->communicator.rank;
    const uint32_t first = fft_first_column(box, ranks, rank), end = fft_first_column(box, ranks, rank + 1);
    const struct stored_mode stored = poisson_stored_mode(box, wanted);
    const size_t place = 2 * ((size_t)stored.m * fft_columns(box, ranks, rank) + stored.n - first);
    if (stored.n < first || stored.n >= end)
        return STATUS_OK;
    for (uint32_t c = 0; c + 1 < followed->parts; c++)
        TRY(buffer_read_reals(followed->waves->modes, solver->precision, c * followed->waves->stride + place,
                              2, parts[1 + c]));
    return buffer_read_reals(followed->modes, solver->precision, place, 2, parts[0]);
}

/* Each rank reads the modes in its columns; the others have 0 for them, so that the sum has all. */
enum status field_solver_read_modes(const struct field_solver *solver, double (*modes)[2],
                                    mode_of_fields *fields)
{
    const size_t count = solver->wanted_count;
    enum status status = STATUS_OK;
    if (!solver->is_shared)
        return STATUS_OK;
    for (uint32_t n = 0; n < count; n++) {
        double parts[1 + WAVE_COMPONENTS][2] = {{0}};
        TRY_IF_OK(read_parts(solver, solver->wanted[n], parts));
        poisson_read_mode(&solver->followed, n, (const double(*)[2])parts, modes[n], fields[n]);
    }
    TRY(communicator_agree(&solver->communicator, status));
    communicator_sum(&solver->communicator, 2 * count, modes[0]);
    if (solver->has_fields)
        communicator_sum(&solver->communicator, 2 * WAVE_COMPONENTS * count, fields[0][0]);
    return STATUS_OK;
}

/* ---- which ---- */

enum decomposition_kind field_solver_decomposition(bool on_cpus, int ranks, uint64_t nodes)
{
    return on_cpus && ranks > 1 && nodes >= FIELD_LARGE_GRID ? DECOMPOSITION_SLABS : DECOMPOSITION_REPLICATED;
}

enum status field_solver_create(const struct rank_place *place, const struct config *config,
                                enum decomposition_kind *decomposition, struct field_solver **solver)
{
    double others = !device_info(place->device)->is_cpu; /* ranks with other devices */
    if (*decomposition == DECOMPOSITION_AUTO) {
        communicator_sum(place->communicator, 1, &others);
        *decomposition =
            field_solver_decomposition(others == 0, place->communicator->size, grid_cells(&place->slab->box));
    }
    return create(place, config, *decomposition, solver);
}
