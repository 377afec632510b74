/* Finite: the first particle, then the first node, that is not a number. */
#include "output/finite.h"

#include <math.h>

enum { PIECE = 4096, WHERE = 64 };

/* `what` with its number, "the field Ex"; `where` it is, "at node (3, 4)". */
static enum status fail(const struct finite_state *state, const char *what, const char *where)
{
    return status_fail(
        STATUS_FAILED,
        "step %llu (t = %g): %s %s is not a finite number; the run stops here. Try a smaller time.step "
        "(omega_p dt below 2) or smaller charges and velocities",
        (unsigned long long)state->step, state->time, what, where);
}

/* The NaN that x86 comes to has a sign, and is printed as "-nan". */
static double printable(double value)
{
    return isnan(value) ? (double)NAN : value;
}

/* ---- particles ---- */

/* The cell, of the local grid, of a sorted list's particle: the last whose particles start no later. */
static enum status find_by_offsets(const struct buffer *cell_offsets, uint32_t cells, uint32_t index,
                                   uint32_t *cell)
{
    uint32_t low = 0, high = cells;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        uint32_t start = 0;
        TRY(buffer_read(cell_offsets, middle * sizeof start, sizeof start, &start));
        if (start <= index)
            low = middle;
        else
            high = middle - 1;
    }
    *cell = low;
    return STATUS_OK;
}

static enum status find_cell(const struct finite_state *state, const struct particles *particles,
                             uint32_t index, uint32_t *cell)
{
    if (particles->key)
        return buffer_read(particles->key, index * sizeof *cell, sizeof *cell, cell);
    return find_by_offsets(particles->cell_offsets, grid_cells(&state->slab->local), index, cell);
}

/* A particle that went wrong may stand in the lost row, or nowhere. */
static bool is_in_box(const struct slab *slab, uint32_t cell)
{
    return cell < grid_cells(&slab->local) &&
           (slab_is_whole(slab) || cell / slab->local.ny != slab_lost_row(slab));
}

static enum status fail_at_particle(const struct finite_state *state, const struct particles *particles,
                                    uint32_t index, const char *what, const double *pair)
{
    char text[CONFIG_NAME_LENGTH + 128], where[WHERE] = "in no cell of this rank";
    const uint32_t ny = state->slab->local.ny;
    uint32_t cell = 0;
    TRY(find_cell(state, particles, index, &cell));
    if (is_in_box(state->slab, cell))
        snprintf(where, sizeof where, "in cell (%u, %u)", slab_global_row(state->slab, cell / ny), cell % ny);
    snprintf(text, sizeof text, "the %s (%g, %g) of a particle of species %s", what, printable(pair[0]),
             printable(pair[1]), particles->species->name);
    return fail(state, text, where);
}

typedef enum status read_pairs(const struct particles *particles, enum precision precision, size_t first,
                               size_t count, double *pairs);

static enum status search_pairs(const struct finite_state *state, const struct particles *particles,
                                read_pairs *read, const char *what)
{
    double pairs[2 * PIECE];
    for (uint32_t first = 0; first < particles->count; first += PIECE) {
        const uint32_t left = particles->count - first, count = left < PIECE ? left : PIECE;
        TRY(read(particles, state->precision, first, count, pairs));
        for (uint32_t n = 0; n < count; n++)
            if (!isfinite(pairs[2 * n]) || !isfinite(pairs[2 * n + 1]))
                return fail_at_particle(state, particles, first + n, what, &pairs[2 * (size_t)n]);
    }
    return STATUS_OK;
}

/* Velocities first: an offset follows from them. */
static enum status search_list(const struct finite_state *state, const struct particles *particles)
{
    TRY(search_pairs(state, particles, particles_read_velocities, "velocity"));
    return search_pairs(state, particles, particles_read_offsets, "offset");
}

static enum status search_particles(const struct finite_state *state)
{
    for (uint32_t s = 0; s < state->species_count; s++) {
        TRY(search_list(state, &state->particles[s]));
        if (state->guests)
            TRY(search_list(state, &state->guests[s]));
    }
    return STATUS_OK;
}

/* ---- fields ---- */

static enum status search_nodes(const struct finite_state *state, const struct buffer *nodes,
                                const char *what)
{
    const uint32_t own = slab_own_cells(state->slab), ny = state->slab->local.ny;
    double values[PIECE];
    for (uint32_t first = 0; first < own; first += PIECE) {
        const uint32_t count = own - first < PIECE ? own - first : PIECE;
        TRY(buffer_read_reals(nodes, state->precision, first, count, values));
        for (uint32_t n = 0; n < count; n++) {
            char text[WHERE], where[WHERE];
            if (isfinite(values[n]))
                continue;
            snprintf(text, sizeof text, "%s, %g,", what, printable(values[n]));
            snprintf(where, sizeof where, "at node (%u, %u)", slab_global_row(state->slab, (first + n) / ny),
                     (first + n) % ny);
            return fail(state, text, where);
        }
    }
    return STATUS_OK;
}

static enum status search_fields(const struct finite_state *state)
{
    TRY(search_nodes(state, state->fields->rho, "the charge density"));
    TRY(search_nodes(state, state->fields->ex, "the field Ex"));
    return search_nodes(state, state->fields->ey, "the field Ey");
}

enum status finite_find(const struct finite_state *state)
{
    TRY(communicator_agree(state->communicator, search_particles(state)));
    return communicator_agree(state->communicator, search_fields(state));
}
