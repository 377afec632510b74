/* Finite: the first particle, then the first node, that is not a number. */
#include "output/finite.h"

#include <math.h>

enum { PIECE = 4096, MOST_COMPONENTS = 2, WHERE = 64 };

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

/* The cell, of the local grid, of a particle: the last whose particles start no later. */
static enum status find_cell(const struct view *view, const struct particles *particles, uint32_t index,
                             uint32_t *cell)
{
    uint32_t low = 0, high = slab_own_cells(view->slab) - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        uint32_t start = 0;
        TRY(buffer_read(particles->cell_offsets, middle * sizeof start, sizeof start, &start));
        if (start <= index)
            low = middle;
        else
            high = middle - 1;
    }
    *cell = low;
    return STATUS_OK;
}

static enum status fail_at_particle(const struct view *view, const struct particles *particles,
                                    enum attribute attribute, uint32_t index, const double *values)
{
    char text[CONFIG_NAME_LENGTH + 160];
    const uint32_t ny = view->slab->local.ny;
    uint32_t cell = 0;
    TRY(find_cell(view, particles, index, &cell));
    int used =
        snprintf(text, sizeof text, "the %s (%g", attribute_table[attribute].name, printable(values[0]));
    for (uint32_t n = 1; n < attribute_table[attribute].components; n++)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %g", printable(values[n]));
    snprintf(text + used, sizeof text - (size_t)used, ") of a particle of species %s in cell (%u, %u)",
             particles->species->name, slab_global_row(view->slab, cell / ny), cell % ny);
    return fail(view, text, "is not a finite number");
}

static enum status search_attribute(const struct view *view, const struct particles *particles,
                                    enum attribute attribute)
{
    const uint32_t components = attribute_table[attribute].components;
    double values[MOST_COMPONENTS * PIECE] = {0};
    for (uint32_t first = 0; first < particles->count; first += PIECE) {
        const uint32_t left = particles->count - first, count = left < PIECE ? left : PIECE;
        TRY(particles_read(particles, attribute, first, count, values));
        for (uint32_t n = 0; n < components * count; n++)
            if (!isfinite(values[n]))
                return fail_at_particle(view, particles, attribute, first + n / components,
                                        &values[n / components * components]);
    }
    return STATUS_OK;
}

/* Velocities before offsets, which follow from them. */
static enum status search_particles(const struct view *view)
{
    for (uint32_t s = 0; s < view->config->species_count; s++)
        for (enum attribute a = ATTRIBUTES; a-- > 0;)
            if (attribute_table[a].is_real)
                TRY(search_attribute(view, &view->particles[s], a));
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
