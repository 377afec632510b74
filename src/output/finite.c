/* Finite: the first particle, then the first node, that is not a number. */
#include "output/finite.h"

#include <math.h>

enum { PIECE = 4096, WHERE = 64 };

/* `what`, "the field Ex, nan, at node (3, 4)", and what is wrong with it. */
static enum status fail(const struct view *view, const char *what, const char *wrong)
{
    return status_fail(
        STATUS_FAILED,
        "step %llu (t = %g): %s %s; the run stops here. Try a smaller time.step (omega_p dt below 2) or "
        "smaller charges and velocities",
        (unsigned long long)view->step, view->time, what, wrong);
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

static enum status find_cell(const struct view *view, const struct particles *particles, uint32_t index,
                             uint32_t *cell)
{
    if (particles->key)
        return buffer_read(particles->key, index * sizeof *cell, sizeof *cell, cell);
    return find_by_offsets(particles->cell_offsets, grid_cells(&view->slab->local), index, cell);
}

/* A particle that went wrong may stand in the lost row, or nowhere. */
static bool is_in_box(const struct slab *slab, uint32_t cell)
{
    return cell < grid_cells(&slab->local) &&
           (slab_is_whole(slab) || cell / slab->local.ny != slab_lost_row(slab));
}

static enum status fail_at_particle(const struct view *view, const struct particles *particles,
                                    uint32_t index, const char *what, const double *pair)
{
    char text[CONFIG_NAME_LENGTH + 128 + WHERE], where[WHERE] = "in no cell of this rank";
    const uint32_t ny = view->slab->local.ny;
    uint32_t cell = 0;
    TRY(find_cell(view, particles, index, &cell));
    if (is_in_box(view->slab, cell))
        snprintf(where, sizeof where, "in cell (%u, %u)", slab_global_row(view->slab, cell / ny), cell % ny);
    snprintf(text, sizeof text, "the %s (%g, %g) of a particle of species %s %s", what, printable(pair[0]),
             printable(pair[1]), particles->species->name, where);
    return fail(view, text, "is not a finite number");
}

typedef enum status read_pairs(const struct particles *particles, enum precision precision, size_t first,
                               size_t count, double *pairs);

static enum status search_pairs(const struct view *view, const struct particles *particles, read_pairs *read,
                                const char *what)
{
    double pairs[2 * PIECE];
    for (uint32_t first = 0; first < particles->count; first += PIECE) {
        const uint32_t left = particles->count - first, count = left < PIECE ? left : PIECE;
        TRY(read(particles, view->config->precision, first, count, pairs));
        for (uint32_t n = 0; n < count; n++)
            if (!isfinite(pairs[2 * n]) || !isfinite(pairs[2 * n + 1]))
                return fail_at_particle(view, particles, first + n, what, &pairs[2 * (size_t)n]);
    }
    return STATUS_OK;
}

/* Velocities first: an offset follows from them. */
static enum status search_list(const struct view *view, const struct particles *particles)
{
    TRY(search_pairs(view, particles, particles_read_velocities, "velocity"));
    return search_pairs(view, particles, particles_read_offsets, "offset");
}

static enum status search_particles(const struct view *view)
{
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        TRY(search_list(view, &view->particles[s]));
        if (view->guests)
            TRY(search_list(view, &view->guests[s]));
    }
    return STATUS_OK;
}

/* ---- fields ---- */

static enum status search_nodes(const struct view *view, const struct buffer *nodes, const char *what)
{
    const uint32_t own = slab_own_cells(view->slab), ny = view->slab->local.ny;
    double values[PIECE];
    for (uint32_t first = 0; first < own; first += PIECE) {
        const uint32_t count = own - first < PIECE ? own - first : PIECE;
        TRY(buffer_read_reals(nodes, view->config->precision, first, count, values));
        for (uint32_t n = 0; n < count; n++) {
            char text[2 * WHERE];
            if (isfinite(values[n]))
                continue;
            snprintf(text, sizeof text, "%s, %g, at node (%u, %u)", what, printable(values[n]),
                     slab_global_row(view->slab, (first + n) / ny), (first + n) % ny);
            return fail(view, text, "is not a finite number");
        }
    }
    return STATUS_OK;
}

static enum status search_fields(const struct view *view)
{
    TRY(search_nodes(view, view->fields->rho, "the charge density"));
    TRY(search_nodes(view, view->fields->ex, "the field Ex"));
    return search_nodes(view, view->fields->ey, "the field Ey");
}

enum status finite_find(const struct view *view)
{
    TRY(communicator_agree(view->communicator, search_particles(view)));
    return communicator_agree(view->communicator, search_fields(view));
}

enum status finite_require(const struct view *view, const char *what, double value)
{
    char text[WHERE];
    if (isfinite(value))
        return STATUS_OK;
    TRY(finite_find(view));
    snprintf(text, sizeof text, "the %s", what);
    return communicator_agree(view->communicator,
                              fail(view, text, "is not a finite number, though all numbers in it are"));
}
